package emit

import (
	"fmt"

	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/partition"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// apply emits a function that is not the host's.
func (r *rows) apply(m *harmony.Map) expr.Value {
	doms := r.Module.Options.Domains
	if t, at, ok := doms.Table(m); ok {
		return r.lookup(t, at, r.operand(m.Args[t.String], nil))
	}
	if partition.OfCodes(m) {
		return r.applyToCodes(m)
	}
	args := list.Map(m.Args, func(a harmony.Operand) expr.Value { return r.operand(a, nil) })
	return expr.Apply(r.Block, m.Func, m.Out.Type, args)
}

// lookup reads a table at a code.
func (r *rows) lookup(t *abi.Table, at int, code expr.Value) expr.Value {
	guard := r.Both(r.live, code.Present)
	v := ir.WordValue(r.Function, t.Result, r.EntryOf(shape.TableColumn(at), code.Word, guard))
	v.Present = code.Present
	present := r.Param(abi.TablePresent, "", at)
	if c, ok := present.(*constant.Int); ok && c.X.Sign() == 0 {
		return v
	}
	// Without an array of presence all entries have a value.
	none := r.InFirst(func() value.Value { return r.Cur.NewICmp(enum.IPredEQ, present, i64(0)) })
	bytes := r.InFirst(func() value.Value { return r.Address(present) })
	there := r.LoadIf(types.I8, r.Both(guard, r.Cur.NewXor(none, constant.True)),
		r.At(types.I8, bytes, code.Word))
	has := r.Cur.NewICmp(enum.IPredNE, there, i8(0))
	v.Present = r.Both(v.Present, r.Cur.NewOr(none, has))
	return v
}

// applyToCodes emits a comparison of strings, or the lesser or greater of two.
func (r *rows) applyToCodes(m *harmony.Map) expr.Value {
	doms := r.Module.Options.Domains
	op, args := m.Func.Name, m.Args
	d := doms.Stage(m, 0)
	if args[0].Reg == nil && args[1].Reg != nil {
		if swapped, ok := shape.Mirrored[op]; ok {
			op, args = swapped, []harmony.Operand{args[1], args[0]}
		}
	}
	x := r.operand(args[0], d)
	if op == "min" || op == "max" {
		y := r.operand(args[1], d)
		x.Type, y.Type = scalar.IntType, scalar.IntType
		return expr.Apply(r.Block, m.Func, scalar.IntType, []expr.Value{x, y})
	}
	if args[0].Reg != nil && args[1].Reg == nil && !d.Grows {
		return r.compareWithPlace(op, x, args[1].Const, d)
	}
	return expr.CompareWords(r.Block, op, x, r.operand(args[1], d))
}

// compareWithPlace compares the code of a string with the place of a constant
// among those of a sorted domain. The constant need not be there.
func (r *rows) compareWithPlace(op string, x expr.Value, c scalar.Value,
	d *domain.Domain) expr.Value {
	at := r.Literal(c, d)
	low := func() value.Value { return r.Param(abi.PlaceLow, "", at) }
	high := func() value.Value { return r.Param(abi.PlaceHigh, "", at) }
	v := expr.Value{Type: scalar.BooleanType, Present: x.Present}
	switch op {
	case "lt":
		v.Word = r.Cur.NewICmp(enum.IPredSLT, x.Word, low())
	case "ge":
		v.Word = r.Cur.NewICmp(enum.IPredSGE, x.Word, low())
	case "le":
		v.Word = r.Cur.NewICmp(enum.IPredSLT, x.Word, high())
	case "gt":
		v.Word = r.Cur.NewICmp(enum.IPredSGE, x.Word, high())
	default:
		// The places are equal, or next to each other if the string is there.
		above := r.Cur.NewICmp(enum.IPredSGE, x.Word, low())
		v.Word = r.Cur.NewAnd(above, r.Cur.NewICmp(enum.IPredSLT, x.Word, high()))
		if op == "ne" {
			v.Word = r.Cur.NewXor(v.Word, constant.True)
		}
	}
	return v
}

// host calls the host for a function of the whole tile.
func (w *kernel) host(m *harmony.Map) error {
	if w.Target.GPU {
		return &UnsupportedError{What: fmt.Sprintf("%s has no form for GPUs and is not left to the host", m.Func.Name), Span: w.k.Span}
	}
	doms := w.Module.Options.Domains
	h := abi.Host{Func: m.Func.Name, Result: m.Out.Type}
	if d := doms.Reg(m.Out); d != nil {
		h.Domain = d.ID
	}
	out := &ir.Stored{Type: m.Out.Type, Words: w.Array(types.I64), Present: w.Array(types.I8)}
	frame := []value.Value{w.liveFlags().Ptr, out.Words.Ptr, out.Present.Ptr}
	for i, a := range m.Args {
		h.Args = append(h.Args, a.Type())
		d := doms.Stage(m, i)
		if a.Type().Kind == scalar.String {
			if d == nil {
				return fmt.Errorf("argument %d of %s has no domain", i+1, m.Func.Name)
			}
			h.Domains = append(h.Domains, d.ID)
		}
		s := w.operandArrays(a, d)
		part := func(a *ir.Array) value.Value {
			if a == nil {
				return null
			}
			return a.Ptr
		}
		frame = append(frame, s.Words.Ptr, part(s.High), part(s.Present))
	}
	w.callHost(h, w.Cur.NewZExt(w.items, types.I64), frame)
	w.regs[m.Out] = out
	return nil
}

// callHost calls the host for a function of some items, with the addresses of
// the frame.
func (w *kernel) callHost(h abi.Host, items value.Value, frame []value.Value) {
	pointers := w.Alloca(expr.Ptr(), len(frame))
	for i, p := range frame {
		w.Store(p, w.At(expr.Ptr(), pointers, i64(int64(i))))
	}
	number := len(w.Entry.Hosts)
	w.Entry.Hosts = append(w.Entry.Hosts, h)
	w.CallAddress(w.Param(abi.HostCall, "", 0), w.Param(abi.HostContext, "", 0), i64(int64(number)),
		items, pointers)
}

// operandArrays returns an operand as arrays of all items.
func (w *kernel) operandArrays(o harmony.Operand, d *domain.Domain) *ir.Stored {
	if o.Reg != nil {
		return w.regs[o.Reg]
	}
	v := w.Constant(o.Const, d)
	s := w.NewStored(v)
	w.eachItem(func(i value.Value) { w.Write(s, i, v) })
	return s
}
