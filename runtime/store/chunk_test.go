package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

func TestExactDivision(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 10_000 {
		n := 1 + rng.Uint64()>>rng.IntN(64)
		by := divideBy(n)
		q := rng.Uint64() % by.limit
		if n == 1 {
			q = rng.Uint64()
		}
		if got := by.quotient(n * q); got != q || !by.divides(n*q) {
			t.Fatalf("%d / %d is %d, want %d, divides %v", n*q, n, got, q, by.divides(n*q))
		}
		if m := rng.Uint64() >> rng.IntN(64); by.divides(m) != (m%n == 0) {
			t.Fatalf("%d divides %d: %v", n, m, by.divides(m))
		}
	}
}

// TestJoinChunksOfLargeSteps joins chunks of words that lie more than 2^63
// apart, as the lower words of wide decimals may.
func TestJoinChunksOfLargeSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	low := scalar.Type{Kind: scalar.Decimal, Scale: 2, Bits: 128, Word: scalar.Low}
	large := 0
	for round := range 2000 {
		step := rng.Uint64() >> rng.IntN(33)
		if round%2 == 0 { // the words of -0.01, 0.00 and 42949672.97
			step = 1<<32 + 1
		}
		var words []int64
		var chunks []Chunk
		for range 1 + rng.IntN(3) {
			part := make([]int64, 1+rng.IntN(3))
			for i := range part {
				most := math.MaxUint64 / step
				part[i] = int64(1<<63 ^ step*[]uint64{0, 1, most, most - most/2}[rng.IntN(4)])
			}
			words = append(words, part...)
			chunks = append(chunks, Narrow(scalar.Decimal, part, 1))
		}
		col, err := Join(1, low, nil, chunks, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if col.Step < 0 {
			large++
		}
		layout := col.Layout()
		if err := layout.Check(); err != nil {
			t.Errorf("the layout of %d has %v", words, err)
		}
		got := make([]int64, len(words))
		if col.Read(got, 0); !slices.Equal(got, words) {
			t.Fatalf("%d became %d", words, got)
		}
	}
	if large == 0 {
		t.Error("no column has a step above 2^63")
	}
}
