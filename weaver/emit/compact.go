package emit

import (
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
)

// compact moves the live rows of a CPU's tile together, if that helps the stages
// from one on. Where all rows are left nothing moves, and where none is the tile or
// round is over.
func (w *kernel) compact(stage int) {
	if w.dense || !w.wantsCompaction(stage) {
		return
	}
	rank, total := w.rank(w.flags)
	w.unlessEmpty(total)
	if w.source == nil && w.lastLoad >= stage {
		w.source = w.array(types.I64)
		w.loop(w.count, func(i value.Value) { w.set(w.source, i, w.Cur.NewAdd(w.start, i)) })
	}
	var arrays []*array
	for _, r := range w.liveRegs(stage) {
		arrays = append(arrays, w.regs[r].arrays()...)
	}
	if w.source != nil && w.lastLoad >= stage {
		arrays = append(arrays, w.source)
	}
	w.when(w.Cur.NewICmp(enum.IPredNE, total, w.Cur.NewTrunc(w.count, types.I32)), func() {
		// A rank never exceeds its item. Every item is written, live or not, so that
		// the loop has no branch.
		w.loop(w.count, func(i value.Value) {
			to := w.Cur.NewZExt(w.get(rank, i), types.I64)
			for _, a := range arrays {
				w.set(a, to, w.get(a, i))
			}
		})
	})
	w.setCount(w.function, w.Cur.NewZExt(total, types.I64))
	w.flags, w.dense = nil, true
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
	w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredNE, total, i32(0)), some, w.next)
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
	var out []*harmony.Reg
	for _, s := range w.stages[:stage] {
		if r := harmony.Def(s); r != nil && w.regs[r] != nil && w.last[r] >= stage {
			out = append(out, r)
		}
	}
	return out
}
