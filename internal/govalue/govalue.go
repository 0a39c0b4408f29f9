package govalue

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Decimal is a value of a decimal type of either width: Unscaled divided by
// 10^Scale.
type Decimal struct {
	Unscaled scalar.Int128
	Scale    uint8
}

// String returns the number with all its digits after the point.
func (d Decimal) String() string { return d.Unscaled.Text(int(d.Scale)) }

// To converts a Go value to a type; it must fit.
func To(t scalar.Type, x any) (scalar.Value, error) {
	switch x := x.(type) {
	case scalar.Value:
		if x.Type == t {
			return x, nil
		}
		return scalar.ParseText(t, scalar.Format(x))
	case string:
		if t.Kind == scalar.String {
			return scalar.OfString(x), nil
		}
		return scalar.ParseText(t, x)
	case bool:
		if t.Kind == scalar.Boolean {
			return scalar.OfBool(x), nil
		}
	case time.Time:
		if t.Kind == scalar.Datetime {
			return scalar.OfDatetime(x.UnixMicro()), nil
		}
	case Decimal:
		if t.IsNumeric() {
			return scalar.ParseText(t, x.String())
		}
	}
	v := reflect.ValueOf(x)
	switch {
	case !t.IsNumeric() || !v.IsValid():
	case v.CanInt():
		return scalar.ParseText(t, fmt.Sprint(v.Int()))
	case v.CanUint():
		return scalar.ParseText(t, fmt.Sprint(v.Uint()))
	case v.CanFloat() && t.Kind == scalar.Float:
		if t.Bits == 32 && math.Abs(v.Float()) > math.MaxFloat32 && !math.IsInf(v.Float(), 0) {
			return scalar.Value{}, fmt.Errorf("%v does not fit %s", x, t)
		}
		return scalar.OfFloat(t, v.Float()), nil
	}
	return scalar.Value{}, fmt.Errorf("a Go %T does not convert to %s", x, t)
}

// Of returns the Go value of a value: int64, uint64, float64, bool, string,
// Decimal or time.Time.
func Of(v scalar.Value) any {
	switch v.Type.Kind {
	case scalar.Int:
		return v.Int()
	case scalar.Uint:
		return v.Bits()
	case scalar.Float:
		return v.Float()
	case scalar.Boolean:
		return v.Bool()
	case scalar.Decimal:
		return Decimal{Unscaled: v.Int128(), Scale: v.Type.Scale}
	case scalar.Datetime:
		return time.UnixMicro(v.Int()).UTC()
	}
	return v.Str()
}
