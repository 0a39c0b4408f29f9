package tables

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// foldSpecs are the accumulators of the test, each over floats or ints.
var foldSpecs = []AccSpec{
	{Fn: queryplan.Total, Type: scalar.FloatType, Bound: interval.All},
	{Fn: queryplan.Max, Type: scalar.FloatType, Bound: interval.All},
	{Fn: queryplan.Total, Type: scalar.IntType, Bound: interval.All},
	{Fn: queryplan.Total, Type: scalar.IntType, Bound: interval.Interval{Lo: -9, Hi: 9}},
	{Fn: queryplan.Total, Type: scalar.UintType, Bound: interval.All},
	{Fn: queryplan.Min, Type: scalar.IntType, Bound: interval.All},
}

// foldWord draws a value: of few magnitudes, so that sums need few bits, or of
// any.
func foldWord(r *rand.Rand, s AccSpec, wide bool) int64 {
	switch {
	case s.Type.Kind != scalar.Float && s.Bound != interval.All:
		return s.Bound.Lo + r.Int64N(s.Bound.Hi-s.Bound.Lo+1)
	case s.Type.Kind != scalar.Float && wide:
		return int64(r.Uint64())
	case s.Type.Kind != scalar.Float:
		return r.Int64N(1000)
	case wide:
		return work.FloatWord([]float64{1e300, -1e300, 5e-324, -1e-310, 0.1, math.MaxFloat64,
			math.Inf(1), math.Inf(-1), math.NaN(), 0}[r.IntN(10)])
	}
	return work.FloatWord(math.Ldexp(r.Float64()-0.5, r.IntN(60)))
}

// TestFold folds random pairs and holds the groups against tables that take the
// rows of the join one by one, for several rounds of values.
func TestFold(t *testing.T) {
	split, fused, sparse := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		threads := 1 + r.IntN(3)
		run := work.NewRun(context.Background(), threads, 0,
			work.Sizes{Vector: 4, SerialRows: 1 + r.IntN(9), Groups: 8})
		sources, groups := 1+r.IntN(30), 1+r.IntN(12)
		layout := func(n int) interval.Layout {
			if r.IntN(2) == 0 { // too wide to be addressed directly
				return interval.NewLayout([]interval.Interval{{Lo: 0, Hi: 1 << 40}})
			}
			return interval.NewLayout([]interval.Interval{{Lo: 0, Hi: int64(n)}})
		}
		g := &Grouping{Name: "test", Key: layout(groups), Accs: foldSpecs, Counts: true}
		var pairs Keyed
		for range r.IntN(80) {
			pairs.Keys = append(pairs.Keys, uint64(r.IntN(sources)))
			pairs.Pays = append(pairs.Pays, uint64(r.IntN(groups)))
			pairs.N++
		}
		all := Keyed{Keys: slices.Clone(pairs.Keys), Pays: slices.Clone(pairs.Pays), N: pairs.N}
		made := NewFoldPairs(run, g, &Grouping{Name: "test", Key: layout(sources)},
			[]*Keyed{&pairs})
		if r.IntN(2) == 0 { // as a later run adopts them
			kept := made.shared()
			run.Mem.MustReserve("test", kept.memory())
			made.free(run.Mem)
			made = kept
		}
		f := NewFold(run, g, made)
		for round := range 3 {
			wide := r.IntN(3) == 0
			cols := make([][]int64, len(foldSpecs))
			var keys []uint64
			of := map[uint64]int{}
			for k := range uint64(sources + 2) { // two are in no pair
				if r.IntN(4) == 0 && round > 0 {
					continue
				}
				of[k] = len(keys)
				keys = append(keys, k)
				for i, s := range foldSpecs {
					cols[i] = append(cols[i], foldWord(r, s, wide))
				}
			}
			f.Reset()
			valid := make([]bool, len(keys))
			for i := range valid {
				valid[i] = keys[i] < uint64(sources)
			}
			if !f.Found(f.Put(keys, valid, make([]uint32, len(keys)), cols)) {
				sparse++
			}
			got := map[uint64]string{}
			for _, part := range f.Ranges(run) {
				addGroups(t, got, part)
			}
			if v := f.values[0]; v.split && v.unit.upper != 0 {
				fused++
			} else if v.split {
				split++
			}
			plain := NewGroups(g, run, 0, false)
			for i, k := range all.Keys {
				at, ok := of[k]
				if !ok {
					continue
				}
				row := make([][]int64, len(cols))
				for c := range cols {
					row[c] = cols[c][at : at+1]
				}
				plain.Add(all.Pays[i:i+1], make([]uint32, 1), row)
			}
			want := map[uint64]string{}
			addGroups(t, want, plain)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d, round %d:\n%v, not\n%v", seed, round, got, want)
			}
		}
		f.Free(run.Mem)
	}
	if split == 0 || fused == 0 || sparse == 0 {
		t.Errorf("%d and %d rounds with terms, %d with few values", split, fused, sparse)
	}
}

// addGroups adds the results of a table's groups, by key.
func addGroups(t *testing.T, to map[uint64]string, from *Groups) {
	for i, s := range foldSpecs {
		agg := &queryplan.Agg{Fn: s.Fn, Out: queryplan.Column{Type: s.Type}}
		col := make([]int64, from.N)
		bad := map[int]bool{}
		from.Accs[i].Results(col, agg, s.Type, from.Counts, func(g int) { bad[g] = true })
		taken := map[int]bool{}
		for _, g := range from.Taken {
			taken[g] = true
		}
		for g, w := range col {
			if taken[g] {
				continue
			}
			if i == 0 && to[from.Keys[g]] != "" {
				t.Fatalf("group %d is there twice", from.Keys[g])
			}
			if bad[g] {
				w = 0
			}
			to[from.Keys[g]] += fmt.Sprint(" ", from.Counts[g], " ", w, bad[g])
		}
	}
}
