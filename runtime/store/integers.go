package store

import (
	goruntime "runtime"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// integer is the constraint of the numbers that Integers accepts.
type integer interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64
}

// Integers returns a column of integers. It returns nil if t is another type or
// a number does not fit t: then the caller converts the numbers one by one. It
// takes no memory beside the column's and works on all cores.
func Integers[T integer](t scalar.Type, values []T) *Column {
	if t.Kind != scalar.Int && t.Kind != scalar.Uint || len(values) == 0 {
		return nil
	}
	threads := threadsFor(len(values))
	bounds := make([]bound[T], threads)
	partly(len(values), threads, func(i, from,
		to int) {
		bounds[i] = boundOf(values[max(from-1, 0):to])
	})
	all := bounds[0]
	for _, b := range bounds[1:] {
		all.ascending = all.ascending && b.ascending
		all.min, all.max = min(all.min, b.min), max(all.max, b.max)
	}
	if !fits(t, all.min) || !fits(t, all.max) {
		return nil
	}
	c := &Column{Type: t, Step: 1, n: len(values)}
	c.Stats = ColumnStats{Min: int64(all.min), Max: int64(all.max), Distinct: 1,
		Ascending: all.ascending}
	c.Base, c.Width = baseOf(t, c.Stats.Min, c.Stats.Max)
	switch c.Width {
	case 0:
		return c
	case 1:
		c.U8 = offsetsOf[uint8](values, c.Base, threads)
	case 2:
		c.U16 = offsetsOf[uint16](values, c.Base, threads)
	case 4:
		c.U32 = offsetsOf[uint32](values, c.Base, threads)
	default:
		c.U64 = offsetsOf[uint64](values, c.Base, threads)
	}
	c.Stats.Distinct = countDistinct(c, threads)
	return c
}

// baseOf returns the base and the width of a column of words with step 1. A
// base of zero is cheaper to work with. It is used if it does not make entries
// wider.
func baseOf(t scalar.Type, lo, hi int64) (base int64, width uint8) {
	width = WidthOf(uint64(hi) - uint64(lo))
	if (lo >= 0 || t.Kind == scalar.Uint) && WidthOf(uint64(hi)) == width {
		return 0, width
	}
	return lo, width
}

// threadsFor returns the number of threads to use for n numbers.
func threadsFor(n int) int { return min(goruntime.GOMAXPROCS(0), 1+n>>16) }

// bound is the range of some numbers, and whether they never decrease.
type bound[T integer] struct {
	min, max  T
	ascending bool
}

func boundOf[T integer](values []T) bound[T] {
	b := bound[T]{values[0], values[0], true}
	last, descents := values[0], 0
	for _, v := range values {
		b.min, b.max = min(b.min, v), max(b.max, v)
		if v < last {
			descents++
		}
		last = v
	}
	b.ascending = descents == 0
	return b
}

// fits reports whether a number is one of an integer type.
func fits[T integer](t scalar.Type, v T) bool {
	if t.Kind == scalar.Uint {
		return v >= 0 && uint64(v)<<(64-t.Bits)>>(64-t.Bits) == uint64(v)
	}
	return v < 0 == (int64(v) < 0) && int64(v)<<(64-t.Bits)>>(64-t.Bits) == int64(v)
}

// offsetsOf returns the numbers less the base. It may return the numbers
// themselves.
func offsetsOf[W unsigned, T integer](values []T, base int64, threads int) []W {
	if base == 0 && unsafe.Sizeof(values[0]) == unsafe.Sizeof(W(0)) {
		return unsafe.Slice((*W)(unsafe.Pointer(&values[0])), len(values))
	}
	out := hugepage.Advise(make([]W, len(values)))
	partly(len(values), threads, func(_, from, to int) {
		dst := out[from:to]
		for j, v := range values[from:to] {
			dst[j] = W(int64(v) - base)
		}
	})
	return out
}
