package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCommon compares with a look at all pairs.
func TestCommon(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lists := make([][]uint64, rng.IntN(5))
		for i := range lists {
			key := uint64(0)
			for range rng.IntN(50) {
				key += 1 + uint64(rng.IntN(1+rng.IntN(20)))
				lists[i] = append(lists[i], key)
			}
		}
		var got, want []string
		Common(lists, func(i, a, j, b int) { got = append(got, fmt.Sprint(i, a, j, b)) })
		for j := range lists {
			for b, key := range lists[j] {
				for i := range j {
					if a := slices.Index(lists[i], key); a >= 0 {
						want = append(want, fmt.Sprint(i, a, j, b))
						break
					}
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v of %v, want %v", seed, got, lists, want)
		}
	}
}
