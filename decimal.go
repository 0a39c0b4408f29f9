package redfox

import (
	"fmt"
	"math/big"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Decimal is an exact decimal number: an unscaled integer of up to 38 digits
// divided by 10^Scale. The scale is 0 to 38. The zero value is the number 0.
//
// Decimals hold the values of both widths of LogiQL's decimal: decimal[18,s],
// which decimal and decimal[n,s] with n of up to 18 stand for, and
// decimal[38,s]. A decimal that a result holds has the scale of its column. A
// decimal that is given as a fact must have no more digits than its column: it
// is never rounded.
//
// The operator == compares numbers of one scale; Cmp compares any two. A
// Decimal is written as text, also in JSON.
type Decimal struct {
	unscaled scalar.Int128
	scale    uint8
}

// NewDecimal returns unscaled divided by 10^scale: NewDecimal(1999, 2) is
// 19.99. The error is an *EnvironmentError if the scale is not 0 to 38.
func NewDecimal(unscaled int64, scale int) (Decimal, error) {
	if err := checkScale(scale); err != nil {
		return Decimal{}, err
	}
	return Decimal{scalar.Int128Of(unscaled), uint8(scale)}, nil
}

// DecimalFromInt returns an integer as a decimal of scale 0.
func DecimalFromInt(n int64) Decimal { return Decimal{unscaled: scalar.Int128Of(n)} }

// DecimalFromBig returns unscaled divided by 10^scale. The error is an
// *EnvironmentError if the scale is not 0 to 38, or the number has more than 38
// digits.
func DecimalFromBig(unscaled *big.Int, scale int) (Decimal, error) {
	if err := checkScale(scale); err != nil {
		return Decimal{}, err
	}
	if unscaled.CmpAbs(bigPower(scalar.MaxWideScale)) >= 0 {
		return Decimal{}, &EnvironmentError{
			Message: fmt.Sprintf("%v has more than %d digits", unscaled, scalar.MaxWideScale)}
	}
	var magnitude [16]byte
	unscaled.FillBytes(magnitude[:])
	var n scalar.Int128
	for _, b := range magnitude[:8] {
		n.Hi = n.Hi<<8 | int64(b)
	}
	for _, b := range magnitude[8:] {
		n.Lo = n.Lo<<8 | uint64(b)
	}
	if unscaled.Sign() < 0 {
		n, _ = n.Neg()
	}
	return Decimal{n, uint8(scale)}, nil
}

// DecimalFromRat returns the decimal of a scale that is nearest to a rational
// number, halves away from zero, as LogiQL rounds. The errors are those of
// DecimalFromBig.
func DecimalFromRat(r *big.Rat, scale int) (Decimal, error) {
	if err := checkScale(scale); err != nil {
		return Decimal{}, err
	}
	n := new(big.Int).Mul(r.Num(), bigPower(scale))
	// (2n + d) / 2d, of magnitudes, rounds a half up.
	n.Lsh(n, 1)
	if r.Sign() < 0 {
		n.Sub(n, r.Denom())
	} else {
		n.Add(n, r.Denom())
	}
	n.Quo(n, new(big.Int).Lsh(r.Denom(), 1))
	return DecimalFromBig(n, scale)
}

// ParseDecimal reads a number such as "-19.90": digits with at most one point
// and one sign, without an exponent. The scale is the number of digits after
// the point. The error is an *EnvironmentError if the text is no such number,
// or has more than 38 digits.
func ParseDecimal(text string) (Decimal, error) {
	v, err := scalar.ParseDecimal(text)
	if err != nil {
		return Decimal{}, &EnvironmentError{Message: fmt.Sprintf("%q is no decimal", text),
			Help: "write at most 38 digits, and a point between two of them", Err: err}
	}
	return decimalOf(v), nil
}

// Scale returns the number of digits after the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Unscaled returns the number multiplied by 10^Scale.
func (d Decimal) Unscaled() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(d.unscaled.Hi), 64)
	return n.Or(n, new(big.Int).SetUint64(d.unscaled.Lo))
}

// Rat returns the number as a fraction, exactly.
func (d Decimal) Rat() *big.Rat {
	return new(big.Rat).SetFrac(d.Unscaled(), bigPower(int(d.scale)))
}

// Float64 returns the nearest float64.
func (d Decimal) Float64() float64 {
	f, _ := d.Rat().Float64()
	return f
}

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int { return d.unscaled.Sign() }

// Cmp returns -1, 0 or 1 as d is less than, equal to or greater than e. Zeros
// at the end make no difference.
func (d Decimal) Cmp(e Decimal) int {
	if d.scale == e.scale {
		return d.unscaled.Cmp(e.unscaled)
	}
	return d.Rat().Cmp(e.Rat())
}

// Rescale returns the number with another scale. Fewer digits round halves away
// from zero. The errors are those of DecimalFromBig.
func (d Decimal) Rescale(scale int) (Decimal, error) { return DecimalFromRat(d.Rat(), scale) }

// String returns the number with all its digits after the point.
func (d Decimal) String() string { return d.unscaled.Text(int(d.scale)) }

// MarshalText returns what String returns.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDecimal reads.
func (d *Decimal) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDecimal(string(text))
	return err
}

// decimalOf returns the decimal of a value of either width.
func decimalOf(v scalar.Value) Decimal { return Decimal{v.Int128(), v.Type.Scale} }

// value returns the number as a value of a numeric type, exactly.
func (d Decimal) value(t scalar.Type) (scalar.Value, error) {
	if t.Kind == scalar.Decimal && t.Scale >= d.scale {
		n, ok := d.unscaled.Rescale(int(d.scale), int(t.Scale))
		if v := scalar.OfInt128(t, n); ok && v.Fits() {
			return v, nil
		}
	}
	return scalar.ParseText(t, d.String()) // which says why it does not fit
}

func checkScale(scale int) error {
	if scale < 0 || scale > scalar.MaxWideScale {
		return &EnvironmentError{
			Message: fmt.Sprintf("%d is no scale of a decimal", scale),
			Help:    fmt.Sprintf("scales are 0 to %d", scalar.MaxWideScale)}
	}
	return nil
}

// bigPower returns 10^n.
func bigPower(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
