package scalar

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomWide returns a decimal of up to 38 digits.
func randomWide(r *rand.Rand, t Type) Value {
	n, _ := random128(r).Quo(Pow10(1 + r.IntN(30)))
	return OfInt128(t, n)
}

// TestWords holds that words order as the decimals that they are of, and that
// these can be made of them again.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	typ := WideDecimalOf(2)
	var values []Value
	for _, n := range []Int128{{}, Int128Of(1), Int128Of(-1), Int128Of(math.MaxInt64),
		Int128Of(math.MinInt64), {Hi: 1}, {Hi: -1}, Uint128Of(math.MaxUint64)} {
		values = append(values, OfInt128(typ, n))
	}
	for range 300 {
		values = append(values, randomWide(r, typ))
	}
	for _, a := range values {
		high, low := a.Words()
		if b := JoinWords(2, high.Int(), low.Int()); b != a {
			t.Fatalf("%s becomes %s", Literal(a), Literal(b))
		}
		for _, b := range values {
			high2, low2 := b.Words()
			if got := cmp.Or(Compare(high, high2), Compare(low, low2)); got != Compare(a, b) {
				t.Fatalf("the words of %s and %s compare as %d", Literal(a), Literal(b), got)
			}
		}
		row := []Value{OfBool(true), a, OfString("x"), a}
		if split := SplitRow(row); len(split) != 6 || !slices.Equal(JoinedRow(split), row) {
			t.Fatalf("%v is split to %v", row, split)
		}
	}
}

// TestWideTexts reads what is written, as a literal, as a field and word by
// word.
func TestWideTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	for range 2000 {
		typ := WideDecimalOf(uint8(r.IntN(MaxWideScale + 1)))
		v := randomWide(r, typ)
		text := Format(v)
		if got, err := ParseText(typ, text); got != v || err != nil {
			t.Fatalf("%s is read as %v, %v", text, got, err)
		}
		if got, err := ParseLiteral(Literal(v)); got != v || err != nil {
			t.Fatalf("%s is read as %v, %v", Literal(v), got, err)
		}
		high, low := v.Words()
		for _, want := range []Value{high, low} {
			if got, err := ParseWord(want.Type, text); got != want.Bits() || err != nil {
				t.Fatalf("a word of %s is read as %d, %v", text, int64(got), err)
			}
			if got, err := ParseLiteral(Literal(want)); got != want || err != nil {
				t.Fatalf("%s is read as %v, %v", Literal(want), got, err)
			}
		}
		number, _ := new(big.Rat).SetString(text)
		unscaled := new(big.Rat).Mul(number, new(big.Rat).SetInt(big128(Pow10(int(typ.Scale)))))
		if !unscaled.IsInt() || unscaled.Num().Cmp(big128(v.Int128())) != 0 {
			t.Fatalf("%s is not %s of scale %d", text, v.Int128(), typ.Scale)
		}
		if typ, ok := ParseType(v.Type.String()); !ok || typ != v.Type {
			t.Fatalf("the type %s is read as %s", v.Type, typ)
		}
	}
	for text, want := range map[string]string{
		"": "found nothing", "-": "write digits", "1.": "write digits", ".5": "write digits",
		"1e3": "write digits", "--1": "write digits", "1.2.3": "write digits",
		"0.001":                                             "more than 2 digits after the point",
		"1234567890123456789012345678901234567":             "more than 38 digits",
		"-999999999999999999999999999999999999.5":           "",
		"000000000000000000000000000000000000000000001.500": "",
	} {
		_, err := ParseText(WideDecimalOf(2), text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
	for text, typ := range map[string]Type{
		"1.25": DecimalOf(2), "-999999999999999999": DecimalOf(0),
		"1000000000000000000":   WideDecimalOf(0),
		"0.1234567890123456789": WideDecimalOf(19), "99999999999999999.99": WideDecimalOf(2),
	} {
		if v, err := ParseDecimal(text); v.Type != typ || err != nil || Format(v) != text {
			t.Errorf("%s is %s, %v", text, Literal(v), err)
		}
	}
}
