package scalar

import "math"

// anyForm is convert's overload for callers that build the call themselves and
// choose the result type: the type stays.
func anyForm(args []Type) ([]Type, Type, error) { return args, args[0], nil }

// evalConvert is implicit widening and every X:Y:convert. A number that the
// target cannot hold and a text that does not denote one have no value. Lost
// digits round half away from zero.
func evalConvert(to Type, args []Value) (Value, bool) {
	v := args[0]
	from := v.Type
	if from == to {
		return v, true
	}
	switch to.Kind {
	case String:
		return OfString(Format(v)), true
	case Int, Uint:
		switch from.Kind {
		case Boolean:
			return OfInt(to, v.Int()), true
		case Float:
			return floatToInteger(to, v.Float())
		case Decimal, Int, Uint:
			n, ok := v.Int128().Rescale(int(from.Scale), 0)
			if !ok || !integerFits(to, n) {
				return Value{}, false
			}
			return OfInt(to, n.Int64()), true
		}
	case Float:
		switch from.Kind {
		case Float:
			return OfFloat(to, v.Float()), true
		case Decimal, Int, Uint:
			return OfFloat(to, v.Int128().Float64()/math.Pow10(int(from.Scale))), true
		}
	case Decimal:
		switch from.Kind {
		case Float:
			return floatToDecimal(to, v.Float())
		case Decimal, Int, Uint:
			n, ok := v.Int128().Rescale(int(from.Scale), int(to.Scale))
			return OfInt128(to, n), ok
		}
	}
	if from.Kind == String {
		if to.Word != Whole {
			// The text denotes a wide decimal.
			r, err := ParseText(to.Joined(), v.str)
			return r.Part(to), err == nil
		}
		r, err := ParseText(to, v.str)
		return r, err == nil
	}
	return Value{}, false
}

func integerFits(t Type, n Int128) bool {
	lo, hi := integerRange(t)
	return n.Cmp(lo) >= 0 && n.Cmp(hi) <= 0
}

// integerRange returns the least and greatest number of an integer type.
func integerRange(t Type) (lo, hi Int128) {
	if t.Kind == Uint {
		return Int128{}, Uint128Of(math.MaxUint64 >> (64 - uint(t.Bits)))
	}
	least := int64(math.MinInt64) >> (64 - uint(t.Bits))
	return Int128Of(least), Int128Of(^least)
}

// int128OfFloat returns the number that a whole float of less than 2^127 is.
func int128OfFloat(f float64) Int128 {
	mantissa, exponent := math.Frexp(math.Abs(f)) // of 53 bits
	n := Uint128Of(uint64(math.Ldexp(mantissa, 53)))
	switch shift := exponent - 53; {
	case exponent > 127 || f != f:
		return Int128{}
	case shift < 0:
		n.Lo >>= uint(-shift)
	case shift < 64:
		n = Int128{Hi: int64(n.Lo >> (64 - uint(shift))), Lo: n.Lo << uint(shift)}
	default:
		n = Int128{Hi: int64(n.Lo << uint(shift-64))}
	}
	if f < 0 {
		n, _ = n.Neg()
	}
	return n
}

func floatToInteger(t Type, f float64) (Value, bool) {
	f = math.Round(f)
	// 2^63 and 2^64 are floats, the greatest integers are not: compare with <.
	switch {
	case t.Kind == Int && f >= -0x1p63 && f < 0x1p63:
		n := int64(f)
		return OfInt(t, n), integerFits(t, Int128Of(n))
	case t.Kind == Uint && f >= 0 && f < 0x1p64:
		n := uint64(f)
		return OfInt(t, int64(n)), integerFits(t, Uint128Of(n))
	}
	return Value{}, false
}

// WideFloat is the greatest float with 38 digits before the point. It is 10^38
// rounded, downwards; the next one has 39.
const WideFloat = 1e38

// floatToDecimal multiplies by the power of ten in double precision and then
// rounds, which every engine can do alike. Results need 64 bits, those of wide
// decimals 38 digits.
func floatToDecimal(t Type, f float64) (Value, bool) {
	f = math.Round(f * math.Pow10(int(t.Scale)))
	if t.IsWide() {
		return OfInt128(t, int128OfFloat(f)), math.Abs(f) <= WideFloat
	}
	if f >= -0x1p63 && f < 0x1p63 {
		return OfDecimal(t.Scale, int64(f)), true
	}
	return Value{}, false
}
