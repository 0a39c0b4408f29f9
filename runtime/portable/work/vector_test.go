package work

import (
	"math"
	"testing"
)

// TestFloatWord holds that a float has one word, whatever its sign or payload.
func TestFloatWord(t *testing.T) {
	for _, test := range []struct {
		f    float64
		want uint64
	}{
		{0, 0},
		{math.Copysign(0, -1), 0},
		{-5e-324, 1<<63 | 1},
		{1, 0x3ff0000000000000},
		{math.Inf(-1), 0xfff0000000000000},
		{math.Float64frombits(0xfff8000000000123), math.Float64bits(math.NaN())},
	} {
		if got := FloatWord(test.f); uint64(got) != test.want {
			t.Errorf("the word of %v is %x, want %x", test.f, uint64(got), test.want)
		}
	}
}
