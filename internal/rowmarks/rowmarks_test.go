package rowmarks

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		for share := range 5 {
			list := make([]bool, n)
			want := []uint32{}
			for i := range list {
				if list[i] = rng.IntN(4) < share; list[i] {
					want = append(want, uint32(i))
				}
			}
			if got := Places(make([]uint32, n), list); !slices.Equal(got, want) {
				t.Fatalf("places of %v: %v, want %v", list, got, want)
			}
			values := make([]uint32, n)
			for i := range values {
				values[i] = uint32(i)
			}
			if got := values[:Compact(values, list)]; !slices.Equal(got, want) {
				t.Fatalf("Compact keeps %v of %v, want %v", got, list, want)
			}
			if got := Count(list); got != len(want) {
				t.Fatalf("%d marks in %v, want %d", got, list, len(want))
			}
		}
	}
}
