package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFloatDigits adds up floats by their digits, and compares the sum with the
// exact one, rounded once.
func TestFloatDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		low := 1 + rng.IntN(InfiniteExponent-1)
		high := min(low+rng.IntN(MostDigitSpread+1), InfiniteExponent-1)
		var sums [FloatDigits]int64
		exact := new(big.Float).SetPrec(3000)
		n := 1 + rng.IntN(20)
		times := int64(1) // a term may come up many times
		if rng.IntN(4) == 0 {
			times = MostDigitTerms / 20
		}
		for range n {
			word := uint64(low+rng.IntN(high-low+1))<<fractionBits | rng.Uint64()>>12
			switch rng.IntN(8) {
			case 0:
				word |= 1<<fractionBits - 1 // the greatest of its exponent
			case 1:
				word &^= 1<<fractionBits - 1
			case 2:
				if low == 1 {
					word &= 1<<fractionBits - 1 // subnormal, or 0
				}
			}
			f := math.Float64frombits(word)
			if rng.IntN(2) == 0 {
				f = -f
			}
			exact.Add(exact, new(big.Float).SetPrec(3000).Mul(big.NewFloat(f),
				big.NewFloat(float64(times))))
			for k := range FloatDigits {
				d, _ := Lookup("float_digit").Eval(IntType, []Value{OfFloat(FloatType, f),
					OfInt(IntType, int64(low)), OfInt(IntType, int64(k))})
				sums[k] += times * d.Int()
			}
		}
		args := make([]Value, 0, FloatDigits+1)
		for _, s := range sums {
			args = append(args, OfInt(IntType, s))
		}
		got, ok := Lookup("float_of_digits").Eval(FloatType,
			append(args, OfInt(IntType, int64(low))))
		if want, _ := exact.Float64(); !ok || got.Float() != want {
			t.Fatalf("%d terms of exponents %d to %d, %d times: %v, want %v", n, low, high, times,
				got.Float(), want)
		}
	}
}

// TestFloatExponent has each float as a whole number of its unit.
func TestFloatExponent(t *testing.T) {
	for _, f := range []float64{1, -0.1, 5e-324, math.SmallestNonzeroFloat64 * 3, 1 << 60,
		math.MaxFloat64, math.Inf(-1), math.NaN()} {
		e, ok := Lookup("float_exponent").Eval(IntType, []Value{OfFloat(FloatType, f)})
		if !ok {
			t.Errorf("%v has no exponent", f)
		}
		if math.IsInf(f, 0) || f != f {
			if e.Int() != InfiniteExponent {
				t.Errorf("%v has the exponent %d", f, e.Int())
			}
			continue
		}
		number := math.Abs(math.Ldexp(math.Ldexp(f, 600), 1075-600-int(e.Int())))
		if e.Int() > 1000 {
			number = math.Abs(math.Ldexp(f, 1075-int(e.Int())))
		}
		if number != math.Trunc(number) || number >= 1<<53 {
			t.Errorf("%v is %v of the exponent %d", f, number, e.Int())
		}
	}
}
