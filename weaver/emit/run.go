package emit

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/expr"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// rows is the row at hand in a loop over items.
type rows struct {
	*kernel
	i    value.Value
	live value.Value // i1; nil: all are
	// guard is live as it was when the loop began; nil: all were.
	guard value.Value
	vals  map[*harmony.Reg]expr.Value
	// settled has the registers that a need found to have a word.
	settled []*harmony.Reg
}

// run emits stages without random accesses to tables as one loop over the
// items, with their definitions as SSA values. Values that stage end or a later
// one reads go to arrays.
func (w *kernel) run(stages []harmony.Stage, end int) {
	drops := false
	for _, s := range stages {
		w.fetch(s)
		w.mark(s)
		drops = drops || shape.IsDrop(s)
	}
	if end == len(stages) && w.Entry.Expansions == 0 && w.canFetch() {
		w.checkGauges()
	}
	var before, after *ir.Array
	if !w.dense {
		before = w.liveFlags()
	}
	if drops {
		after = w.Array(types.I8)
		if !w.Target.GPU {
			w.clearTail(after)
		}
	}
	out := map[*harmony.Reg]*ir.Stored{}
	w.Loop(w.count, func(i value.Value) {
		r := &rows{kernel: w, i: i, vals: map[*harmony.Reg]expr.Value{}}
		if before != nil {
			r.live = w.Flag(before, i)
			r.guard = r.live
		}
		for _, s := range stages {
			r.stage(s)
			w.mark(s)
		}
		for _, s := range stages {
			if d := harmony.Def(s); d != nil && w.work.Last[d] >= end && w.regs[d] == nil {
				out[d] = w.NewStored(r.vals[d])
				w.Write(out[d], i, r.vals[d])
			}
		}
		for _, reg := range r.settled {
			if s := w.regs[reg]; s != nil {
				s.High, s.Present = nil, nil
			}
		}
		if after != nil {
			w.SetFlag(after, i, r.Truth(r.live))
		}
	})
	for reg, s := range out {
		w.regs[reg] = s
	}
	if after != nil {
		w.narrow(after)
	}
}

// clearTail clears the flags of the items that fill up a CPU's count.
func (w *kernel) clearTail(flags *ir.Array) {
	w.Intrinsic("llvm.memset.p0.i64", types.Void, w.At(types.I8, flags.Ptr, w.count), i8(0),
		i64(ir.FlagPadding), constant.False)
}

// fetch reads the column of a load or a gather for the whole tile, if that is
// not done row by row: always on a GPU, where each thread has to have its
// accesses under way together, and on a CPU where the width is a parameter.
func (w *kernel) fetch(s harmony.Stage) {
	if w.k.PositionOf(s) != nil || w.regs[harmony.Def(s)] != nil {
		return // a register has it
	}
	var c shape.Column
	var from *ir.Array // the rows; nil: those of the tile
	switch s := s.(type) {
	case *harmony.Load:
		if g, ok := w.k.Source.(*harmony.GroupRows); ok {
			w.groupColumn(g.Groups, s)
			return
		}
		c, from = w.Shape.ColumnOf(s), w.source
	case *harmony.Gather:
		c, from = w.Shape.ColumnOf(s), w.regs[s.Row].Words
	default:
		return
	}
	if w.Shape.ByRow(c) {
		return
	}
	def := harmony.Def(s)
	out := &ir.Stored{Type: def.Type, Words: w.Array(types.I64)}
	p, items, threads := w.ColumnWords(c), w.items, i32(w.Target.Threads)
	width, known := w.Fixed(c.Width, c.Name, c.Index)
	bits := abi.PackedBits(width)
	switch {
	case from == nil && known && bits > 0:
		if w.Target.GPU && w.drops {
			w.Call("rf_tile_load_bits_live", out.Words.Ptr, w.flags.Ptr, p.Data, i32(int(bits)), p.Base,
				p.Step, w.start, w.rows, threads, items)
		} else {
			w.Call("rf_tile_load_bits", out.Words.Ptr, p.Data, i32(int(bits)), p.Base, p.Step, w.start,
				w.rows, threads, items)
		}
	case from != nil:
		w.Call("rf_tile_gather", out.Words.Ptr, w.liveFlags().Ptr, from.Ptr, p.Data, p.Width,
			p.Base, p.Step, items)
	case w.Target.GPU && w.drops:
		w.Call("rf_tile_load_live", out.Words.Ptr, w.flags.Ptr, p.Data, p.Width, p.Base, p.Step,
			w.start, w.rows, threads, items)
	default:
		w.Call("rf_tile_load", out.Words.Ptr, p.Data, p.Width, p.Base, p.Step, w.start, w.rows,
			threads, items)
	}
	w.regs[def] = out
}

