package tables

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestHashedIndex probes an index of keys far apart, with keys of which few,
// then most, then few are there, so that its filter is used, left out and used
// again.
func TestHashedIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	r := work.NewRun(context.Background(), 1, 0, work.DefaultSizes)
	key := interval.NewLayout([]interval.Interval{{Lo: 0, Hi: 1 << 40}})
	x := &Index{Name: "x", Mem: r.Mem, Key: key, Pay: interval.NewLayout(nil)}
	counts := map[uint64]uint32{}
	var there []uint64
	part := &Keyed{Keys: work.Alloc[uint64](r.Mem, "x", 3000), N: 3000}
	for i := range part.Keys {
		k := rnd.Uint64N(1 << 40)
		if i%3 == 0 && i > 0 {
			k = part.Keys[i-1]
		}
		part.Keys[i] = k
		counts[k]++
		there = append(there, k)
	}
	x.Build(r, []*Keyed{part})
	if x.filter == nil {
		t.Fatal("the index has no filter")
	}
	const size = 100
	out := Runs{Start: make([]uint32, size), Count: make([]uint32, size)}
	keys, valid := make([]uint64, size), make([]bool, size)
	used := map[bool]int{}
	for batch := range 6 * filterBatches {
		share := 1 // of ten keys that are there
		if batch/(2*filterBatches) == 1 {
			share = 9
		}
		for i := range keys {
			keys[i], valid[i] = rnd.Uint64N(1<<40), rnd.IntN(4) > 0
			if rnd.IntN(10) < share {
				keys[i] = there[rnd.IntN(len(there))]
			}
		}
		tested := valid
		if batch%2 == 0 {
			tested = nil
		}
		tried := out.tried
		x.Lookup(keys, tested, size, &out)
		used[out.tried > tried || batch%filterBatches == 0]++
		for i, k := range keys {
			want := counts[k]
			if tested != nil && !tested[i] {
				want = 0
			}
			if out.Count[i] != want {
				t.Fatalf("batch %d: key %d is found %d times, want %d", batch, k, out.Count[i],
					want)
			}
		}
	}
	if want := 2 * (filterBatches - filterTrials); used[false] != want {
		t.Errorf("%d batches were without the filter, want %d", used[false], want)
	}
}
