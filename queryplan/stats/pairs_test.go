package stats

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestSkewedJoins compares estimates of joins on columns of which some values
// are far more frequent than others with their sizes, and with what the number
// of values alone says.
func TestSkewedJoins(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	zipf := rand.NewZipf(rng, 1.2, 4, 5000)
	edges := func(n int, ends func() (x, y int64)) rowsData {
		seen := map[[2]int64]bool{}
		var out rowsData
		for range n {
			x, y := ends()
			if pair := [2]int64{x, y}; !seen[pair] {
				seen[pair] = true
				out = append(out, []int64{x, y})
			}
		}
		return out
	}
	sorted := func(d rowsData) rowsData {
		slices.SortFunc(d, func(a, b []int64) int { return slices.Compare(a, b) })
		return d
	}
	to := edges(40000, func() (x, y int64) { return rng.Int64N(5000), int64(zipf.Uint64()) })
	from := edges(40000, func() (x, y int64) { return int64(zipf.Uint64()), rng.Int64N(5000) })
	// The same values are frequent, but those of opposite are not.
	opposite := edges(40000, func() (x, y int64) {
		return 5000 - int64(zipf.Uint64()), rng.Int64N(5000)
	})
	few := edges(300, func() (x, y int64) { return int64(zipf.Uint64()), rng.Int64N(5000) })
	for _, c := range []struct {
		what           string
		l, r           rowsData // joined on y of l and x of r
		factor         float64
		unlikeDistinct float64 // how far the formula is off, at least
	}{
		{"pairs of samples", to, from, 1.3, 5},
		{"rows of an ascending column", to, sorted(slices.Clone(from)), 1.3, 5},
		{"frequent values do not meet", to, opposite, 2, 2},
		{"whole tables", sorted(slices.Clone(few)), few, 1.001, 1},
		{"a table with itself", from, nil, 1.4, 5},
	} {
		t.Run(c.what, func(t *testing.T) {
			name, l, r := "r", c.l, c.r
			if r == nil {
				name, r = "l", l
			}
			cat := &Catalog{Relations: map[string]*Relation{},
				Tables: map[string]*Table{"l": l.table("l", 0)}}
			if name == "r" {
				cat.Tables["r"] = r.table("r", 0)
			}
			for name, tab := range cat.Tables {
				cat.Relations[name] = &Relation{Name: name, Table: name, Rows: tab.Rows,
					Cols: []int{0, 1}}
			}
			left, right, lcol, rcol := "scan l(_, y)", "scan r(y, _)", 1, 0
			if name == "l" {
				left, right, lcol = "scan l(y, _)", "scan l(y, _)", 0
			}
			p, err := queryplan.Parse("test.plan", `
var l(x: int, y: int) input "l"
var r(x: int, y: int) input "r"
var out(y: int; n: int) derived output
block b0:
  insert out
    aggregate [y] n: int = count()
      join y
        `+left+`
        `+right+`
  merge out
  halt
`)
			if err != nil {
				t.Fatal(err)
			}
			times, pairs, values := map[int64]int{}, 0, map[int64]bool{}
			for _, row := range l {
				times[row[lcol]]++
			}
			for _, row := range r {
				pairs += times[row[rcol]]
				values[row[rcol]] = true
			}
			real := float64(pairs)
			got := NewEstimator(p,
				cat).Rows(p.Blocks[0].Cmds[0].(*queryplan.Insert).Node.Inputs()[0])
			if off := max(got/real, real/got); off > c.factor {
				t.Errorf("estimated %.0f tuples, there are %.0f", got, real)
			}
			formula := float64(len(l)) * float64(len(r)) / float64(max(len(times), len(values)))
			if off := max(formula/real, real/formula); off < c.unlikeDistinct {
				t.Errorf("the formula gives %.0f of %.0f tuples: too easy", formula, real)
			}
		})
	}
}

// TestFrequentValues estimates selections of a value by the frequent ones of
// its column.
func TestFrequentValues(t *testing.T) {
	value := func(i int) scalar.Value { return scalar.OfInt(scalar.IntType, int64(i)) }
	c := ColumnEstimate{Distinct: 11, Top: []Frequent{{value(1), 0.6}, {value(2), 0.3}}}
	for _, tt := range []struct {
		cmp   string
		value int
		want  float64
	}{{"eq", 1, 0.6}, {"eq", 2, 0.3}, {"eq", 5, 0.1 / 9}, {"ne", 1, 0.4}, {"ne", 5, 1 - 0.1/9}} {
		if _, share := narrow(c, tt.cmp, value(tt.value)); fmt.Sprintf("%.6f",
			share) != fmt.Sprintf("%.6f", tt.want) {
			t.Errorf("%s %d: %v of the tuples, want %v", tt.cmp, tt.value, share, tt.want)
		}
	}
	// Among a thousand rows with a thousand values, some share a value by
	// chance.
	top := []Frequent{{value(1), 0.2}, {value(2), 0.003}}
	if got := frequent(top, 1000, 1000); len(got) != 1 {
		t.Errorf("frequent are %v of %v", got, top)
	}
	if got := frequent(top, 2, 1000); len(got) != 2 {
		t.Errorf("of two values, frequent are %v", got)
	}
}
