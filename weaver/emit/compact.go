package emit

import (
	"slices"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
)

// compact moves the live rows of a CPU's tile together for the stages from one on. If
// all rows are live nothing moves; if none is, the tile or round is over.
func (w *kernel) compact(stage int) {
	items, total := w.selectLive(w.flags)
	w.unlessEmpty(total)
	var arrays []*array
	for _, r := range w.liveRegs(stage) {
		arrays = append(arrays, w.regs[r].arrays()...)
	}
	loads := w.work.LastLoad >= stage
	fresh := loads && w.source == nil
	switch {
	case fresh:
		w.source = w.array(types.I64)
	case loads:
		arrays = append(arrays, w.source)
	}
	w.when(w.Cur.NewICmp(enum.IPredNE, total, w.count), func() {
		w.loop(total, func(i value.Value) {
			from := w.Cur.NewZExt(w.get(items, i), types.I64)
			for _, a := range arrays {
				w.set(a, i, w.get(a, from))
			}
		})
	})
	if fresh {
		w.loop(total, func(i value.Value) {
			w.set(w.source, i, w.Cur.NewAdd(w.start, w.Cur.NewZExt(w.get(items, i), types.I64)))
		})
	}
	w.setCount(w.function, total)
	w.flags, w.dense = nil, true
}

// selectLive lists the live items of a CPU's tile, in order, and counts them. Of
// eight items without a live one it only looks at the flags; otherwise each is
// written to the place behind the last live one, so that there is no branch.
func (w *kernel) selectLive(flags *array) (items *array, total value.Value) {
	const step = 8
	items = &array{w.alloca(types.I32, w.target.Items+step), types.I32}
	at, found := w.variable(types.I64, i64(0)), w.variable(types.I64, i64(0))
	w.store(i64(0), at)
	w.store(i64(0), found)
	w.while(func() value.Value {
		return w.Cur.NewICmp(enum.IPredSLT, w.load(types.I64, at), w.count)
	}, func() {
		first := w.load(types.I64, at)
		eight := &ir.InstLoad{ElemType: types.I64, Src: w.at(types.I8, flags.ptr, first), Align: step}
		w.Cur.Insts = append(w.Cur.Insts, eight)
		w.when(w.Cur.NewICmp(enum.IPredNE, eight, i64(0)), func() {
			n := w.load(types.I64, found)
			for k := range int64(step) {
				i := w.Cur.NewAdd(first, i64(k))
				w.set(items, n, w.Cur.NewTrunc(i, types.I32))
				n = w.Cur.NewAdd(n, w.Cur.NewZExt(w.get(flags, i), types.I64))
			}
			w.store(n, found)
		})
		w.store(w.Cur.NewAdd(first, i64(step)), at)
	})
	return items, w.load(types.I64, found)
}

// rank numbers the live items, in the order of rows, and counts them.
func (w *kernel) rank(flags *array) (rank *array, total value.Value) {
	rank = w.array(types.I32)
	total = w.call("rf_block_rank", rank.ptr, flags.ptr, w.scratchOf("rf_block_rank"), i32(w.target.Threads), w.items)
	return rank, total
}

// unlessEmpty ends the tile or round if a number of rows, which is the same in all
// threads, is 0.
func (w *kernel) unlessEmpty(total value.Value) {
	some := w.newBlock("some")
	w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredNE, total, i64(0)), some, w.next)
	w.Cur = some
}

// arrays returns all arrays of a register.
func (r *stored) arrays() []*array {
	out := []*array{r.words}
	if r.high != nil {
		out = append(out, r.high)
	}
	if r.present != nil {
		out = append(out, r.present)
	}
	return out
}

// liveRegs returns the registers that have a value and are read by the stages from
// one on, in the order in which they are defined.
func (w *kernel) liveRegs(stage int) []*harmony.Reg {
	return slices.DeleteFunc(w.work.Live(stage), func(r *harmony.Reg) bool { return w.regs[r] == nil })
}
