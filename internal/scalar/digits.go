package scalar

import "math"

// A sum of floats whose exponents are close to each other is a sum of whole
// numbers: each float is a few digits of a unit that all of them have, and
// digits are added without carries (pre-rounding: Demmel, Nguyen, 2015).
const (
	// FloatDigits is the number of digits of a float, and DigitBits their size.
	FloatDigits = 3
	DigitBits   = 40
	// MostFloatDigit is the greatest digit.
	MostFloatDigit = 1<<DigitBits - 1
	// MostDigitSpread is the greatest difference between the exponents of
	// floats that are digits of one unit, and MostDigitTerms bounds how many
	// are added up: a sum has 53 + 52 + 22 bits, and fits 128 with its sign.
	MostDigitSpread = 52
	MostDigitTerms  = 1 << 22
	// InfiniteExponent is the exponent of infinities and of NaN.
	InfiniteExponent = 0x7ff

	fractionBits = 52
)

// floatExponent returns the e for which a float other than 0 is a whole number,
// below 2^53, of 2^(e-1075).
func floatExponent(f float64) int64 {
	return max(int64(math.Float64bits(f)>>fractionBits&InfiniteExponent), 1)
}

func evalFloatExponent(result Type, args []Value) (Value, bool) {
	f := args[0].Float()
	return OfInt(result, floatExponent(f)), f != 0
}

func evalFloatDigit(result Type, args []Value) (Value, bool) {
	f, k := args[0].Float(), args[2].Int()
	shift := floatExponent(f) - args[1].Int()
	if shift < 0 || shift > MostDigitSpread || k < 0 || k >= FloatDigits {
		return OfInt(result, 0), true
	}
	word := math.Float64bits(f)
	m := word & (1<<fractionBits - 1)
	if word>>fractionBits&InfiniteExponent > 0 {
		m |= 1 << fractionBits
	}
	number := uint128{m >> (64 - shift), m << shift}
	at := uint(DigitBits * k)
	digit := int64((number.lo>>at | number.hi<<(64-at) | number.hi>>(at-64)) & MostFloatDigit)
	if f < 0 {
		digit = -digit
	}
	return OfInt(result, digit), true
}

func evalFloatOfDigits(result Type, args []Value) (Value, bool) {
	sum := Int128{}
	for k := range FloatDigits {
		d, at := args[k].Int(), uint(DigitBits*k)
		part := Int128{Hi: d >> (64 - at), Lo: uint64(d) << at}
		if at >= 64 {
			part.Hi = d << (at - 64)
		}
		sum, _ = sum.Add(part)
	}
	e := min(max(args[FloatDigits].Int(), 1), InfiniteExponent-1)
	return OfFloat(result, sum.Float64()*math.Ldexp(1, int(e)-1075)), true
}