// stage emits a stage for the row.
func (r *rows) stage(s harmony.Stage) {
	if r.k.PositionOf(s) != nil {
		r.position(s)
		return
	}
	switch s := s.(type) {
	case *harmony.Load:
		if r.regs[s.Out] == nil {
			row := r.sourceRow()
			r.define(s.Out,
				ir.WordValue(r.Function, s.Out.Type, r.EntryOf(r.Shape.ColumnOf(s), row, nil)))
		}
	case *harmony.Gather:
		if r.regs[s.Out] == nil {
			row := r.Get(r.regs[s.Row].Words, r.i)
			r.define(s.Out,
				ir.WordValue(r.Function, s.Out.Type, r.EntryOf(r.Shape.ColumnOf(s), row, r.guard)))
		}
	case *harmony.Map:
		r.define(s.Out, r.apply(s))
	case *harmony.Filter:
		v := r.operand(s.Cond, nil)
		r.live = r.Both(r.live, r.Both(v.Present, v.Word))
	case *harmony.Need:
		r.need(s.Reg)
	}
}

// need drops the row unless the register has a word, and counts it if it is a
// decimal that does not fit.
func (r *rows) need(reg *harmony.Reg) {
	v := r.reg(reg)
	fits := expr.Fits(r.Block, v)
	if v.Wide != nil {
		here := r.Both(r.live, v.Present)
		lost := r.Both(here, r.Cur.NewXor(fits, constant.True))
		r.drop(lost)
	}
	r.live = r.Both(r.live, fits)
	v = expr.Narrow(r.Block, v)
	v.Present = nil
	r.vals[reg] = v
	r.settled = append(r.settled, reg)
}

// position defines a register as the number of a row.
func (r *rows) position(s harmony.Stage) {
	var row value.Value
	if g, ok := s.(*harmony.Gather); ok {
		row = r.Get(r.regs[g.Row].Words, r.i)
	} else {
		row = r.sourceRow()
	}
	r.define(harmony.Def(s), ir.WordValue(r.Function, scalar.IntType, row))
}

// sourceRow returns the source's row of the item.
func (r *rows) sourceRow() value.Value {
	if r.source != nil {
		return r.Get(r.source, r.i)
	}
	return r.Cur.NewAdd(r.start, r.rowOfTile())
}

// rowOfTile returns the row of the tile that the item is, as
// primitives/src/tile.h numbers them: a thread of a GPU has four consecutive
// rows of each chunk.
func (r *rows) rowOfTile() value.Value {
	if !r.Target.GPU {
		return r.i
	}
	thread := r.Cur.NewZExt(r.Intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", types.I32), types.I64)
	chunk := r.Cur.NewAdd(
		r.Cur.NewMul(r.Cur.NewLShr(r.i, i64(2)), i64(int64(r.Target.Threads))), thread)
	return r.Cur.NewAdd(r.Cur.NewShl(chunk, i64(2)), r.Cur.NewAnd(r.i, i64(abi.Chunk-1)))
}

// define gives a register its value.
func (r *rows) define(reg *harmony.Reg, v expr.Value) {
	v.Type = reg.Type
	r.vals[reg] = r.bound(reg, v)
}

// bound adds to a value what is known of its register.
func (w *kernel) bound(reg *harmony.Reg, v expr.Value) expr.Value {
	if reg.Row != nil {
		return v
	}
	if in, ok := w.Shape.Range(reg); ok {
		v = expr.Narrow(w.Block, v)
		v.Lo, v.Hi, v.Bounded = in.Lo, in.Hi, true
	}
	return v
}

// reg returns a register's value.
func (r *rows) reg(reg *harmony.Reg) expr.Value {
	v, ok := r.vals[reg]
	if !ok {
		v = r.bound(reg, r.Read(r.regs[reg], r.i))
		r.vals[reg] = v
	}
	return v
}

// operand returns the value of an operand. The domain is that of a constant
// string's code; nil if it needs none.
func (r *rows) operand(o harmony.Operand, d *domain.Domain) expr.Value {
	if o.Reg == nil {
		return r.Constant(o.Const, d)
	}
	return r.reg(o.Reg)
}
