package work

import "math"

// Batch is some rows of a pipeline, a vector of words a column. Stages do not
// change the vectors of a batch they are given; they may pass them on.
type Batch struct {
	N    int
	Cols [][]int64
	// Copies says how often each row stands in the batch; nil if once. Only a
	// sink that counts gets it, right from a source.
	Copies []uint64
}

// Pick returns the vectors of some slots, in dst if it has room.
func (b *Batch) Pick(dst [][]int64, slots []int) [][]int64 {
	dst = dst[:0]
	for _, s := range slots {
		dst = append(dst, b.Cols[s])
	}
	return dst
}

// Op is one stage or the sink of a pipeline as one worker runs it.
type Op interface {
	Push(b *Batch)
	// Close is called when the worker has no more rows for now. The op is used
	// again if the pipeline runs again.
	Close()
}

// Vectors allocates n vectors.
func Vectors(n, size int) [][]int64 {
	all := make([]int64, n*size)
	out := make([][]int64, n)
	for i := range out {
		out[i] = all[i*size : (i+1)*size : (i+1)*size]
	}
	return out
}

// Compact copies the selected rows of a vector.
func Compact(dst, src []int64, sel []uint32) {
	dst = dst[:len(sel)]
	for i, r := range sel {
		dst[i] = src[r]
	}
}

// Bit is 1 for true.
func Bit(b bool) int {
	// The compiler turns this into a set instruction, without a branch.
	var n int
	if b {
		n = 1
	}
	return n
}

// FloatWord returns the bits of a float as values have them: one NaN, no
// negative zero.
func FloatWord(f float64) int64 {
	if f != f {
		f = math.NaN()
	}
	// The conversion keeps the addition from being fused with what made f.
	return int64(math.Float64bits(float64(f) + 0)) // -0 + 0 is 0
}

// Float returns the float of a word.
func Float(w int64) float64 { return math.Float64frombits(uint64(w)) }
