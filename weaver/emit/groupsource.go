package emit

import (
	"math"

	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// beginGroups leaves of a tile of slots those that have a group.
func (w *kernel) beginGroups(g *harmony.Groups) {
	switch {
	case w.Shape.SharesList(g):
		w.beginList(g)
		return
	case w.Shape.IsOrdered(g):
		return
	}
	occupied := w.Param(abi.GroupOccupied, g.Name, 0)
	before := w.liveFlags()
	flags := w.Array(types.I8)
	w.eachItem(func(i value.Value) {
		slot, live := w.slot(before, i)
		word := w.Load(types.I64, w.At(types.I64, occupied, slot))
		w.SetFlag(flags, i, w.Cur.NewAnd(live, w.Cur.NewICmp(enum.IPredNE, word, i64(0))))
	})
	w.narrow(flags)
}

// beginList leaves of a tile of slots those that have a group. All do behind
// the hash table with which a list begins.
func (w *kernel) beginList(g *harmony.Groups) {
	table, before := w.Param(abi.GroupTable, g.Name, 0), w.liveFlags()
	flags := w.Array(types.I8)
	w.eachItem(func(i value.Value) { w.Set(flags, i, w.Get(before, i)) })
	w.When(w.Cur.NewICmp(enum.IPredSLE, w.start, w.Param(abi.GroupSize, g.Name, 0)), func() {
		w.eachItem(func(i value.Value) {
			slot, live := w.slot(before, i)
			word := w.Load(types.I64, w.At(types.I64, table, slot))
			w.SetFlag(flags, i, w.Cur.NewAnd(live, w.Cur.NewICmp(enum.IPredNE, word, i64(-1))))
		})
	})
	w.narrow(flags)
}

// slot returns the slot of an item, or the tile's first if the item is not
// live.
func (w *kernel) slot(flags *ir.Array, i value.Value) (slot, live value.Value) {
	row := i
	if w.Target.GPU {
		row = w.Cur.NewSExt(w.Call("rf_tile_row", w.Cur.NewTrunc(i, types.I32),
			i32(w.Target.Threads)), types.I64)
	}
	live = w.Flag(flags, i)
	return w.Cur.NewAdd(w.start, w.Cur.NewSelect(live, row, i64(0))), live
}

// groupColumn reads a key or a result of the groups in a tile of slots.
func (w *kernel) groupColumn(g *harmony.Groups, l *harmony.Load) {
	out := &ir.Stored{Type: l.Out.Type, Words: w.Array(types.I64)}
	if at := l.Col - len(g.Keys); at >= 0 {
		a := &accumulator{kernel: w, groups: g, index: at, acc: g.Accs[at]}
		flags := w.liveFlags()
		w.eachItem(func(i value.Value) {
			slot, live := w.slot(flags, i)
			w.Set(out.Words, i, a.result(slot, live))
		})
	} else {
		w.groupKeys(g, l.Col, out.Words)
	}
	w.regs[l.Out] = out
}

// groupKeys reads a key column.
func (w *kernel) groupKeys(g *harmony.Groups, col int, out *ir.Array) {
	k := &keys{kernel: w, kinds: shape.GroupKey, name: g.Name,
		words: make([]*ir.Array, len(g.Keys))}
	param := func(kind abi.Kind, index int) value.Value { return w.Param(kind, g.Name, index) }
	readSized := func(form, size, column value.Value) {
		w.Call("rf_tile_group_keys", out.Ptr, w.start, form, param(abi.GroupTable, 0), size,
			param(abi.GroupShift, col), param(abi.GroupBase, col), param(abi.GroupBits, col),
			column, w.rows, i32(w.Target.Threads), w.items)
	}
	if w.Shape.IsOrdered(g) {
		// The packed keys stand where a hash table has them, and none in its
		// last word.
		readSized(i64(int64(abi.Hash)), i64(math.MaxInt64-1), null)
		return
	}
	read := func(form, column value.Value) { readSized(form, param(abi.GroupSize, 0), column) }
	k.byForm(func() {
		columns := param(abi.GroupColumns, 0)
		read(i64(int64(abi.Wide)), w.Load(null.Type(), w.At(null.Type(), columns, i64(int64(col)))))
	}, func() { read(k.form(), null) })
}

// result returns an accumulator's result in a slot. One that does not fit its
// type is noted as a fault, if the group is live.
func (a *accumulator) result(slot, live value.Value) value.Value {
	owner := a.owner()
	stride := owner.stride()
	cell := a.At(types.I64, owner.cells(0), a.Cur.NewMul(slot, i64(int64(stride))))
	word := func(i int) value.Value {
		return a.Load(types.I64, a.At(types.I64, cell, i64(int64(i))))
	}
	switch {
	case a.acc.Fn == queryplan.Count:
		return word(0)
	case a.acc.Fn == queryplan.Min || a.acc.Fn == queryplan.Max:
		return a.orderedWord(word(0))
	case a.acc.In.Kind == scalar.Float:
		return a.floatResult(cell, word)
	}
	low, high := word(0), word(1)
	switch a.acc.Fn {
	case queryplan.TotalHigh:
		return high
	case queryplan.TotalLow:
		return a.Cur.NewXor(low, i64(math.MinInt64))
	}
	if a.acc.Fn == queryplan.Avg {
		low, high = a.mean(low, high, word(2))
	}
	a.check(low, high, slot, live)
	return low
}

// floatResult rounds an exact sum, and divides it for a mean.
func (a *accumulator) floatResult(cell value.Value, word func(int) value.Value) value.Value {
	sum := a.Call("rf_fsum_round", cell)
	f := value.Value(a.Cur.NewBitCast(sum, types.Double))
	if a.acc.Fn == queryplan.Avg {
		f = a.Cur.NewFDiv(f, a.Cur.NewSIToFP(word(a.owner().stride()-1), types.Double))
	}
	if a.acc.Out.Type.Bits == 32 {
		f = a.Cur.NewFPExt(a.Cur.NewFPTrunc(f, types.Float), types.Double)
	}
	// There is one NaN and one zero.
	zero := constant.NewFloat(types.Double, 0)
	f = a.Cur.NewSelect(a.Cur.NewFCmp(enum.FPredOEQ, f, zero), zero, f)
	bits := a.Cur.NewBitCast(f, types.I64)
	nan := int64(scalar.OfFloat(scalar.FloatType, math.NaN()).Bits())
	return a.Cur.NewSelect(a.Cur.NewFCmp(enum.FPredUNO, f, zero), i64(nan), bits)
}

// mean divides a sum by a count, rounding half away from zero to the result's
// scale. Sums of less than 2^63 rows have room for the digits that come in.
func (a *accumulator) mean(low, high, count value.Value) (value.Value, value.Value) {
	shift := scalar.Pow10(int(a.acc.Out.Type.Scale) - int(a.acc.In.Scale)).Int64()
	scaled := a.Cur.NewMul(a.Join(low, high), constant.NewInt(types.I128, shift))
	lo, hi := a.Variable(types.I64, i64(0)), a.Variable(types.I64, i64(0))
	a.Store(a.Cur.NewTrunc(scaled, types.I64), lo)
	a.Store(a.Cur.NewTrunc(a.Cur.NewLShr(scaled, ir.IntOf(types.I128, 64)), types.I64), hi)
	// A slot without a group has no count.
	none := a.Cur.NewICmp(enum.IPredEQ, count, i64(0))
	a.Call("rf_i128_divide_round", lo, hi, a.Cur.NewSelect(none, i64(1), count))
	return a.Load(types.I64, lo), a.Load(types.I64, hi)
}

// check notes a result of 128 bits that does not fit its type.
func (a *accumulator) check(low, high, slot, live value.Value) {
	out := a.acc.Out.Type
	sign := value.Value(i64(0))
	if out != scalar.UintType {
		sign = a.Cur.NewAShr(low, i64(63))
	}
	fits := value.Value(a.Cur.NewICmp(enum.IPredEQ, high, sign))
	if r := interval.OfType(out); r != interval.All {
		fits = a.Cur.NewAnd(fits, a.Cur.NewICmp(enum.IPredSGE, low, i64(r.Lo)))
		fits = a.Cur.NewAnd(fits, a.Cur.NewICmp(enum.IPredSLE, low, i64(r.Hi)))
	}
	lost := a.Cur.NewAnd(live, a.Cur.NewXor(fits, constant.True))
	a.When(lost, func() {
		note := a.Cur.NewOr(i64(int64(1+a.index)<<48), slot)
		a.Store(note, a.Param(abi.Fault, "", 0))
	})
}
