package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// joinStage probes a build side with the rows of a pipeline.
type joinStage struct {
	side buildSide
	kind queryplan.JoinKind
	keys []int // slots of the key columns, in the order of the side's key
	// check holds the numbers of the key columns that may have words outside
	// the build side's bounds, which its layout cannot pack.
	check []int
	keep  []int // slots of the input that go on
	pay   []int // payload columns that go on, after them
	// extension is set if the stage makes tuples of a table itself.
	extension *extension
}

func (s *joinStage) prepare(r *work.Run) bool {
	if s.side.ensure(r) == 0 {
		return s.kind == queryplan.Anti
	}
	if s.extension != nil {
		s.extension.choose(r, s.side)
	}
	return true
}

func (s *joinStage) start(w *work.Worker, next work.Op) work.Op {
	size := w.Run.Sizes.Vector
	n := len(s.keep) + len(s.pay)
	o := &joinOp{joinStage: s, w: w, next: next, size: size,
		keys:  make([]uint64, size*s.side.finder().KeyLayout().Words),
		valid: make([]bool, size),
		runs:  tables.Runs{Start: make([]uint32, size), Count: make([]uint32, size)},
		left:  make([]uint32, size),
		right: make([]uint32, size),
		out:   work.Batch{Cols: work.Vectors(n, size)},
		same:  work.Batch{Cols: make([][]int64, n)},
	}
	if s.extension != nil {
		return newExtendOp(o, next.(*insertOp))
	}
	return o
}

type joinOp struct {
	*joinStage
	w           *work.Worker
	next        work.Op
	size        int
	index       tables.Finder
	cols        [][]int64
	keys        []uint64
	valid       []bool
	runs        tables.Runs
	left, right []uint32 // of the output: the input's row and the place in the payload
	out, same   work.Batch
	// constant is the index of one row without a key whose payload is in out.
	constant *tables.Token
}

func (o *joinOp) Close() { o.next.Close() }

func (o *joinOp) Push(b *work.Batch) {
	if o.kind == queryplan.Inner && len(o.joinStage.keys) == 0 && o.pushProduct(b) {
		return
	}
	valid := o.pack(b)
	o.index.Lookup(o.keys, valid, b.N, &o.runs)
	o.match(b)
}

// pushProduct pushes the rows of a batch with the only row of the build side,
// whose columns stay from batch to batch. It returns false if there are more.
func (o *joinOp) pushProduct(b *work.Batch) bool {
	x, built := o.side.finder().(*tables.Index)
	if !built || !x.Distinct() {
		return false
	}
	o.index = x
	token, n := x.Token(), len(o.keep)
	if o.constant != token {
		o.constant = token
		clear(o.right)
		for i, c := range o.pay {
			o.index.Payload(o.out.Cols[n+i], o.right, c)
		}
	}
	for i, slot := range o.keep {
		o.same.Cols[i] = b.Cols[slot]
	}
	for i := range o.pay {
		o.same.Cols[n+i] = o.out.Cols[n+i][:b.N]
	}
	o.same.N = b.N
	o.next.Push(&o.same)
	return true
}

// match pushes what the rows of a batch find.
func (o *joinOp) match(b *work.Batch) {
	count := o.runs.Count[:b.N]
	switch {
	case o.kind == queryplan.Inner && !o.index.Distinct():
		o.expand(b, count)
	case o.kind == queryplan.Inner:
		k := 0
		left, right, start := o.left, o.right, o.runs.Start
		for i, c := range count {
			left[k] = uint32(i)
			right[k] = start[i]
			k += int(c)
		}
		o.emitUnique(b, k)
	default:
		want := o.kind == queryplan.Semi
		k := 0
		for i, c := range count {
			o.left[k] = uint32(i)
			k += work.Bit((c != 0) == want)
		}
		pushSelected(b, o.left[:k], o.keep, &o.out, &o.same, o.next)
	}
}

// pack packs the keys of all rows of the batch, and returns which of them are
// valid; nil if all are.
func (o *joinOp) pack(b *work.Batch) (valid []bool) {
	o.cols = b.Pick(o.cols, o.joinStage.keys)
	o.index = o.side.finder()
	// A single column needs no check against a dense index: what is outside its
	// bounds is outside its domain, too.
	if len(o.check) > 0 && !(o.index.Dense() && len(o.cols) == 1) {
		valid = o.validate(b.N)
	}
	o.index.KeyLayout().Pack(o.keys, o.cols, b.N)
	return valid
}

func (o *joinOp) validate(n int) []bool {
	valid := o.valid[:n]
	withinBounds(valid, o.cols, o.side.keyBounds(), o.check)
	return valid
}

// withinBounds finds the rows of which the chosen columns have words within
// bounds.
func withinBounds(valid []bool, cols [][]int64, bounds []interval.Interval, chosen []int) {
	for j, c := range chosen {
		r := bounds[c]
		col := cols[c][:len(valid)]
		if j == 0 {
			for i, v := range col {
				valid[i] = r.Lo <= v && v <= r.Hi
			}
			continue
		}
		for i, v := range col {
			valid[i] = valid[i] && r.Lo <= v && v <= r.Hi
		}
	}
}

// emitUnique pushes k rows that match one row each.
func (o *joinOp) emitUnique(b *work.Batch, k int) {
	if k == 0 {
		return
	}
	out := &o.out
	n := len(o.keep)
	for i, slot := range o.keep {
		if k < b.N {
			work.Compact(o.out.Cols[i], b.Cols[slot], o.left[:k])
		} else {
			o.same.Cols[i] = b.Cols[slot]
		}
	}
	for i, c := range o.pay {
		o.index.Payload(o.out.Cols[n+i][:k], o.right[:k], c)
		o.same.Cols[n+i] = o.out.Cols[n+i]
	}
	if k == b.N {
		out = &o.same
	}
	out.N = k
	o.next.Push(out)
}

// expand pushes a row for every match.
func (o *joinOp) expand(b *work.Batch, count []uint32) {
	left, right := o.left, o.right
	k := 0
	for i, c := range count {
		start := o.runs.Start[i]
		for c > 0 {
			if k == len(left) {
				o.emit(b, k)
				k = 0
			}
			n := min(int(c), len(left)-k)
			l, r := left[k:k+n], right[k:k+n]
			for j := range l {
				l[j] = uint32(i)
				r[j] = start + uint32(j)
			}
			start += uint32(n)
			c -= uint32(n)
			k += n
		}
	}
	o.emit(b, k)
}

func (o *joinOp) emit(b *work.Batch, k int) {
	if k == 0 {
		return
	}
	o.w.Run.Stop.Check()
	for i, slot := range o.keep {
		work.Compact(o.out.Cols[i], b.Cols[slot], o.left[:k])
	}
	for i, c := range o.pay {
		o.index.Payload(o.out.Cols[len(o.keep)+i][:k], o.right[:k], c)
	}
	o.out.N = k
	o.next.Push(&o.out)
}
