package stats

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// rowsData is a table of ints.
type rowsData [][]int64

func (d rowsData) Expect(int, []int) {}

func (d rowsData) Value(column, row int) scalar.Value {
	return scalar.OfInt(scalar.IntType, d[row][column])
}

func (d rowsData) Find(column int, values []scalar.Value) (out []RowRange) {
	at := func(v int64) int {
		return sort.Search(len(d),
			func(i int) bool { return d[i][column] >= v })
	}
	for _, v := range values {
		out = append(out, RowRange{at(v.Int()), at(v.Int() + 1)})
	}
	return out
}

func (d rowsData) table(name string, key int) *Table {
	t := &Table{Name: name, Rows: int64(len(d))}
	for c := range d[0] {
		col := Column{Name: fmt.Sprint("c", c), Min: d[0][c], Max: d[0][c], Ascending: true}
		seen := map[int64]bool{}
		for i, row := range d {
			col.Min, col.Max = min(col.Min, row[c]), max(col.Max, row[c])
			col.Ascending = col.Ascending && (i == 0 || d[i-1][c] <= row[c])
			seen[row[c]] = true
		}
		col.Distinct = int64(len(seen))
		t.Columns = append(t.Columns, col)
	}
	for c := range key {
		t.Key = append(t.Key, c)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	s := &Sample{Data: d, Rows: rng.Perm(len(d))[:min(len(d), 1000)]}
	slices.Sort(s.Rows)
	t.Sample = s
	return t
}

func (d rowsData) facts() planref.Rows {
	var out planref.Rows
	for _, row := range d {
		var tuple []scalar.Value
		for _, w := range row {
			tuple = append(tuple, scalar.OfInt(scalar.IntType, w))
		}
		out = append(out, tuple)
	}
	return out
}

// TestSampledEstimates compares estimates with results where columns depend on
// each other, within a table and across foreign keys: orders and their lines,
// which are shipped soon after, and customers, most of whose orders are a
// few's.
func TestSampledEstimates(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var customers, orders, lines rowsData
	for c := range int64(200) {
		customers = append(customers, []int64{c, c % 7})
	}
	for o := range int64(3000) {
		c := rng.Int64N(200)
		if rng.IntN(2) == 0 {
			c = 7 * rng.Int64N(4)
		}
		orders = append(orders, []int64{4 * o, c, rng.Int64N(1000)})
		for n := range 1 + rng.Int64N(7) {
			lines = append(lines,
				[]int64{4 * o, n, orders[o][2] + 1 + rng.Int64N(50), 1 + rng.Int64N(50)})
		}
	}
	cat := &Catalog{Relations: map[string]*Relation{}, Tables: map[string]*Table{
		"customer": customers.table("customer", 1), "order": orders.table("order", 1),
		"line": lines.table("line", 2)}}
	facts := map[string]planref.Rows{"customer": customers.facts(), "order": orders.facts(),
		"line": lines.facts()}
	for name, tab := range cat.Tables {
		r := &Relation{Name: name, Table: name, Rows: tab.Rows}
		for i := range tab.Columns {
			r.Cols = append(r.Cols, i)
		}
		cat.Relations[name] = r
	}
	for what, c := range map[string]struct {
		plan   string
		factor float64
	}{
		"dates of one table":            {"filter and(gt(s, 500), lt(s, 520))\n      scan line(o, n, s, q)", 1.4},
		"dates of two tables":           {"unique join o\n      filter gt(s, 500)\n        scan line(o, n, s, q)\n      filter lt(d, 500)\n        scan order(o, c, d)", 1.5},
		"the same, the other way round": {"join o\n      filter lt(d, 500)\n        scan order(o, c, d)\n      filter gt(s, 500)\n        scan line(o, n, s, q)", 1.5},
		"a semijoin":                    {"unique semi join o\n      filter gt(s, 500)\n        scan line(o, n, s, q)\n      filter lt(d, 500)\n        scan order(o, c, d)", 1.5},
		"an anti join":                  {"unique anti join o\n      filter gt(s, 500)\n        scan line(o, n, s, q)\n      filter lt(d, 500)\n        scan order(o, c, d)", 1.2},
		"skew, two references away":     {"unique join o\n      scan line(o, n, s, q)\n      unique semi join c\n        scan order(o, c, d)\n        filter eq(k, 0)\n          scan customer(c, k)", 1.2},
		"a condition across tables":     {"filter gt(s, add(d, 45))\n      unique join o\n        scan line(o, n, s, q)\n        scan order(o, c, d)", 1.5},
		"computed groups":               {"aggregate [y] k: int = count()\n      map y = div(d, 250)\n        scan order(o, c, d)", 1.01},
		"having a large total":          {"filter gt(v, 250)\n      aggregate [o] v: int = total(q)\n        scan line(o, n, s, q)", 4},
		"less than a share of the mean": {"filter lt(convert:decimal[18,7](q), mul(v, 0.3))\n      unique join n\n        scan line(o, n, s, q)\n        aggregate [n] v: decimal[18,6] = avg(q)\n          scan line(o, n, s, q)", 1.6},
	} {
		t.Run(what, func(t *testing.T) {
			p, err := queryplan.Parse("test.plan", `
var customer(c: int; k: int) input "customer"
var order(o: int; c: int, d: int) input "order"
var line(o: int, n: int; s: int, q: int) input "line"
var out(rows: int) derived output
block b0:
  insert out
   aggregate [] rows: int = count()
    `+c.plan+`
  merge out
  halt
`)
			if err == nil {
				err = queryplan.Verify(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			ans, err := planref.Run(p, facts)
			if err != nil {
				t.Fatal(err)
			}
			real := 0.0
			if out := ans.Outputs["out"]; len(out) > 0 {
				real = float64(out[0][0].Int())
			}
			got := NewEstimator(p,
				cat).Rows(p.Blocks[0].Cmds[0].(*queryplan.Insert).Node.Inputs()[0])
			if got > c.factor*real || got < real/c.factor {
				t.Errorf("estimated %.1f tuples, there are %.0f", got, real)
			}
		})
	}
}
