package bitset

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSet compares random operations with those of a map.
func TestSet(t *testing.T) {
	const n = 150
	rng := rand.New(rand.NewPCG(1, 1))
	random := func() (Set, map[int]bool) {
		s, m := New(n), map[int]bool{}
		for range rng.IntN(2 * n) {
			i := rng.IntN(n)
			if rng.IntN(3) > 0 {
				s.Add(i)
				m[i] = true
			} else {
				s.Remove(i)
				delete(m, i)
			}
		}
		return s, m
	}
	for range 300 {
		a, inA := random()
		b, inB := random()
		union, common, rest := a.Clone(), a.Clone(), a.Clone()
		grew, shrank := union.AddAll(b), common.KeepAll(b)
		rest.RemoveAll(b)
		all, any := true, false
		for i := range n {
			if a.Has(i) != inA[i] {
				t.Fatalf("%d is in a: %v", i, a.Has(i))
			}
			if union.Has(i) != (inA[i] || inB[i]) || common.Has(i) != (inA[i] && inB[i]) ||
				rest.Has(i) != (inA[i] && !inB[i]) {
				t.Fatalf("%d: union %v, common %v, rest %v", i, union.Has(i), common.Has(i),
					rest.Has(i))
			}
			all = all && (inA[i] || !inB[i])
			any = any || inA[i] && !inB[i]
		}
		if a.HasAll(b) != all || grew == all || shrank != any {
			t.Fatalf("has all %v, grew %v, shrank %v", a.HasAll(b), grew, shrank)
		}
		members := slices.Collect(a.Members)
		if len(members) != len(inA) || !slices.IsSorted(members) {
			t.Fatalf("%d members, not %d", len(members), len(inA))
		}
	}
}
