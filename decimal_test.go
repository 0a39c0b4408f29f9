package redfox

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// randomDecimal returns a decimal of any scale, often one of few digits.
func randomDecimal(t *testing.T, r *rand.Rand) Decimal {
	t.Helper()
	n := new(big.Int).SetUint64(r.Uint64())
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Uint64()))
	n.Rem(n, bigPower(1+r.IntN(38)))
	if r.IntN(2) == 0 {
		n.Neg(n)
	}
	d, err := DecimalFromBig(n, r.IntN(39))
	if err != nil {
		t.Fatal(err)
	}
	if d.Unscaled().Cmp(n) != 0 {
		t.Fatalf("%v became %v", n, d.Unscaled())
	}
	return d
}

// TestDecimalAgainstBig compares conversions, comparison and rounding with
// those of math/big.
func TestDecimalAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		d, e := randomDecimal(t, r), randomDecimal(t, r)
		rat := new(big.Rat).SetFrac(d.Unscaled(), bigPower(d.Scale()))
		if d.Rat().Cmp(rat) != 0 || d.String() != rat.FloatString(d.Scale()) {
			t.Fatalf("%v is not %v", d, rat)
		}
		if again, err := ParseDecimal(d.String()); err != nil || again != d {
			t.Fatalf("%v reads as %v, %v", d, again, err)
		}
		if want := d.Rat().Cmp(e.Rat()); d.Cmp(e) != want || e.Cmp(d) != -want {
			t.Fatalf("%v against %v is %d, not %d", d, e, d.Cmp(e), want)
		}
		if got, _ := rat.Float64(); d.Float64() != got || d.Sign() != rat.Sign() {
			t.Fatalf("%v is %v, sign %d", d, d.Float64(), d.Sign())
		}
		scale := r.IntN(39)
		rounded, err := d.Rescale(scale)
		want := rat.FloatString(scale) // which rounds halves away from zero
		digits := strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(want), "0")
		switch {
		case (err != nil) != (len(digits) > 38):
			t.Fatalf("%v with %d digits after the point: %v, %v", d, scale, rounded, err)
		case err == nil && rounded.Rat().Cmp(rationalOf(t, want)) != 0:
			t.Fatalf("%v with %d digits after the point is %v, not %s", d, scale, rounded, want)
		}
	}
}

func rationalOf(t *testing.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is no number", text)
	}
	return r
}

// TestDecimalErrors wants an error of each number that no decimal holds.
func TestDecimalErrors(t *testing.T) {
	most := new(big.Int).Sub(bigPower(38), big.NewInt(1))
	if d, err := DecimalFromBig(most, 0); err != nil || d.Unscaled().Cmp(most) != 0 {
		t.Errorf("%v, %v", d, err)
	}
	_, scale := NewDecimal(1, 39)
	_, negative := NewDecimal(1, -1)
	_, large := DecimalFromBig(bigPower(38), 0)
	_, small := DecimalFromBig(new(big.Int).Neg(bigPower(38)), 0)
	_, ratio := DecimalFromRat(big.NewRat(1, 1), 38)
	_, text := ParseDecimal("1,5")
	_, exponent := ParseDecimal("1e3")
	_, empty := ParseDecimal("")
	_, digits := ParseDecimal(strings.Repeat("9", 39))
	for want, err := range map[string]error{
		"39 is no scale of a decimal; scales are 0 to 38":                  scale,
		"-1 is no scale of a decimal; scales are 0 to 38":                  negative,
		"100000000000000000000000000000000000000 has more than 38 digits":  large,
		"-100000000000000000000000000000000000000 has more than 38 digits": small,
		"1" + strings.Repeat("0", 38) + " has more than 38 digits ":        ratio,
		`"1,5" is no decimal; write at most 38 digits`:                     text,
		`"1e3" is no decimal`: exponent,
		`"" is no decimal`:    empty,
		`9" is no decimal`:    digits,
	} {
		var lack *EnvironmentError
		if !errors.As(err, &lack) || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("the error is %v, not %s", err, want)
		}
	}
}

// TestDecimalText writes and reads decimals in JSON.
func TestDecimalText(t *testing.T) {
	type order struct{ Price Decimal }
	price, err := NewDecimal(-5, 3)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(order{price})
	if err != nil || string(text) != `{"Price":"-0.005"}` {
		t.Fatalf("%s, %v", text, err)
	}
	var again order
	if err := json.Unmarshal(text, &again); err != nil || again.Price != price {
		t.Errorf("%v, %v", again, err)
	}
	if err := json.Unmarshal([]byte(`{"Price":"x"}`), &again); err == nil {
		t.Error("x is a decimal")
	}
	if got := DecimalFromInt(math.MinInt64).String(); got != "-9223372036854775808" {
		t.Error(got)
	}
	if got := (Decimal{}).String(); got != "0" {
		t.Error(got)
	}
}

// TestDecimalFillsExactly wants decimals to fill types without rounding.
func TestDecimalFillsExactly(t *testing.T) {
	for _, tt := range []struct{ decimal, typ, want string }{
		{"1.50", "decimal[18,1]", "1.5"},
		{"1.55", "decimal[18,1]", ""},
		{"1.5", "decimal[38,20]", "1.50000000000000000000"},
		{"92233720368547758.07", "decimal[18,2]", "92233720368547758.07"},
		{"92233720368547758.08", "decimal[18,2]", ""},
		{"92233720368547758.08", "decimal[38,2]", "92233720368547758.08"},
		{"7.0", "int", ""}, {"7", "int", "7"}, {"-7", "uint", ""}, {"0.5", "float", "0.5"},
	} {
		d, err := ParseDecimal(tt.decimal)
		typ, ok := scalar.ParseType(tt.typ)
		if err != nil || !ok {
			t.Fatal(tt, err)
		}
		v, err := d.value(typ)
		if (err != nil) != (tt.want == "") || err == nil && scalar.Format(v) != tt.want {
			t.Errorf("%s as %s: %v, %v", tt.decimal, tt.typ, v, err)
		}
	}
}
