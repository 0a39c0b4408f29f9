package interval

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Interval bounds words, inclusive, in the order of int64. It is empty, the
// bound of no words, if Lo > Hi.
type Interval struct{ Lo, Hi int64 }

// None is the bound of no words, All that of any.
var (
	None = Interval{0, -1}
	All  = Interval{math.MinInt64, math.MaxInt64}
)

// Of returns the bound of one word.
func Of(w int64) Interval { return Interval{w, w} }

// OfType returns the bound of the words of a type. Those of 64-bit uints and of
// floats are bit patterns, so that they take all.
func OfType(t scalar.Type) Interval {
	switch t.Kind {
	case scalar.Boolean:
		return Interval{0, 1}
	case scalar.Int:
		if t.Bits < 64 {
			return Interval{-1 << (t.Bits - 1), 1<<(t.Bits-1) - 1}
		}
	case scalar.Uint:
		if t.Bits < 64 {
			return Interval{0, 1<<t.Bits - 1}
		}
	case scalar.String:
		return Interval{0, math.MaxUint32}
	}
	return All
}

// Orders reports whether the words of a type order as its values do, so that a
// comparison of values bounds words. Strings are left out: whether their codes
// order depends on the dictionary.
func Orders(t scalar.Type) bool {
	switch t.Kind {
	case scalar.Boolean, scalar.Int, scalar.Decimal, scalar.Datetime:
		return true
	case scalar.Uint:
		return t.Bits < 64
	}
	return false
}

// Empty reports whether no word is within the bound.
func (r Interval) Empty() bool { return r.Lo > r.Hi }

// Contains reports whether a word is within the bound.
func (r Interval) Contains(w int64) bool { return r.Lo <= w && w <= r.Hi }

// Covers reports whether all words of s are within the bound.
func (r Interval) Covers(s Interval) bool { return s.Empty() || r.Lo <= s.Lo && s.Hi <= r.Hi }

// Bits returns how many bits tell the words of the interval apart.
func (r Interval) Bits() int {
	if r.Empty() {
		return 0
	}
	return bits.Len64(uint64(r.Hi) - uint64(r.Lo))
}

// Union returns the least interval that covers both.
func (r Interval) Union(s Interval) Interval {
	switch {
	case r.Empty():
		return s
	case s.Empty():
		return r
	}
	return Interval{min(r.Lo, s.Lo), max(r.Hi, s.Hi)}
}

// Intersect returns the words that both have.
func (r Interval) Intersect(s Interval) Interval {
	t := Interval{max(r.Lo, s.Lo), min(r.Hi, s.Hi)}
	if t.Empty() {
		return None
	}
	return t
}

// Widened returns grown, which covers r, with the ends that grew moved out to
// those of full: a bound that keeps growing then settles (Cousot and Cousot,
// POPL 1977).
func (r Interval) Widened(grown, full Interval) Interval {
	if grown.Lo < r.Lo {
		grown.Lo = full.Lo
	}
	if grown.Hi > r.Hi {
		grown.Hi = full.Hi
	}
	return grown
}

// String returns the interval as [-3..5], with an end that is that of all words
// left out, and none if it is empty.
func (r Interval) String() string {
	if r.Empty() {
		return "none"
	}
	lo, hi := "", ""
	if r.Lo != math.MinInt64 {
		lo = fmt.Sprint(r.Lo)
	}
	if r.Hi != math.MaxInt64 {
		hi = fmt.Sprint(r.Hi)
	}
	return "[" + lo + ".." + hi + "]"
}
