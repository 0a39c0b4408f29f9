package rewrite

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// TestDimensionsAreRestrictedFirst orders a join of facts with a dimension of
// which few rows are wanted, over data of several sizes: each time these have
// to be found before the facts are joined, as that costs a look at the
// dimension and saves one for each fact.
func TestDimensionsAreRestrictedFirst(t *testing.T) {
	const text = `
var order:supplier(o: int; s: int) input "order:supplier"
var order:revenue(o: int; r: int) input "order:revenue"
var supplier:city(s: int; city: string) input "supplier:city"
var wanted(city: string) derived
var out(city: string; r: int) derived unique output
block b0:
  insert wanted
    values (city: string)
      ("Leeds")
      ("York")
  insert wanted
    project city
      filter eq(s, 7)
        scan supplier:city(s, city)
  merge wanted
  insert out
    aggregate [city] r: int = total(r)
      semi join city
        unique join s
          unique join o
            scan order:supplier(o, s)
            scan order:revenue(o, r)
          scan supplier:city(s, city)
        scan wanted(city)
  merge out
  halt
`
	for _, scale := range []int64{1, 20, 100, 1000} {
		orders, suppliers := 6_000_000*scale, 2000*scale
		column := func(name string, values int64) stats.Column {
			return stats.Column{Name: name, Max: values - 1, Distinct: values}
		}
		numbers := func(name string, rows int64) stats.Column {
			c := column(name, rows)
			c.Ascending = true
			return c
		}
		cat := &stats.Catalog{
			Tables: map[string]*stats.Table{
				"order": {Name: "order", Rows: orders, Key: []int{0}, Columns: []stats.Column{
					numbers("o", orders), column("s", suppliers), column("r", 1<<20)}},
				"supplier": {Name: "supplier", Rows: suppliers, Key: []int{0},
					Columns: []stats.Column{
						numbers("s", suppliers), column("city", 250)}},
			},
			Relations: map[string]*stats.Relation{
				"order:supplier": {Name: "order:supplier", Rows: orders, Table: "order",
					Cols: []int{0, 1}},
				"order:revenue": {Name: "order:revenue", Rows: orders, Table: "order",
					Cols: []int{0, 2}},
				"supplier:city": {Name: "supplier:city", Rows: suppliers, Table: "supplier",
					Cols: []int{0, 1}},
			},
		}
		p, err := queryplan.Parse("test.plan", text)
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := Run(p, cat,
			Options{Verify: true,
				Disable: []string{"EliminateCommonSubexpressions", "FilterProbes"}})
		if err != nil {
			t.Fatal(err)
		}
		// The set is next to the dimension, under the join with the facts.
		lines := strings.Split(out.String(), "\n")
		found := false
		for i, line := range lines[:len(lines)-2] {
			found = found || strings.Contains(line, "semi join city") &&
				strings.Contains(lines[i+1], "scan supplier:city") &&
				strings.Contains(lines[i+2], "scan wanted")
		}
		if !found {
			t.Errorf("scale %d: suppliers are not restricted first:\n%s", scale, out)
		}
	}
}
