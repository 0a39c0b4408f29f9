package scalar

import "math/bits"

// meanForm types the mean of wide decimals.
func meanForm(args []Type) ([]Type, Type, error) {
	if !args[0].IsWide() || args[1] != args[0] || args[2] != IntType {
		return nil, Type{}, errNoForm
	}
	return args, WideDecimalOf(QuotientScale(args[0].Scale, 0)), nil
}

func evalMean(result Type, args []Value) (Value, bool) {
	unit := Pow10(int(result.Scale) - int(args[0].Type.Scale))
	mean, ok := meanOfWords(args[0].Int128(), args[1].Int128(), args[2].Int(), unit.Lo)
	return OfInt128(result, mean), ok
}

// meanOfWords returns unit times the mean of n numbers, rounded half away from
// zero, given the sums of their upper and lower words. A lower word is 2^63
// less than the half that it stands for (see Int128.LowWord), so the sum of the
// numbers is 2^64 high + low + 2^63 n. The sum, times a unit of up to 10^6, is
// below 2^212. It has no value unless n is positive and the mean fits 128 bits.
func meanOfWords(high, low Int128, n int64, unit uint64) (Int128, bool) {
	if n <= 0 {
		return Int128{}, false
	}
	count, sign := uint64(n), uint64(low.Hi>>63)
	sum := [4]uint64{0, high.Lo, uint64(high.Hi), uint64(high.Hi >> 63)}
	sum = add256(sum, [4]uint64{low.Lo, uint64(low.Hi), sign, sign})
	sum = add256(sum, [4]uint64{count << 63, count >> 1})
	negative := int64(sum[3]) < 0
	if negative {
		sum = add256([4]uint64{^sum[0], ^sum[1], ^sum[2], ^sum[3]}, [4]uint64{1})
	}
	var carry uint64
	for i, word := range sum {
		hi, lo := bits.Mul64(word, unit)
		var over uint64
		sum[i], over = bits.Add64(lo, carry, 0)
		carry = hi + over
	}
	var rest uint64
	for i := 3; i >= 0; i-- {
		sum[i], rest = bits.Div64(rest, sum[i], count)
	}
	if rest >= count-rest {
		sum = add256(sum, [4]uint64{1})
	}
	mean, ok := signed(uint128{sum[1], sum[0]}, negative)
	return mean, ok && sum[2]|sum[3] == 0
}

// add256 adds numbers of four words, least significant first, modulo 2^256.
func add256(a, b [4]uint64) [4]uint64 {
	var carry uint64
	for i := range a {
		a[i], carry = bits.Add64(a[i], b[i], carry)
	}
	return a
}
