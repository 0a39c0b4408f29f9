package read

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlainNumber compares numbers that are written out with their values.
func TestPlainNumber(t *testing.T) {
	for text, want := range map[string]string{
		"1.0": "1", "-0": "-0", "0.0": "0", "12e3": "12000", "-10e-1": "-1", "1.25E-3": "0.00125",
		"0e5": "0", "1e101": "", "1e99999999999999999999": "", "0.10": "0.1", "100e-2": "1",
	} {
		if got := plainNumber(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		text := fmt.Sprint(rng.Int64N(2_000_000) - 1_000_000)
		if rng.IntN(2) == 0 {
			text += fmt.Sprintf(".%0*d", 1+rng.IntN(4), rng.IntN(10_000))
		}
		if rng.IntN(2) == 0 {
			text += fmt.Sprintf("e%d", rng.IntN(30)-15)
		}
		want, _ := new(big.Rat).SetString(text)
		got, ok := new(big.Rat).SetString(plainNumber(text))
		if !ok || got.Cmp(want) != 0 || strings.ContainsAny(plainNumber(text), "e") {
			t.Fatalf("%s is %q", text, plainNumber(text))
		}
	}
}
