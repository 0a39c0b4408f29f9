package scalar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestShortFloat compares numbers with those of strconv.
func TestShortFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "-", ".", "-.5", "1.", "0", "-0", "-0.0", "1..2", "1.2.3", "+1", "1e5",
		"999999999999999", "9999999999999999", "0.000000000000001", "12/3", "1:2"}
	for range 100_000 {
		texts = append(texts, strconv.FormatInt(rng.Int64()>>rng.IntN(64), 10)+"."+
			strconv.FormatInt(rng.Int64()>>(1+rng.IntN(63))&math.MaxInt64, 10))
	}
	taken := 0
	for _, text := range texts {
		got, ok := shortFloat(text)
		if !ok {
			continue
		}
		taken++
		want, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is %v, want %v", text, got, want)
		}
	}
	if taken < 10_000 {
		t.Errorf("only %d numbers are short", taken)
	}
}

// TestIsoDay compares days with their printed form, and changes a byte of each.
func TestIsoDay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		text := []byte(fmt.Sprintf("%04d-%02d-%02d", rng.IntN(10_000), rng.IntN(14), rng.IntN(33)))
		if rng.IntN(2) == 0 {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
		days, ok := isoDay(text)
		if !ok {
			continue
		}
		if back := Format(OfDatetime(days * MicrosPerDay)); back != string(text) {
			t.Fatalf("%s is %s", text, back)
		}
	}
	if _, ok := isoDay("2024-02-28"); !ok {
		t.Error("2024-02-28 is refused")
	}
}
