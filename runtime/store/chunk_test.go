package store

import (
	"math/rand/v2"
	"testing"
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
