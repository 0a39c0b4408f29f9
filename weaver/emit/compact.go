package emit

import (
	"slices"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/weaver/emit/ir"
)

// compact moves the live rows of a CPU's tile together for the stages from one
// on. If all rows are live nothing moves; if none is, the tile or round is
// over.
func (w *kernel) compact(stage int) {
	items, total := w.selectLive(w.flags)
	w.unlessEmpty(total)
	var arrays []*ir.Array
	for _, r := range w.liveRegs(stage) {
		arrays = append(arrays, w.regs[r].Arrays()...)
	}
	loads := w.work.LastLoad >= stage
	fresh := loads && w.source == nil
	switch {
	case fresh:
		w.source = w.Array(types.I64)
	case loads:
		arrays = append(arrays, w.source)
	}
	w.When(w.Cur.NewICmp(enum.IPredNE, total, w.count), func() {
		w.Loop(total, func(i value.Value) {
			from := w.Cur.NewZExt(w.Get(items, i), types.I64)
			for _, a := range arrays {
				w.Set(a, i, w.Get(a, from))
			}
		})
	})
	if fresh {
		w.Loop(total, func(i value.Value) {
			w.Set(w.source, i, w.Cur.NewAdd(w.start, w.Cur.NewZExt(w.Get(items, i), types.I64)))
		})
	}
	w.setCount(w.Function, total)
	w.flags, w.dense = nil, true
}

// selectLive lists the live items of a CPU's tile, in order, and counts them.
// Of eight items without a live one it only looks at the flags; otherwise each
// is written to the place behind the last live one, so that there is no branch.
func (w *kernel) selectLive(flags *ir.Array) (items *ir.Array, total value.Value) {
	const step = 8
	items = &ir.Array{Ptr: w.Alloca(types.I32, w.Target.Items+step), Elem: types.I32}
	at, found := w.Variable(types.I64, i64(0)), w.Variable(types.I64, i64(0))
	w.Store(i64(0), at)
	w.Store(i64(0), found)
	w.While(func() value.Value {
		return w.Cur.NewICmp(enum.IPredSLT, w.Load(types.I64, at), w.count)
	}, func() {
		first := w.Load(types.I64, at)
		eight := &llvm.InstLoad{ElemType: types.I64, Src: w.At(types.I8, flags.Ptr, first),
			Align: step}
		w.Cur.Insts = append(w.Cur.Insts, eight)
		w.When(w.Cur.NewICmp(enum.IPredNE, eight, i64(0)), func() {
			n := w.Load(types.I64, found)
			for k := range int64(step) {
				i := w.Cur.NewAdd(first, i64(k))
				w.Set(items, n, w.Cur.NewTrunc(i, types.I32))
				n = w.Cur.NewAdd(n, w.Cur.NewZExt(w.Get(flags, i), types.I64))
			}
			w.Store(n, found)
		})
		w.Store(w.Cur.NewAdd(first, i64(step)), at)
	})
	return items, w.Load(types.I64, found)
}

// rank numbers the live items, in the order of rows, and counts them.
func (w *kernel) rank(flags *ir.Array) (rank *ir.Array, total value.Value) {
	rank = w.Array(types.I32)
	total = w.Call("rf_block_rank", rank.Ptr, flags.Ptr, w.ScratchOf("rf_block_rank"),
		i32(w.Target.Threads), w.items)
	return rank, total
}

// unlessEmpty ends the tile or round if a number of rows, which is the same in
// all threads, is 0.
func (w *kernel) unlessEmpty(total value.Value) {
	some := w.NewBlock("some")
	w.Cur.NewCondBr(w.Cur.NewICmp(enum.IPredNE, total, i64(0)), some, w.next)
	w.Cur = some
}

// liveRegs returns the registers that have a value and are read by the stages
// from one on, in the order in which they are defined.
func (w *kernel) liveRegs(stage int) []*harmony.Reg {
	return slices.DeleteFunc(w.work.Live(stage), func(r *harmony.Reg) bool {
		return w.regs[r] == nil
	})
}
