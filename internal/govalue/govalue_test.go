package govalue

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestRoundTrip converts Go values to types and back.
func TestRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		typ      string
		from, to any
	}{
		{"int", int8(-5), int64(-5)},
		{"int", "12", int64(12)},
		{"uint", uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{"float", 3, 3.0},
		{"boolean", true, true},
		{"string", "größe", "größe"},
		{"decimal[18,2]", Decimal{scalar.Int128Of(1999), 2}, Decimal{scalar.Int128Of(1999), 2}},
		{"datetime", time.UnixMicro(12).UTC(), time.UnixMicro(12).UTC()},
		// Values that do not fit.
		{"int", 1.5, nil}, {"int", "one", nil}, {"uint", -1, nil}, {"boolean", 1, nil},
		{"string", 1, nil}, {"int", nil, nil},
	} {
		typ, ok := scalar.ParseType(tt.typ)
		if !ok {
			t.Fatalf("there is no type %s", tt.typ)
		}
		v, err := To(typ, tt.from)
		switch {
		case (err != nil) != (tt.to == nil):
			t.Errorf("%v as %s: %v", tt.from, tt.typ, err)
		case err == nil && !reflect.DeepEqual(Of(v), tt.to):
			t.Errorf("%v as %s is %v, not %v", tt.from, tt.typ, Of(v), tt.to)
		}
	}
}
