package scalar

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKeyLiteral(t *testing.T) {
	wide := WideDecimalOf(2)
	for _, c := range []struct {
		v    Value
		want string
	}{
		{OfInt(IntType, -12), "-12"},
		{OfInt(IntOf(8), -128), "-128"},
		{OfBits(UintType, math.MaxUint64), "18446744073709551615"},
		{OfDecimal(2, 150), "1.50"},
		{OfDecimal(0, 1), "1d"},
		{OfInt128(wide, Int128Of(150)), "1.50"},
		{OfFloat(FloatType, 1.5), "1.5f"},
		{OfFloat(Type{Kind: Float, Bits: 32}, 1e30), "1e+30f"},
		{OfFloat(FloatType, math.Inf(-1)), "-inf"},
		{OfFloat(FloatType, math.NaN()), "nan"},
		{OfString("a\"b\\\n\u0001é, ]"), `"a\"b\\\n\u0001é, ]"`},
		{OfBool(true), "true"},
	} {
		if got := KeyLiteral(c.v); got != c.want {
			t.Errorf("KeyLiteral is %s, want %s", got, c.want)
		}
	}
}

// TestKeyLiteralReadsBack reads the literals of random values in front of what
// can follow them in a term.
func TestKeyLiteralReadsBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, typ := range append(slices.Clone(allTypes), WideDecimalOf(0), WideDecimalOf(20)) {
		for range 1000 {
			v := randomValue(r, typ)
			if typ.IsWide() {
				v = OfInt128(typ, Int128{Hi: int64(r.Uint64()) >> 8, Lo: r.Uint64()})
			}
			text := KeyLiteral(v)
			for _, rest := range []string{"", ", 1]", "]", " ]"} {
				got, n, err := ScanKey(typ, text+rest)
				if err != nil || n != len(text) || Literal(got) != Literal(v) {
					t.Fatalf("%s of type %s is read as %s, %d bytes, %v", text+rest, typ,
						Literal(got), n, err)
				}
			}
		}
	}
}

func TestScanKeyRefuses(t *testing.T) {
	for _, c := range []struct {
		t Type
		s string
	}{
		{IntType, "1.5"}, {IntOf(8), "128"}, {UintType, "-1"}, {StringType, "a"},
		{StringType, `"a`}, {DatetimeType, "1998-09-02"}, {BooleanType, "truely"},
		{IntType, ""}, {DecimalOf(2), "1.505"}, {IntType, "1d"}, {DecimalOf(2), "1f"},
	} {
		if v, n, err := ScanKey(c.t, c.s); err == nil {
			t.Errorf("%q is read as %s of type %s, %d bytes", c.s, Literal(v), c.t, n)
		}
	}
}
