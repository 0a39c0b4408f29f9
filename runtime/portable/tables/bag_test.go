package tables

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestBag appends rows to bags of columns of several widths, by column where
// each needs a word, and reads them back in pieces.
func TestBag(t *testing.T) {
	wide, narrow := interval.All, interval.Interval{Lo: -3, Hi: 1000}
	for name, c := range map[string]struct {
		ranges   []interval.Interval
		byColumn bool
	}{
		"a key and a value":        {[]interval.Interval{narrow, wide}, true},
		"wide columns":             {[]interval.Interval{wide, wide, wide}, true},
		"two columns in a word":    {[]interval.Interval{narrow, wide, narrow}, false},
		"one word":                 {[]interval.Interval{narrow, narrow}, false},
		"one wide column":          {[]interval.Interval{wide}, false},
		"a column of one constant": {[]interval.Interval{{Lo: 7, Hi: 7}, wide}, false},
	} {
		run := work.NewRun(context.Background(), 1, 0, work.Sizes{Vector: 16})
		bag := NewBag(run.Mem, name, c.ranges)
		if bag.ByColumn != c.byColumn {
			t.Errorf("%s: by column is %v", name, bag.ByColumn)
		}
		r := rand.New(rand.NewPCG(1, 2))
		want := make([][]int64, len(c.ranges))
		w := bag.Writer(0)
		for range 40 {
			n := 1 + r.IntN(100)
			cols := make([][]int64, len(c.ranges))
			for i, rng := range c.ranges {
				for range n {
					v := int64(r.Uint64())
					if rng != wide {
						v = rng.Lo + r.Int64N(rng.Hi-rng.Lo+1)
					}
					cols[i] = append(cols[i], v)
				}
				want[i] = append(want[i], cols[i]...)
			}
			if bag.ByColumn {
				w.AddColumns(cols, n)
				continue
			}
			keys := make([]uint64, n*bag.Layout.Words)
			bag.Layout.Pack(keys, cols, n)
			w.Insert(run, keys)
		}
		if got := bag.TakeNew(); got != len(want[0]) {
			t.Errorf("%s: %d rows came, not %d", name, got, len(want[0]))
		}
		bag.Publish()
		spans := bag.Version(nil, queryplan.Full)
		for i := range c.ranges {
			var got []int64
			for _, s := range spans {
				for from := 0; from < s.Rows(); from += 16 {
					n := min(16, s.Rows()-from)
					got = append(got, bag.Read(make([]int64, 16), s, from, i, n, math.MaxInt64)...)
				}
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: column %d is not what was added", name, i)
			}
		}
		bag.Clear()
	}
}
