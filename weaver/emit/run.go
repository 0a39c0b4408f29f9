package emit

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
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

// run emits stages without random accesses to tables as one loop over the items,
// with what they define as SSA values. What stage end or a later one reads goes to
// arrays.
func (w *kernel) run(stages []harmony.Stage, end int) {
	drops := false
	for _, s := range stages {
		w.fetch(s)
		w.mark(s)
		drops = drops || shape.IsDrop(s)
	}
	if end == len(stages) && w.entry.Expansions == 0 && w.canFetch() {
		w.checkGauges()
	}
	var before, after *array
	if !w.dense {
		before = w.liveFlags()
	}
	if drops {
		after = w.array(types.I8)
		if !w.target.GPU {
			w.clearTail(after)
		}
	}
	out := map[*harmony.Reg]*stored{}
	w.loop(w.count, func(i value.Value) {
		r := &rows{kernel: w, i: i, vals: map[*harmony.Reg]expr.Value{}}
		if before != nil {
			r.live = w.flag(before, i)
			r.guard = r.live
		}
		for _, s := range stages {
			r.stage(s)
			w.mark(s)
		}
		for _, s := range stages {
			if d := harmony.Def(s); d != nil && w.work.Last[d] >= end && w.regs[d] == nil {
				out[d] = w.newStored(r.vals[d])
				w.write(out[d], i, r.vals[d])
			}
		}
		for _, reg := range r.settled {
			if s := w.regs[reg]; s != nil {
				s.high, s.present = nil, nil
			}
		}
		if after != nil {
			w.setFlag(after, i, r.truth(r.live))
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
func (w *kernel) clearTail(flags *array) {
	w.intrinsic("llvm.memset.p0.i64", types.Void, w.at(types.I8, flags.ptr, w.count), i8(0), i64(flagPadding), constant.False)
}

// fetch reads the column of a load or a gather for the whole tile, if that is not
// done row by row: always on a GPU, where each thread has to have its accesses
// under way together, and on a CPU where the width is a parameter.
func (w *kernel) fetch(s harmony.Stage) {
	var c shape.Column
	var from *array // the rows; nil: those of the tile
	switch s := s.(type) {
	case *harmony.Load:
		if g, ok := w.k.Source.(*harmony.GroupRows); ok {
			w.groupColumn(g.Groups, s)
			return
		}
		c, from = w.shape.ColumnOf(s), w.source
	case *harmony.Gather:
		c, from = w.shape.ColumnOf(s), w.regs[s.Row].words
	default:
		return
	}
	if w.shape.ByRow(c) {
		return
	}
	def := harmony.Def(s)
	out := &stored{typ: def.Type, words: w.array(types.I64)}
	p, items, threads := w.columnWords(c), w.items, i32(w.target.Threads)
	switch {
	case from != nil:
		w.call("rf_tile_gather", out.words.ptr, w.liveFlags().ptr, from.ptr, p.data, p.width, p.base, p.step, items)
	case w.target.GPU && w.drops:
		w.call("rf_tile_load_live", out.words.ptr, w.flags.ptr, p.data, p.width, p.base, p.step, w.start, w.rows, threads, items)
	default:
		w.call("rf_tile_load", out.words.ptr, p.data, p.width, p.base, p.step, w.start, w.rows, threads, items)
	}
	w.regs[def] = out
}

// stage emits a stage for the row.
func (r *rows) stage(s harmony.Stage) {
	switch s := s.(type) {
	case *harmony.Load:
		if r.regs[s.Out] == nil {
			row := r.sourceRow()
			r.define(s.Out, wordValue(r.function, s.Out.Type, r.entryOf(r.shape.ColumnOf(s), row, nil)))
		}
	case *harmony.Gather:
		if r.regs[s.Out] == nil {
			row := r.get(r.regs[s.Row].words, r.i)
			r.define(s.Out, wordValue(r.function, s.Out.Type, r.entryOf(r.shape.ColumnOf(s), row, r.guard)))
		}
	case *harmony.Map:
		r.define(s.Out, r.apply(s))
	case *harmony.Filter:
		v := r.operand(s.Cond, nil)
		r.live = r.both(r.live, r.both(v.Present, v.Word))
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
		here := r.both(r.live, v.Present)
		lost := r.both(here, r.Cur.NewXor(fits, constant.True))
		r.drop(lost)
	}
	r.live = r.both(r.live, fits)
	v = expr.Narrow(r.Block, v)
	v.Present = nil
	r.vals[reg] = v
	r.settled = append(r.settled, reg)
}

// both returns the conjunction of two truths, of which nil is true.
func (f *function) both(a, b value.Value) value.Value {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return f.Cur.NewAnd(a, b)
}

// truth returns a truth as a value.
func (f *function) truth(a value.Value) value.Value {
	if a == nil {
		return constant.True
	}
	return a
}

// sourceRow returns the source's row of the item.
func (r *rows) sourceRow() value.Value {
	if r.source != nil {
		return r.get(r.source, r.i)
	}
	return r.Cur.NewAdd(r.start, r.i)
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
	if in, ok := w.shape.Range(reg); ok {
		v = expr.Narrow(w.Block, v)
		v.Lo, v.Hi, v.Bounded = in.Lo, in.Hi, true
	}
	return v
}

// reg returns a register's value.
func (r *rows) reg(reg *harmony.Reg) expr.Value {
	v, ok := r.vals[reg]
	if !ok {
		v = r.bound(reg, r.read(r.regs[reg], r.i))
		r.vals[reg] = v
	}
	return v
}

// operand returns the value of an operand. The domain is that of a constant
// string's code; nil if it needs none.
func (r *rows) operand(o harmony.Operand, d *domain.Domain) expr.Value {
	if o.Reg == nil {
		return r.constant(o.Const, d)
	}
	return r.reg(o.Reg)
}

// wordValue makes a value of a word that is always there.
func wordValue(f *function, t scalar.Type, word value.Value) expr.Value {
	v := expr.Value{Type: t, Word: word}
	if t.Kind == scalar.Boolean {
		v.Word = f.Cur.NewICmp(enum.IPredNE, word, i64(0))
	}
	return v
}

// entryOf reads one entry of a column. Where the guard does not hold the row is
// anything and the word unspecified.
func (f *function) entryOf(c shape.Column, row, guard value.Value) value.Value {
	p := f.columnWords(c)
	data := p.data
	width, known := f.fixed(c.Width, c.Name, c.Index)
	if known && width == 0 {
		return p.base
	}
	if !known {
		if f.target.GPU && guard != nil {
			word := f.variable(types.I64, i64(0))
			f.store(p.base, word)
			f.when(guard, func() { f.store(f.entryOf(c, row, nil), word) })
			return f.load(types.I64, word)
		}
		if guard != nil {
			row = f.Cur.NewSelect(guard, row, i64(0))
			data = f.choosePointer(guard, data)
		}
		return f.call("rf_column_word", data, p.width, p.base, p.step, row)
	}
	t := types.NewInt(uint64(8 * width))
	word := f.loadIf(t, guard, f.at(t, data, row))
	if width < 8 {
		word = f.Cur.NewZExt(word, types.I64)
	}
	return f.Cur.NewAdd(p.base, f.Cur.NewMul(p.step, word))
}

// loadIf reads what is at p where the guard holds, or it is nil; else the value is any
// of memory's. A GPU has no memory of its own to read then, short of a stack, and
// branches.
func (f *function) loadIf(t *types.IntType, guard, p value.Value) value.Value {
	switch {
	case guard == nil:
		return f.load(t, p)
	case !f.target.GPU:
		return f.load(t, f.choosePointer(guard, p))
	}
	zero := constant.NewInt(t, 0)
	v := f.variable(t, zero)
	f.store(zero, v)
	f.when(guard, func() { f.store(f.load(t, p), v) })
	return f.load(t, v)
}

// choosePointer is p where the guard holds, else the address of two words that are
// 0.
func (f *function) choosePointer(guard, p value.Value) value.Value {
	if f.nowhere == nil {
		f.nowhere = f.alloca(types.I64, 2)
		f.inFirst(func() value.Value {
			f.store(i64(0), f.nowhere)
			f.store(i64(0), f.at(types.I64, f.nowhere, i64(1)))
			return nil
		})
	}
	s := &ir.InstSelect{Cond: guard, ValueTrue: p, ValueFalse: f.nowhere, Typ: expr.Ptr()}
	f.Cur.Insts = append(f.Cur.Insts, s)
	return s
}
