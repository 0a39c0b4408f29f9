package scalar

import (
	"cmp"
	"math"
	"strings"
)

// Compare returns -1, 0 or 1 by the total order of the values' type: numbers by
// size, false before true, strings by bytes of UTF-8. NaN equals itself and
// comes after every other float, so that sets and sorts need no special case.
// Values of different types are ordered by type.
func Compare(a, b Value) int {
	if a.Type != b.Type {
		return cmp.Or(
			cmp.Compare(a.Type.Kind, b.Type.Kind),
			cmp.Compare(a.Type.Bits, b.Type.Bits),
			cmp.Compare(a.Type.Scale, b.Type.Scale),
			cmp.Compare(a.Type.Word, b.Type.Word))
	}
	switch a.Type.Kind {
	case String:
		return strings.Compare(a.str, b.str)
	case Float:
		return CompareFloat(a.Float(), b.Float())
	case Uint, Boolean:
		return cmp.Compare(a.word, b.word)
	case Decimal:
		return a.Int128().Cmp(b.Int128())
	}
	return cmp.Compare(int64(a.word), int64(b.word))
}

// CompareFloat orders floats as Compare does.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a: // b is NaN
		return -1
	case b == b: // a is NaN
		return 1
	}
	return 0
}

// Ordered maps the 64-bit pattern of a value to a word that orders as a signed
// number as the values of the kind do, NaN after all floats. It is its own
// inverse. All kinds but Uint and Float order so already; the codes of a
// dictionary do if it is sorted.
func Ordered(k Kind, word int64) int64 {
	switch k {
	case Uint:
		return word ^ math.MinInt64
	case Float:
		// Negative floats order by descending magnitude.
		return word ^ int64(uint64(word>>63)>>1)
	}
	return word
}
