package tables

import (
	"context"
	"math/rand/v2"
	"slices"
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

// TestPartitionedIndex builds indexes of more rows than a partition has, from
// the parts of several workers, with keys of one word and of several; a key
// that most rows have leaves one partition.
func TestPartitionedIndex(t *testing.T) {
	wide := interval.Interval{Lo: 0, Hi: 1 << 40}
	for name, c := range map[string]struct {
		keys       []interval.Interval
		skewed     bool
		partitions int
	}{
		"one word":         {[]interval.Interval{wide}, false, 8},
		"one word, skewed": {[]interval.Interval{wide}, true, 1},
		"two words":        {[]interval.Interval{wide, wide}, false, 8},
	} {
		rnd := rand.New(rand.NewPCG(11, 12))
		r := work.NewRun(context.Background(), 2, 0, work.DefaultSizes)
		x := &Index{Name: "x", Mem: r.Mem, Key: interval.NewLayout(c.keys),
			Pay: interval.NewLayout([]interval.Interval{{Lo: 0, Hi: 1 << 20}})}
		kw := x.Key.Words
		want := map[[2]uint64][]uint64{}
		var parts []*Keyed
		row := uint64(0)
		for _, n := range []int{20_000, 0, 40_000} {
			p := &Keyed{Keys: work.Alloc[uint64](r.Mem, "x", n*kw),
				Pays: work.Alloc[uint64](r.Mem, "x", n), N: n}
			for i := range n {
				key := [2]uint64{rnd.Uint64N(25_000) << 15}
				if c.skewed && rnd.IntN(3) > 0 {
					key[0] = 7
				}
				if kw > 1 {
					key[1] = rnd.Uint64N(2)
				}
				copy(p.Keys[i*kw:i*kw+kw], key[:])
				p.Pays[i] = row
				want[key] = append(want[key], row)
				row++
			}
			parts = append(parts, p)
		}
		x.Build(r, parts)
		if got := 1 << (64 - x.slots.part); got != c.partitions {
			t.Errorf("%s: %d partitions, not %d", name, got, c.partitions)
		}
		out := Runs{Start: make([]uint32, 1), Count: make([]uint32, 1)}
		for k := range uint64(26_000) {
			key := [2]uint64{k << 15}
			if kw > 1 {
				key[1] = k % 3
			}
			if k == 0 && c.skewed {
				key[0] = 7
			}
			x.Lookup(slices.Clone(key[:kw]), nil, 1, &out)
			var got []uint64
			for i := range out.Count[0] {
				got = append(got, uint64(x.narrow[out.Start[0]+i]))
			}
			if !slices.Equal(got, want[key]) {
				t.Fatalf("%s: key %v has the rows %v, not %v", name, key, got, want[key])
			}
		}
		x.Free()
		if held := r.Mem.Held(); held != 0 {
			t.Errorf("%s: %d bytes are held after the index is freed", name, held)
		}
	}
}
