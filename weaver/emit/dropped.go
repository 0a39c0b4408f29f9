package emit

import (
	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// A decimal that does not fit is counted once for each row, although a function
// that was stopped repeats the stages before an expansion. The count waits in a
// variable until the work cannot be repeated: until the gauges let a round
// begin, or the position moves on. A function that stops forgets the variable.
// Stages before an expansion count in its first round only.

// drop counts a row if lost holds.
func (w *kernel) drop(lost value.Value) {
	if w.dropped == nil {
		w.dropped = w.Variable(types.I64, i64(0))
	}
	for _, p := range w.positions[w.depth:] {
		lost = w.Cur.NewAnd(lost, w.Cur.NewICmp(enum.IPredEQ, w.Load(types.I64, p), i64(0)))
	}
	sum := w.Cur.NewAdd(w.Load(types.I64, w.dropped), w.Cur.NewZExt(lost, types.I64))
	w.Store(sum, w.dropped)
}

// countDropped adds what waits to the run's counter.
func (w *kernel) countDropped() {
	if w.dropped == nil {
		return
	}
	n := w.Load(types.I64, w.dropped)
	w.When(w.Cur.NewICmp(enum.IPredNE, n, i64(0)), func() {
		add := &llvm.InstAtomicRMW{Op: enum.AtomicOpAdd, Dst: w.Param(abi.Dropped, "", 0), X: n,
			Ordering: enum.AtomicOrderingMonotonic, Typ: types.I64}
		w.Cur.Insts = append(w.Cur.Insts, add)
		w.Store(i64(0), w.dropped)
	})
}
