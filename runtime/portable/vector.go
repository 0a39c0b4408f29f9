package portable

import "math"

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

// canonical returns the bits of a float as values have them: one NaN, no
// negative zero.
func canonical(f float64) int64 {
	if f != f {
		f = math.NaN()
	}
	if f == 0 {
		f = 0
	}
	return int64(math.Float64bits(f))
}

func float(w int64) float64 { return math.Float64frombits(uint64(w)) }
