package portable

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// batch is some rows of a pipeline, a vector of words a column. Stages do not
// change the vectors of a batch they are given; they may pass them on.
type batch struct {
	n    int
	cols [][]int64
}

// op is one stage or the sink of a pipeline as one worker runs it.
type op interface {
	push(b *batch)
	// close is called when the worker has no more rows for now. The op is used
	// again if the pipeline runs again.
	close()
}

// binding is a column of a batch at some place in a pipeline.
type binding struct {
	name string
	slot int // in batch.cols
	typ  scalar.Type
	dom  *domain // of a String column
	rng  interval.Interval
}

// value returns a word of the column as a value.
func (b *binding) value(w int64) scalar.Value { return valueOf(b.typ, b.dom, w) }

func valueOf(t scalar.Type, dom *domain, w int64) scalar.Value {
	if t.Kind == scalar.String {
		return scalar.OfString(dom.dict.String(uint32(w)))
	}
	return scalar.OfBits(t, uint64(w))
}

// compareWords orders two words of a column.
func compareWords(t scalar.Type, dom *domain, a, b int64) int {
	if a == b {
		return 0
	}
	if t.Kind == scalar.String && dom.grows {
		return dom.dict.Compare(uint32(a), uint32(b))
	}
	if scalar.Ordered(t.Kind, a) < scalar.Ordered(t.Kind, b) {
		return -1
	}
	return 1
}

// vectors allocates n vectors.
func vectors(n, size int) [][]int64 {
	all := make([]int64, n*size)
	out := make([][]int64, n)
	for i := range out {
		out[i] = all[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}

// compact copies the selected rows of a vector.
func compact(dst, src []int64, sel []uint32) {
	dst = dst[:len(sel)]
	for i, r := range sel {
		dst[i] = src[r]
	}
}

// flagBit is 1 for true.
func flagBit(b bool) int {
	// The compiler turns this into a set instruction, without a branch.
	var n int
	if b {
		n = 1
	}
	return n
}
