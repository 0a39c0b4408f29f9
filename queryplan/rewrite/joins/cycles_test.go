package joins

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBlocks compares the parts of random hypergraphs with their definition:
// two edges are in one part if no column that is taken out separates them.
func TestBlocks(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		edges := make([][]string, 1+rng.IntN(8))
		which := make([]int, len(edges))
		for i := range edges {
			which[i] = i
			for range rng.IntN(4) {
				if col := fmt.Sprint("c", rng.IntN(7)); !slices.Contains(edges[i], col) {
					edges[i] = append(edges[i], col)
				}
			}
		}
		part := make([]int, len(edges))
		for k, block := range blocks(edges, which) {
			for _, i := range block {
				part[i] = k
			}
		}
		for i := range edges {
			for j := range edges {
				if got, want := part[i] == part[j], inseparable(edges, i, j); got != want {
					t.Fatalf("seed %d: edges %d and %d of %v in one part: %v, want %v", seed, i, j,
						edges, got,
						want)
				}
			}
		}
	}
}

// inseparable reports whether two edges are connected without any one column.
func inseparable(edges [][]string, from, to int) bool {
	for cut := -1; cut < 7; cut++ {
		reached := map[int]bool{from: true}
		for again := true; again; {
			again = false
			for i := range edges {
				for j := range edges {
					common := func(col string) bool {
						return col != fmt.Sprint("c", cut) && slices.Contains(edges[j], col)
					}
					if reached[i] && !reached[j] && slices.ContainsFunc(edges[i], common) {
						reached[j], again = true, true
					}
				}
			}
		}
		if !reached[to] {
			return false
		}
	}
	return true
}
