package stats

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestSeveralJoinColumns compares estimates of joins on two columns with their
// sizes. Columns of two relations agree by chance; those of one relation, and
// of two functions of one key, refer to pairs that are there.
func TestSeveralJoinColumns(t *testing.T) {
	const domain, rows = 200, 800
	rng := rand.New(rand.NewPCG(41, 42))
	pairs := func(n int64, pair func() [2]int64) [][2]int64 {
		seen := map[[2]int64]bool{}
		var out [][2]int64
		for int64(len(out)) < n {
			if p := pair(); !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
		return out
	}
	random := func() [2]int64 { return [2]int64{rng.Int64N(domain), rng.Int64N(domain)} }
	g := pairs(rows, random)
	facts := map[string][][2]int64{"e": pairs(rows, random), "f": pairs(rows, random), "g": g}
	for k := range int64(500) { // two functions of a key, to a pair of g
		p := g[rng.IntN(len(g))]
		facts["a"] = append(facts["a"], [2]int64{k, p[0]})
		facts["b"] = append(facts["b"], [2]int64{k, p[1]})
	}
	cat := &Catalog{Relations: map[string]*Relation{}, Tables: map[string]*Table{}}
	data := map[string]planref.Rows{}
	for name, of := range facts {
		table := &Table{Name: name, Rows: int64(len(of)), Columns: make([]Column, 2)}
		for i := range table.Columns {
			different := map[int64]bool{}
			for _, p := range of {
				different[p[i]] = true
				table.Columns[i].Max = max(table.Columns[i].Max, p[i])
			}
			table.Columns[i].Distinct = int64(len(different))
		}
		cat.Tables[name] = table
		cat.Relations[name] = &Relation{Name: name, Rows: table.Rows, Table: name,
			Cols: []int{0, 1}}
		for _, p := range of {
			data[name] = append(data[name], []scalar.Value{scalar.OfInt(scalar.IntType, p[0]),
				scalar.OfInt(scalar.IntType, p[1])})
		}
	}
	for _, c := range []struct{ what, tree string }{
		{"columns of two relations", `
    join x, z
      join y
        scan e(x, y)
        scan f(y, z)
      scan g(x, z)`},
		{"the same, a semijoin", `
    semi join x, z
      join y
        scan e(x, y)
        scan f(y, z)
      scan g(x, z)`},
		{"columns of two relations on the right", `
    join x, z
      scan g(x, z)
      join y
        scan e(x, y)
        scan f(y, z)`},
		{"columns of one relation", `
    join x, z
      join z
        scan g(x, z)
        scan f(z, y)
      scan g(x, z)`},
		{"functions of one key", `
    join x, z
      join k
        scan a(k, x)
        scan b(k, z)
      scan g(x, z)`},
	} {
		p, err := queryplan.Parse("test.plan", `
var a(k: int; x: int) input "a"
var b(k: int; z: int) input "b"
var e(x: int, y: int) input "e"
var f(y: int, z: int) input "f"
var g(x: int, z: int) input "g"
var out(n: int) derived output
block b0:
  insert out
    aggregate [] n: int = count()`+indented(c.tree)+`
  merge out
  halt
`)
		if err == nil {
			err = queryplan.Verify(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		ans, err := planref.Run(p, data)
		if err != nil {
			t.Fatal(err)
		}
		real := float64(ans.Outputs["out"][0][0].Int())
		joined := p.Blocks[0].Cmds[0].(*queryplan.Insert).Node.Inputs()[0]
		if got := NewEstimator(p, cat).Rows(joined); got > 1.5*real || got < real/1.5 {
			t.Errorf("%s: estimated %.0f tuples, there are %.0f", c.what, got, real)
		}
	}
}

// indented moves the operators of a tree below an aggregate.
func indented(tree string) string { return strings.ReplaceAll(tree, "\n", "\n  ") }
