package expr

import (
	"math"
	"math/rand/v2"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// edgeWords are words at which arithmetic changes its behaviour.
var edgeWords = func() []int64 {
	out := []int64{0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 49, 50, 51, 63, 64, 99, 127, 128,
		149, 150, 250, 255, 256,
		math.MaxInt16, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1,
		1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	for p := int64(1000); p <= 1e18; p *= 1000 {
		out = append(out, p, p/2, p/2-1)
	}
	for _, w := range out[1:] {
		out = append(out, -w)
	}
	return append(out, math.MinInt64)
}()

// edgeFloats are floats at which functions of them do.
var edgeFloats = []float64{
	0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, -0.49999999999999994, 0.1, 1e-300,
	-1e300, math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 52, 1<<52 + 1,
	-(1<<52 + 1), 1<<53 - 1, 127.5, -128.5, 255.5, 256,
	0x1p63, -0x1p63, 0x1p64, math.Nextafter(0x1p63, 0), math.Nextafter(0x1p64, 0),
	math.Nextafter(-0x1p63, -0x1p64), 1e18, 4503599627370497.5,
	2147483647.5, -2147483648.5, 3.4e38, 1e-45, 16777217, 0.285, 1e10,
}

// dates are days of month ends, leap days and the ends of the calendar, and
// microseconds of the day.
var edgeTimes = func() []int64 {
	var out []int64
	for _, day := range []int64{
		scalar.DaysFromCivil(1970, 1, 1), scalar.DaysFromCivil(1969, 12, 31),
		scalar.DaysFromCivil(2000, 2, 29), scalar.DaysFromCivil(1996, 2, 29),
		scalar.DaysFromCivil(1900, 2, 28), scalar.DaysFromCivil(1900, 3, 1),
		scalar.DaysFromCivil(1996, 1, 31), scalar.DaysFromCivil(1996, 8, 31),
		scalar.DaysFromCivil(1998, 12, 31), scalar.DaysFromCivil(-1, 2, 28),
		scalar.DaysFromCivil(0, 2, 29), scalar.DaysFromCivil(1600, 12, 1),
	} {
		for _, rest := range []int64{0, 1, 3_600_000_000*23 + 59_999_999, scalar.MicrosPerDay - 1} {
			out = append(out, day*scalar.MicrosPerDay+rest)
		}
	}
	return append(out, math.MinInt64, math.MinInt64+1, math.MaxInt64, math.MaxInt64-1,
		math.MaxInt64-scalar.MicrosPerDay, math.MinInt64+40*scalar.MicrosPerDay)
}()

// edgeWides are decimals of up to 128 bits.
var edgeWides = func() []scalar.Int128 {
	var out []scalar.Int128
	for _, w := range edgeWords {
		out = append(out, scalar.Int128Of(w))
	}
	most := scalar.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	least := scalar.Int128{Hi: math.MinInt64}
	out = append(out, most, least, scalar.Uint128Of(math.MaxUint64), scalar.Uint128Of(1<<63),
		scalar.Int128{Hi: 1}, scalar.Int128{Hi: -1},
		scalar.Int128{Hi: math.MinInt64, Lo: 1}, scalar.Int128{Hi: 1 << 62},
		scalar.Int128{Hi: -1 << 62, Lo: 5})
	for n := 19; n <= 38; n++ {
		p := scalar.Pow10(n)
		minus, _ := p.Neg()
		half, _ := p.Quo(scalar.Int128Of(2))
		out = append(out, p, minus, half)
	}
	return out
}()

// edges returns the values of a type at which a function may go wrong.
func edges(a argument) []scalar.Value {
	t := a.Type
	var out []scalar.Value
	add := func(v scalar.Value) {
		if a.admits(v) {
			out = append(out, v)
		}
	}
	switch {
	case t.Kind == scalar.Boolean:
		add(scalar.OfBool(false))
		add(scalar.OfBool(true))
	case t.Kind == scalar.Float:
		for _, f := range edgeFloats {
			add(scalar.OfFloat(t, f))
		}
	case t.Kind == scalar.Datetime:
		for _, w := range edgeTimes {
			add(scalar.OfDatetime(w))
		}
	case t.Kind == scalar.Decimal && a.wide:
		for _, n := range edgeWides {
			add(scalar.OfInt128(t, n))
		}
	case t.Kind == scalar.Decimal:
		for _, w := range edgeWords {
			add(scalar.OfBits(t, uint64(w)))
		}
	default:
		seen := map[int64]bool{}
		for _, w := range edgeWords {
			if v := scalar.OfInt(t, w); !seen[v.Int()] {
				seen[v.Int()] = true
				add(v)
			}
		}
	}
	if a.bounded {
		add(scalar.OfBits(t, uint64(a.lo)))
		add(scalar.OfBits(t, uint64(a.hi)))
	}
	return out
}

// admits says whether a value is within the bounds of an argument.
func (a argument) admits(v scalar.Value) bool {
	return !a.bounded || int64(v.Bits()) >= a.lo && int64(v.Bits()) <= a.hi
}

// random returns any value of an argument.
func (a argument) random(r *rand.Rand) scalar.Value {
	t := a.Type
	w := int64(r.Uint64()) >> r.IntN(64)
	if a.bounded {
		w = a.lo + int64(r.Uint64N(uint64(a.hi)-uint64(a.lo)+1))
	}
	switch {
	case a.literal != nil:
		return *a.literal
	case t.Kind == scalar.Boolean:
		return scalar.OfBool(w&1 != 0)
	case t.Kind == scalar.Float:
		if r.IntN(2) == 0 {
			return scalar.OfFloat(t, float64(w)/float64(int64(1)<<r.IntN(40)))
		}
		return scalar.OfFloat(t, math.Float64frombits(r.Uint64()))
	case t.Kind == scalar.Datetime:
		return scalar.OfDatetime(w)
	case t.Kind == scalar.Decimal && a.wide:
		return scalar.OfInt128(t,
			scalar.Int128{Hi: int64(r.Uint64()) >> r.IntN(64), Lo: r.Uint64()})
	case t.Kind == scalar.Decimal:
		return scalar.OfBits(t, uint64(w))
	}
	return scalar.OfInt(t, w)
}
