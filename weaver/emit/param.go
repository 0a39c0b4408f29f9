package emit

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// fixed returns the constant that a parameter is.
func (f *function) fixed(kind abi.Kind, name string, index int) (int64, bool) {
	return f.shape.Fixed(kind, name, index)
}

// param returns a parameter: an address, or an i64. It is read in the function's
// first block.
func (f *function) param(kind abi.Kind, name string, index int) value.Value {
	if c, ok := f.fixed(kind, name, index); ok {
		return i64(c)
	}
	p := abi.Param{Kind: kind, Var: name, Index: index}
	if v := f.params[p]; v != nil {
		return v
	}
	at := len(f.entry.Params)
	f.entry.Params = append(f.entry.Params, p)
	switch {
	case !f.target.GPU:
		t := types.Type(types.I64)
		if kind.IsAddress() {
			t = expr.Ptr()
		}
		f.params[p] = f.inFirst(func() value.Value { return f.load(t, f.at(types.I64, f.words, i64(int64(at)))) })
	case kind.IsAddress():
		f.params[p] = f.globalParam(f.fresh("p"))
	default:
		v := ir.NewParam(f.fresh("p"), types.I64)
		f.fn.Params = append(f.fn.Params, v)
		f.params[p] = v
	}
	return f.params[p]
}

// globalParam adds a parameter that is an address in a GPU's global memory. It is
// declared as one: what LLVM derives from it needs no generic address.
func (f *function) globalParam(name string) value.Value {
	v := ir.NewParam(name, pointerTo{globalSpace})
	f.fn.Params = append(f.fn.Params, v)
	return f.inFirst(func() value.Value { return f.generic(v) })
}

// param32 is param, as an i32.
func (f *function) param32(kind abi.Kind, name string, index int) value.Value {
	if c, ok := f.fixed(kind, name, index); ok {
		return i32(int(c))
	}
	word := f.param(kind, name, index)
	return f.inFirst(func() value.Value { return f.Cur.NewTrunc(word, types.I32) })
}

// inFirst emits something at the end of the first block.
func (f *function) inFirst(emit func() value.Value) value.Value {
	here := f.Cur
	f.Cur = f.first
	v := emit()
	f.Cur = here
	return v
}

// literal is a constant among the codes of a domain.
type literal struct {
	value  scalar.Value
	domain int
}

// literal returns the number of a constant.
func (f *function) literal(v scalar.Value, d *domain.Domain) int {
	l := literal{value: v}
	if d != nil {
		l.domain = d.ID
	}
	at, ok := f.literals[l]
	if !ok {
		at = len(f.entry.Literals)
		f.literals[l] = at
		f.entry.Literals = append(f.entry.Literals, abi.Literal{Value: v, Domain: l.domain})
	}
	return at
}

// constant returns a constant of the program, whose words are parameters.
func (f *function) constant(v scalar.Value, d *domain.Domain) expr.Value {
	e := expr.Value{Type: v.Type, Literal: &v}
	if v.Type.Kind == scalar.String && d == nil {
		return e // it has no code; what takes it takes its text
	}
	at := f.literal(v, d)
	word := f.param(abi.LiteralWord, "", at)
	switch {
	case v.Type.Kind == scalar.Boolean:
		e.Word = f.inFirst(func() value.Value { return f.Cur.NewICmp(enum.IPredNE, word, i64(0)) })
	case !v.FitsWord():
		high := f.param(abi.LiteralHigh, "", at)
		e.Wide = f.inFirst(func() value.Value { return f.join(word, high) })
	default:
		e.Word = word
	}
	return e
}

// join makes 128 bits of a low and a high word.
func (f *function) join(low, high value.Value) value.Value {
	top := f.Cur.NewShl(f.Cur.NewZExt(high, types.I128), intOf(types.I128, 64))
	return f.Cur.NewOr(top, f.Cur.NewZExt(low, types.I128))
}

// columnWords are the parameters of a column.
type columnWords struct{ data, base, step, width value.Value }

func (f *function) columnWords(c shape.Column) columnWords {
	p := columnWords{
		data:  null,
		base:  f.param(c.Base, c.Name, c.Index),
		step:  f.param(c.Step, c.Name, c.Index),
		width: f.param32(c.Width, c.Name, c.Index),
	}
	if width, known := f.fixed(c.Width, c.Name, c.Index); !known || width > 0 {
		p.data = f.param(c.Data, c.Name, c.Index)
	}
	return p
}
