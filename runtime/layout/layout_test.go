package layout

import (
	"math"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
)

// star has rows of facts that look for keys in what a filter left of a
// dimension.
const star = `
relation facts(k: int) input "facts"
relation dimension(k: int; a: int) input "dimension"
relation t0(k: int, a: int) temp
relation t1(k: int) temp
index i0 unique t0(k)
index i1 exists t1(k)
groups g0(; n: int = count())
groups g1(; n: int = count())
block b0:
  run k0
    rows dimension
    v0: int = load k
    v1: int = load a
    store t0(v0, v1)
    store t1(v0)
  build i0
  build i1
  run k1
    rows facts
    v0: int = load k
    v1: row = probe unique i0(v0)
    group g0 [] count()
  run k2
    rows facts
    v0: int = load k
    probe exists i1(v0)
    group g1 [] count()
  halt
`

// TestIndexes wants tables that rows of facts are to be looked up in directly
// addressed where there are enough such rows and the table is small enough, and
// else left open.
func TestIndexes(t *testing.T) {
	// The facts may have been sorted before.
	ordered := strings.NewReplacer("rows facts", "rows ordered",
		"index i0", "relation ordered(k: int) temp\nindex i0",
		"block b0:", "block b0:\n  topk ordered(k) = facts limit 9223372036854775807 order [k]",
	).Replace(star)
	for _, text := range []string{star, ordered} {
		testIndexes(t, text)
	}
}

func testIndexes(t *testing.T, text string) {
	t.Helper()
	p, err := harmony.Parse("star", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys, facts    int
		table          int
		unique, exists bool
	}{
		{100_000, 100_000, 1 << 20, true, true},
		{100_000, 99_999, 1 << 20, false, true},
		{100_000, 12_501, 1 << 20, false, true},
		{100_000, 12_500, 1 << 20, false, false},
		{100_000, 1 << 20, 100_000, false, true},
		{100_000, 1 << 20, 10_000, false, false},
		{4000, 0, 0, true, true},
	} {
		l := New(p, Facts{
			Column: func(harmony.Managed, int) interval.Interval {
				return interval.Interval{Lo: 0, Hi: int64(c.keys) - 1}
			},
			Rows: func(r *harmony.Relation) (int, bool) {
				if r.Name == "facts" {
					return c.facts, true
				}
				return 0, false
			},
			Loaded:   func(*harmony.Relation, int) Column { return Words },
			Numbered: func(*harmony.Index) bool { return false },
			Ordered:  func(*harmony.Groups) bool { return false },
			Sorted:   func(*harmony.Groups) bool { return false },
			NeedsSet: func(*harmony.Relation) bool { return true },
			Carried:  func(*harmony.Relation) []int { return nil },
		}, Policy{Table: c.table, Bits: c.table})
		for i, direct := range []bool{c.unique, c.exists} {
			k := l.Indexes[p.Indexes[i]]
			if got := k.Form == abi.Direct; got != direct || k.Open == got {
				t.Errorf("%+v: %s has the form %v, open: %v", c, p.Indexes[i].Name, k.Form, k.Open)
			}
		}
	}
}

// TestSparseSet wants a large bit set only where many of its bits can be set.
func TestSparseSet(t *testing.T) {
	p, err := harmony.Parse("test.harmony", `
relation facts(k: int, a: int) input "facts"
relation r(k: int, a: int) derived output
block b0:
  run k0
    rows facts
    v0: int = load k
    v1: int = load a
    insert r(v0, v1)
  merge r
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys, first, second int64
		direct              bool
	}{
		{59_000, 737, 11_800, false},
		{59_000, 59_000, 11_800, true},
		{59_000, 59_000, 2_000, false},
		{59_000, math.MaxInt64, math.MaxInt64, true},
		{59_000, 0, 0, false},
		{16_000, 10, 10, true}, // small
	} {
		l := New(p, Facts{
			Column: func(harmony.Managed, int) interval.Interval {
				return interval.Interval{Lo: 0, Hi: c.keys - 1}
			},
			Distinct: func(_ *harmony.Relation, col int) int64 {
				return []int64{c.first, c.second}[col]
			},
			Rows:     func(*harmony.Relation) (int, bool) { return 1000, true },
			Loaded:   func(*harmony.Relation, int) Column { return Words },
			NeedsSet: func(*harmony.Relation) bool { return true },
			Carried:  func(*harmony.Relation) []int { return nil },
		}, GPU.In(140<<30))
		if got := l.Sets[p.Relations[1]].Form; (got == abi.Direct) != c.direct {
			t.Errorf("%+v: the set has the form %v", c, got)
		}
	}
}
