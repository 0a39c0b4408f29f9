package tables

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestTally counts random pairs by labels of one column or two and holds the
// counts against those of each pair, for several rounds of labels.
func TestTally(t *testing.T) {
	sparse, several := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		run := work.NewRun(context.Background(), 1+r.IntN(3), 0,
			work.Sizes{Vector: 4, SerialRows: 1 + r.IntN(9), Groups: 8})
		sources, groups := 1+r.IntN(30), 1+r.IntN(12)
		var pairs Keyed
		for range r.IntN(80) {
			pairs.Keys = append(pairs.Keys, uint64(r.IntN(sources)))
			pairs.Pays = append(pairs.Pays, uint64(r.IntN(groups)))
			pairs.N++
		}
		all := Keyed{Keys: slices.Clone(pairs.Keys), Pays: slices.Clone(pairs.Pays)}
		label := []interval.Interval{{Lo: -2, Hi: 3}, interval.All}[:1+r.IntN(2)]
		layout := func(n int) interval.Layout {
			return interval.NewLayout([]interval.Interval{{Lo: 0, Hi: int64(n)}})
		}
		g := &Grouping{Name: "test", Key: layout(groups)}
		y := NewTally(run, g, interval.NewLayout(label), NewFoldPairs(run, g,
			&Grouping{Name: "test", Key: layout(sources)}, []*Keyed{&pairs}))
		for round := range 3 {
			cols := make([][]int64, len(label))
			var keys []uint64
			of := map[uint64][2]int64{}
			for k := range uint64(sources + 1) { // one is in no pair
				if r.IntN(4) == 0 && round > 0 {
					continue
				}
				var l [2]int64
				for i := range cols {
					l[i] = r.Int64N(6) - 2
					cols[i] = append(cols[i], l[i])
				}
				keys, of[k] = append(keys, k), l
			}
			want := map[[3]int64]int64{}
			for i, k := range all.Keys {
				if l, has := of[k]; has {
					want[[3]int64{int64(all.Pays[i]), l[0], l[1]}]++
				}
			}
			y.Reset()
			if !y.Found(y.Put(keys, nil, make([]uint32, len(keys)), cols)) {
				sparse++
				continue
			}
			got := map[[3]int64]int64{}
			ranges := y.Ranges(run)
			several += len(ranges) - 1
			for _, c := range ranges {
				for k, count := range c.Counts {
					var row [3]int64
					read := func(layout *interval.Layout, keys []uint64, at uint32, to []int64) {
						for i := range layout.Fields {
							layout.UnpackAt(to[i:i+1], keys, []uint32{at}, i)
						}
					}
					l, words := y.Keys()
					read(l, words, c.Groups[k], row[:])
					l, words = y.Labels()
					read(l, words, c.Labels[k], row[1:])
					if got[row] != 0 {
						t.Fatalf("seed %d: %v twice", seed, row)
					}
					got[row] = int64(count)
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d, round %d: got %v, want %v", seed, round, got, want)
			}
			if len(label) == 1 {
				greatest := r.IntN(2) == 0
				got, want := modes(run, y, greatest), modesOf(want, greatest)
				if !maps.Equal(got, want) {
					t.Fatalf("seed %d, round %d: modes %v, want %v", seed, round, got, want)
				}
			}
		}
		y.Free(run.Mem)
	}
	if sparse == 0 || several == 0 {
		t.Errorf("%d rounds with few pairs, %d ranges beside the first", sparse, several)
	}
}

// modes returns the modes of all groups.
func modes(run *work.Run, y *Tally, greatest bool) map[int64]int64 {
	got := map[int64]int64{}
	for _, c := range y.Modes(run, scalar.Int, greatest) {
		group, label := make([]int64, len(c.Groups)), make([]int64, len(c.Groups))
		layout, keys := y.Keys()
		layout.UnpackAt(group, keys, c.Groups, 0)
		layout, keys = y.Labels()
		layout.UnpackAt(label, keys, c.Labels, 0)
		for i, g := range group {
			got[g] = label[i]
		}
		c.Free(run.Mem)
	}
	return got
}

// modesOf returns the modes by the counts of each group and label.
func modesOf(counts map[[3]int64]int64, greatest bool) map[int64]int64 {
	out, most := map[int64]int64{}, map[int64]int64{}
	for row, n := range counts {
		g, l := row[0], row[1]
		if n > most[g] || n == most[g] && (l > out[g]) == greatest {
			out[g], most[g] = l, n
		}
	}
	return out
}
