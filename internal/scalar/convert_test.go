package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

func convert(v Value, to Type) (Value, bool) { return funcConvert.Eval(to, []Value{v}) }

// TestWideningLosesNothing converts values of every type to every wider one
// and, where the explicit conversion exists, back.
func TestWideningLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, from := range allTypes {
		for _, to := range allTypes {
			if !CanWiden(from, to) || to.Kind == Float && from.Kind != Float {
				continue
			}
			if common, ok := Common(from, to); !ok || common != to {
				t.Errorf("%s widens to %s, but their common type is %s", from, to, common)
			}
			for range 500 {
				v := randomValue(r, from)
				wide, ok := convert(v, to)
				if !ok || wide.Type != to {
					t.Fatalf("%s does not widen to %s", Literal(v), to)
				}
				if back, ok := convert(wide, from); !ok || back != v {
					t.Fatalf("%s widened to %s gives %s back", Literal(v), Format(wide),
						Literal(back))
				}
			}
		}
	}
}

// TestNumbersConvertOrFail holds conversions to integers and decimals against
// math/big: the nearest number, halves away from zero, or no value.
func TestNumbersConvertOrFail(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, from := range []Type{IntOf(8), IntType, UintType, DecimalOf(0), DecimalOf(2),
		DecimalOf(18)} {
		for _, to := range []Type{IntOf(8), IntOf(32), IntType, UintOf(8), UintType, DecimalOf(1),
			DecimalType} {
			for range 2_000 {
				v := randomValue(r, from)
				n := big128(v.Int128())
				scale := func(t Type) *big.Int {
					return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil)
				}
				want := roundedQuotient(n.Mul(n, scale(to)), scale(from))
				fits := true
				if to.Kind != Decimal {
					lo, hi := integerRange(to)
					fits = want.Cmp(big128(lo)) >= 0 && want.Cmp(big128(hi)) <= 0
				}
				got, ok := convert(v, to)
				if ok != fits || ok && big128(got.Int128()).Cmp(want) != 0 {
					t.Fatalf("%s to %s is %s, %t; want %s unscaled, %t", Literal(v), to,
						Format(got), ok, want, fits)
				}
			}
		}
	}
}

func TestFloatConversions(t *testing.T) {
	for _, c := range []struct {
		f    float64
		to   Type
		want string
	}{
		{0x1p63, IntType, ""}, {-0x1p63, IntType, "-9223372036854775808"}, {0x1p64, UintType, ""},
		{0x1p63, UintType, "9223372036854775808:uint"},
		{-0.4, UintType, "0:uint"}, {-0.5, UintType, ""}, {127.4, IntOf(8), "127:int[8]"},
		{127.5, IntOf(8), ""}, {-128.4, IntOf(8), "-128:int[8]"},
		{math.NaN(), IntType, ""}, {math.Inf(1), DecimalOf(2), ""}, {0.125, DecimalOf(2), "0.13"},
		{-0.125, DecimalOf(2), "-0.13"},
		{9.3e18, DecimalOf(0), ""}, {1e17, DecimalOf(2), ""},
		{1e16, DecimalOf(2), "10000000000000000.00"},
		{1e300, Type{Kind: Float, Bits: 32}, "inf:float[32]"},
		{1, BooleanType, ""}, {1, DatetimeType, ""},
	} {
		got := ""
		if v, ok := convert(OfFloat(FloatType, c.f), c.to); ok {
			got = Literal(v)
		}
		if got != c.want {
			t.Errorf("%g to %s is %q, want %q", c.f, c.to, got, c.want)
		}
	}
	// Digits that a float64 holds exactly make the nearest float.
	r := rand.New(rand.NewPCG(21, 22))
	for range 20_000 {
		v := OfDecimal(uint8(r.IntN(MaxScale+1)), r.Int64N(1<<53)-1<<52)
		got, _ := convert(v, FloatType)
		if want, err := strconv.ParseFloat(Format(v), 64); err != nil || got.Float() != want {
			t.Fatalf("%s as a float is %g, want %g", Literal(v), got.Float(), want)
		}
	}
}

func TestStringFunctionsAgainstRunes(t *testing.T) {
	texts := words(4, "a", "é", "𝄞")
	for _, s := range texts {
		runes := []rune(s)
		for start := int64(-2); start <= 5; start++ {
			for length := int64(-1); length <= 6; length++ {
				from := min(max(start, 0), int64(len(runes)))
				to := max(min(start+length, int64(len(runes))), from)
				if got := Substring(s, start, length); got != string(runes[from:to]) {
					t.Fatalf("substring[%q, %d, %d] = %q, want %q", s, start, length, got,
						string(runes[from:to]))
				}
			}
		}
		for _, part := range texts {
			v, _ := evalIndexOf(IntType, []Value{OfString(s), OfString(part)})
			want := int64(-1)
			for i := 0; i+len([]rune(part)) <= len(runes); i++ {
				if string(runes[i:i+len([]rune(part))]) == part {
					want = int64(i)
					break
				}
			}
			if v.Int() != want {
				t.Fatalf("indexof[%q, %q] = %d, want %d", s, part, v.Int(), want)
			}
		}
	}
	if Substring("abc", math.MinInt64, math.MaxInt64) != "" ||
		Substring("abc", 1, math.MaxInt64) != "bc" || Substring("abc", math.MaxInt64, 1) != "" {
		t.Error("substring overflows at the ends of int")
	}
}

func FuzzDatetimeFormats(f *testing.F) {
	f.Add(int64(904730400_000_000), "%Y-%m-%d %H:%M:%S%F %Q")
	f.Add(int64(-1), "%b %d %y %I %p %j %s%%")
	f.Fuzz(func(t *testing.T, micros int64, format string) {
		text, err := FormatDatetime(micros, format)
		if err != nil {
			if _, ok := ParseDatetime("", format); ok {
				t.Fatalf("%q is refused for writing but not for reading", format)
			}
			return
		}
		// The text read back may denote another moment, but must print alike.
		if v, ok := ParseDatetime(text, format); ok {
			if again, err := FormatDatetime(v.Int(), format); err == nil {
				if _, ok := ParseDatetime(again, format); !ok {
					t.Fatalf("%q is read by %q, but what it is written as, %q, is not", text,
						format, again)
				}
			}
		}
	})
}
