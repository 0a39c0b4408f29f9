package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortKeys sorts keys of any number of bits, below others that are equal.
func TestSortKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 65 {
		for _, rows := range []int{0, 1, smallSort + 1, fewKeys - 1, fewKeys + 100} {
			keys := make([]uint64, rows)
			above := uint64(0)
			if n < 64 {
				above = rng.Uint64() >> n << n
			}
			for i := range keys {
				keys[i] = above
				if n > 0 {
					keys[i] |= rng.Uint64() >> (64 - n) >> (rng.IntN(n) * rng.IntN(2))
				}
			}
			want := slices.Sorted(slices.Values(keys))
			if sortKeys(keys, make([]uint64, rows), n); !slices.Equal(keys, want) {
				t.Errorf("%d keys of %d bits are not in order", rows, n)
			}
		}
	}
}
