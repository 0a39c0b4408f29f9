package portable

// filterStage keeps the rows for which its program's one result is true.
type filterStage struct {
	prog *program
	keep []int // slots of the input that go on, in the order of the output's
}

func (s *filterStage) prepare(*run) bool { return true }

func (s *filterStage) start(w *worker, next op) op {
	size := w.run.opts.vector
	return &filterOp{filterStage: s, m: s.prog.newMachine(w.run), next: next, w: w,
		sel: make([]uint32, size), out: batch{cols: vectors(len(s.keep), size)}, same: batch{cols: make([][]int64, len(s.keep))}}
}

type filterOp struct {
	*filterStage
	m         *machine
	next      op
	w         *worker
	sel       []uint32
	out, same batch
}

func (o *filterOp) push(b *batch) {
	rows, all := o.m.run(b)
	truth := o.m.regs[o.prog.results[0]]
	k := 0
	if all {
		for i, t := range truth[:b.n] {
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

func (o *filterOp) close() {
	o.w.run.dropped.Add(o.m.dropped)
	o.m.dropped = 0
	o.next.close()
}

// pushSelected pushes some columns of the selected rows: as they are if all rows
// are selected, else compacted into out.
func pushSelected(b *batch, sel []uint32, keep []int, out, same *batch, next op) {
	switch len(sel) {
	case 0:
	case b.n:
		for i, slot := range keep {
			same.cols[i] = b.cols[slot]
		}
		same.n = b.n
		next.push(same)
	default:
		for i, slot := range keep {
			compact(out.cols[i], b.cols[slot], sel)
		}
		out.n = len(sel)
		next.push(out)
	}
}

// mapStage appends the results of its program; rows without all values are
// dropped.
type mapStage struct {
	prog *program
	keep []int // slots of the input that go on, before the results
}

func (s *mapStage) prepare(*run) bool { return true }

func (s *mapStage) start(w *worker, next op) op {
	size := w.run.opts.vector
	n := len(s.keep) + len(s.prog.results)
	return &mapOp{mapStage: s, m: s.prog.newMachine(w.run), next: next, w: w,
		out: batch{cols: vectors(n, size)}, same: batch{cols: make([][]int64, n)}}
}

type mapOp struct {
	*mapStage
	m         *machine
	next      op
	w         *worker
	out, same batch
}

func (o *mapOp) push(b *batch) {
	sel, all := o.m.run(b)
	if !all && len(sel) == 0 {
		return
	}
	full := all || len(sel) == b.n
	for i := range o.same.cols {
		var src []int64
		if i < len(o.keep) {
			src = b.cols[o.keep[i]]
		} else {
			src = o.m.regs[o.prog.results[i-len(o.keep)]]
		}
		if full {
			o.same.cols[i] = src
		} else {
			compact(o.out.cols[i], src, sel)
		}
	}
	if full {
		o.same.n = b.n
		o.next.push(&o.same)
		return
	}
	o.out.n = len(sel)
	o.next.push(&o.out)
}

func (o *mapOp) close() {
	o.w.run.dropped.Add(o.m.dropped)
	o.m.dropped = 0
	o.next.close()
}
