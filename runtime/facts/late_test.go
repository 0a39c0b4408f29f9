package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// TestShownAndComputed finds what plans over a table t(k; s, r, a, b) do with
// its columns: those of strings that are only shown, and those that are only
// computed with.
func TestShownAndComputed(t *testing.T) {
	const vars = `var t(k: int; s: string, r: string, a: int, b: int) table "t" stored [0, 1, 2, 3, 4]
var u(k: int) input "u"
var few(k: int, s: string) temp
`
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{
		"t": {Name: "t", Rows: 100, Table: "t", Cols: []int{0, 1, 2, 3, 4}},
		"u": {Name: "u", Rows: 10, Table: "u", Cols: []int{0}}},
		Tables: map[string]*stats.Table{"t": {Name: "t", Rows: 100, Key: []int{0},
			Columns: make([]stats.Column, 5)},
			"u": {Name: "u", Rows: 10, Columns: make([]stats.Column, 1)}}}
	names := []string{"k", "s", "r", "a", "b"}
	for _, c := range []struct{ out, body, shown, computed string }{
		{"k: int, s: string, r: string", `
  insert out
    unique join k
      scan t(k, s, r, _, _)
      scan u(k)`, "s r", "a b"},
		{"s: string", `
  insert out
    project s
      unique join k
        filter gt(a, 3)
          scan t(k, s, _, a, _)
        scan u(k)`, "s", "r b"},
		{"k: int, s: string", `
  insert out
    scan t(k, s, _, _, _)`, "", "r a b"},
		{"k: int, v: int", `
  insert out
    aggregate [k] v: int = total(x)
      map x = mul(a, b)
        unique join k
          scan t(k, _, _, a, b)
          scan u(k)`, "", "s r a b"},
		{"a: int, v: int", `
  insert out
    aggregate [a] v: int = total(b)
      scan t(_, _, _, a, b)`, "", "k s r b"},
		{"s: string, v: int", `
  insert out
    aggregate [s] v: int = count()
      unique join k
        scan t(k, s, _, _, _)
        scan u(k)`, "", "r a b"},
		{"k: int, s: string", `
  assign few
    unique join k
      scan t(k, s, _, _, _)
      scan u(k)
  insert out
    scan few(k, s)
  clear few`, "s", "r a b"},
		{"v: int", `
  insert out
    aggregate [] v: int = count()
      dedup
        project s
          unique join k
            scan t(k, s, _, _, _)
            scan u(k)`, "", "r a b"},
		{"k: int, s: string", `
  insert out
    topk 3 order [k]
      unique join k
        scan t(k, s, _, _, _)
        scan u(k)`, "", "r a b"},
	} {
		text := vars + "var out(" + c.out + ") derived output\nblock b0:" + c.body + "\n  merge out\n  halt\n"
		plan, err := queryplan.Parse("plan", text)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		shown, computed := Shown(plan, cat), Computed(plan, cat)
		var isShown, isComputed []string
		for arg, name := range names {
			if shown("t", arg) {
				isShown = append(isShown, name)
			}
			if computed("t", arg) {
				isComputed = append(isComputed, name)
			}
		}
		if got := strings.Join(isShown, " "); got != c.shown {
			t.Errorf("%q are shown, not %q:\n%s", got, c.shown, plan)
		}
		if got := strings.Join(isComputed, " "); got != c.computed {
			t.Errorf("%q are computed with, not %q:\n%s", got, c.computed, plan)
		}
	}
}

// TestDistinctRows has numbers that are close together, and far apart.
func TestDistinctRows(t *testing.T) {
	for _, step := range []int64{1, 7, 1000} {
		var numbers []int64
		for i := range int64(100) {
			numbers = append(numbers, 5+step*(i*37%50))
		}
		rows, place := distinctRows(numbers)
		if len(rows) != 50 || !slices.IsSorted(rows) {
			t.Errorf("step %d: %d rows", step, len(rows))
		}
		for _, n := range numbers {
			if rows[place(n)] != uint32(n) {
				t.Errorf("step %d: number %d is at %d", step, n, place(n))
			}
		}
	}
}
