package pipeline

import (
	"github.com/redfoxdb/redfox/runtime/portable/expr"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// filterStage keeps the rows for which its program's one result is true.
type filterStage struct {
	prog *expr.Program
	keep []int // slots of the input that go on, in the order of the output's
}

func (s *filterStage) prepare(*work.Run) bool { return true }

func (s *filterStage) start(w *work.Worker, next work.Op) work.Op {
	size := w.Run.Sizes.Vector
	return &filterOp{filterStage: s, m: s.prog.NewMachine(w.Run), next: next, w: w,
		sel: make([]uint32, size), out: work.Batch{Cols: work.Vectors(len(s.keep),
			size)}, same: work.Batch{Cols: make([][]int64, len(s.keep))}}
}

type filterOp struct {
	*filterStage
	m         *expr.Machine
	next      work.Op
	w         *work.Worker
	sel       []uint32
	out, same work.Batch
}

func (o *filterOp) Push(b *work.Batch) {
	rows, all := o.m.Run(b)
	truth := o.m.Vectors[o.prog.Results[0]]
	k := 0
	if all {
		for i, t := range truth[:b.N] {
			o.sel[k] = uint32(i)
			k += int(t)
		}
	} else {
		for _, r := range rows {
			o.sel[k] = r
			k += int(truth[r])
		}
	}
	pushSelected(b, o.sel[:k], o.keep, &o.out, &o.same, o.next)
}

func (o *filterOp) Close() {
	o.w.Run.Dropped.Add(o.m.Dropped)
	o.m.Dropped = 0
	o.next.Close()
}

// pushSelected pushes some columns of the selected rows: as they are if all
// rows are selected, else compacted into out.
func pushSelected(b *work.Batch, sel []uint32, keep []int, out, same *work.Batch, next work.Op) {
	switch len(sel) {
	case 0:
	case b.N:
		for i, slot := range keep {
			same.Cols[i] = b.Cols[slot]
		}
		same.N = b.N
		next.Push(same)
	default:
		for i, slot := range keep {
			work.Compact(out.Cols[i], b.Cols[slot], sel)
		}
		out.N = len(sel)
		next.Push(out)
	}
}

// mapStage appends the results of its program; rows without all values are
// dropped.
type mapStage struct {
	prog *expr.Program
	keep []int // slots of the input that go on, before the results
}

func (s *mapStage) prepare(*work.Run) bool { return true }

func (s *mapStage) start(w *work.Worker, next work.Op) work.Op {
	size := w.Run.Sizes.Vector
	n := len(s.keep) + len(s.prog.Results)
	return &mapOp{mapStage: s, m: s.prog.NewMachine(w.Run), next: next, w: w,
		out: work.Batch{Cols: work.Vectors(n, size)}, same: work.Batch{Cols: make([][]int64, n)}}
}

type mapOp struct {
	*mapStage
	m         *expr.Machine
	next      work.Op
	w         *work.Worker
	out, same work.Batch
}

func (o *mapOp) Push(b *work.Batch) {
	sel, all := o.m.Run(b)
	if !all && len(sel) == 0 {
		return
	}
	full := all || len(sel) == b.N
	for i := range o.same.Cols {
		var src []int64
		if i < len(o.keep) {
			src = b.Cols[o.keep[i]]
		} else {
			src = o.m.Vectors[o.prog.Results[i-len(o.keep)]]
		}
		if full {
			o.same.Cols[i] = src
		} else {
			work.Compact(o.out.Cols[i], src, sel)
		}
	}
	if full {
		o.same.N = b.N
		o.next.Push(&o.same)
		return
	}
	o.out.N = len(sel)
	o.next.Push(&o.out)
}

func (o *mapOp) Close() {
	o.w.Run.Dropped.Add(o.m.Dropped)
	o.m.Dropped = 0
	o.next.Close()
}
