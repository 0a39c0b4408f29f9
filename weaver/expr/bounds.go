package expr

import (
	"math"
	"math/bits"

	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// bounds returns what is known of a value's word.
func (v Value) bounds() interval.Interval {
	r := interval.OfType(v.Type)
	switch {
	case v.Bounded:
		r = interval.Interval{Lo: v.Lo, Hi: v.Hi}
	case v.Literal != nil && v.Wide == nil && v.Type.Kind != scalar.String:
		r = interval.Of(int64(v.Literal.Bits()))
	}
	if v.Type == scalar.UintType && r.Lo < 0 {
		// Such words do not order as their values do when taken as signed.
		return interval.All
	}
	return r
}

// callBounds returns what is known of a call's result, and whether it is exact:
// no result wraps around, or leaves 64 bits.
func callBounds(name string, result scalar.Type, args []Value) (r interval.Interval, exact bool) {
	types := make([]scalar.Type, len(args))
	in := make([]interval.Interval, len(args))
	for i, a := range args {
		if a.Wide != nil {
			return interval.OfType(result), false
		}
		types[i], in[i] = a.Type, a.bounds()
	}
	return interval.Call(scalar.Lookup(name), result, types, in)
}

// bounded returns a value of a word within bounds.
func bounded(w value.Value, r interval.Interval) Value {
	return Value{Word: w, Lo: r.Lo, Hi: r.Hi, Bounded: r != interval.All}
}

// low returns the low 32 bits of a value's word. Sums and products are computed
// twice, in 32 bits and in 64, since LLVM drops what nothing uses: chains of
// either width then need no instructions between them.
func (b *Block) low(v Value) value.Value {
	if v.low != nil && v.lowOf == v.Word {
		return v.low
	}
	return b.trunc(v.Word, I32)
}

// withLow returns a value with the low half of its word.
func (v Value) withLow(low value.Value) Value {
	v.low, v.lowOf = low, v.Word
	return v
}

// extended32 is the value of a number of 32 bits.
func (b *Block) extended32(x value.Value, unsigned bool, r interval.Interval) Value {
	if unsigned {
		return bounded(b.zext(x, I64), r).withLow(x)
	}
	return bounded(b.sext(x, I64), r).withLow(x)
}

// fits32 reports whether 32 bits hold all words within the bounds.
func fits32(bounds ...interval.Interval) bool {
	for _, r := range bounds {
		if !(interval.Interval{Lo: math.MinInt32, Hi: math.MaxInt32}).Covers(r) {
			return false
		}
	}
	return true
}

// size returns an n for which -2^n <= v < 2^n, at most 127.
func (v Value) size() int {
	switch {
	case v.Wide != nil && v.wideBits > 0:
		return v.wideBits
	case v.Wide != nil:
		return 127
	case v.Type == scalar.UintType && v.bounds() == interval.All:
		return 64
	}
	r := v.bounds()
	return max(bits.Len64(uint64(r.Lo^r.Lo>>63)), bits.Len64(uint64(r.Hi^r.Hi>>63)))
}
