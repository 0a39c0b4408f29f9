package randvalue

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Types has a type of each kind and width.
var Types = []scalar.Type{
	scalar.BooleanType, scalar.IntType, scalar.IntOf(8), scalar.IntOf(16), scalar.IntOf(32),
	scalar.UintType, scalar.UintOf(8), scalar.UintOf(16), scalar.UintOf(32),
	scalar.FloatType, {Kind: scalar.Float, Bits: 32}, scalar.DecimalType, scalar.DecimalOf(0),
	scalar.DecimalOf(2), scalar.DecimalOf(18),
	scalar.DatetimeType, scalar.StringType,
}

// Of returns a value that is often extreme, small or ugly.
func Of(rng *rand.Rand, t scalar.Type) scalar.Value {
	extremes := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32, 127,
		-128, 255, 256, 65535, 65536}
	n := extremes[rng.IntN(len(extremes))]
	switch rng.IntN(4) {
	case 0:
		n = rng.Int64N(100)
	case 1:
		n = int64(rng.Uint64())
	case 2:
		n = rng.Int64N(1<<40) - 1<<39
	}
	switch t.Kind {
	case scalar.Boolean:
		return scalar.OfBool(n&1 == 0)
	case scalar.Int, scalar.Uint:
		return scalar.OfInt(t, n)
	case scalar.Decimal:
		return scalar.OfBits(t, uint64(n))
	case scalar.Datetime:
		const years = 9000 * 366
		switch rng.IntN(3) {
		case 0:
			n = rng.Int64N(years) * scalar.MicrosPerDay
		case 1:
			n = rng.Int64N(years*86400) * 1_000_000
		default:
			n = rng.Int64N(years*scalar.MicrosPerDay) - 1000*366*scalar.MicrosPerDay
		}
		return scalar.OfDatetime(n)
	case scalar.Float:
		specials := []float64{0, math.Copysign(0, -1), 1.5, -1e-300, 1e300, math.Inf(1),
			math.Inf(-1),
			math.NaN(), 0.1}
		if rng.IntN(2) == 0 {
			return scalar.OfFloat(t, specials[rng.IntN(len(specials))])
		}
		return scalar.OfFloat(t, math.Float64frombits(rng.Uint64()))
	}
	pieces := []string{"", "a", "b", "\t", "\n", "\r", "\\", "t", "n", "\"", ",", "|", "é", "日本",
		"\ufeff", " ", "()", "longer than eight bytes", "0"}
	var s strings.Builder
	for range rng.IntN(5) {
		s.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return scalar.OfString(s.String())
}
