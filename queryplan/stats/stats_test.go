package stats

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// testCatalog describes a table with the key (o, n), a dimension and a graph.
func testCatalog() *Catalog {
	table := func(name string, rows int64, key []int, cols ...Column) *Table {
		return &Table{Name: name, Rows: rows, Key: key, Columns: cols}
	}
	c := &Catalog{Relations: map[string]*Relation{}, Tables: map[string]*Table{
		"line": table("line", 6000, []int{0, 1},
			Column{Name: "o", Min: 1, Max: 1500, Distinct: 1500, Ascending: true},
			Column{Name: "n", Min: 1, Max: 7, Distinct: 7, Ascending: false},
			Column{Name: "price", Min: 100, Max: 99_99, Distinct: 5000, Ascending: false},
			Column{Name: "disc", Min: 0, Max: 10, Distinct: 11, Ascending: false}),
		"order": table("order", 1500, []int{0}, Column{Name: "o", Min: 1, Max: 1500, Distinct: 1500,
			Ascending: true},
			Column{Name: "day", Min: 0, Max: 999, Distinct: 1000, Ascending: false}),
		"edge": table("edge", 1000, nil, Column{Name: "x", Min: 0, Max: 99, Distinct: 100,
			Ascending: false}, Column{Name: "y", Min: 0, Max: 99, Distinct: 50, Ascending: false}),
		"measured": table("measured", 1000, []int{0}, Column{Name: "k", Min: 0, Max: 999,
			Distinct: 1000}, Column{Name: "f", Min: int64(math.Float64bits(math.Inf(-1))),
			Max: int64(math.Float64bits(math.NaN())), Distinct: 1000}),
	}}
	for name, t := range c.Tables {
		r := &Relation{Name: name, Rows: t.Rows, Table: name}
		for i := range t.Columns {
			r.Cols = append(r.Cols, i)
		}
		c.Relations[name] = r
	}
	return c
}

// TestEstimate prints a plan as a tree with the estimated rows of each
// operator, and distinct counts of its columns.
func TestEstimate(t *testing.T) {
	datadriven.RunTest(t, "testdata/estimate", func(t *testing.T, d *datadriven.TestData) string {
		p, err := queryplan.Parse("test.plan", d.Input)
		if err == nil {
			err = queryplan.Verify(p)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		cat := testCatalog()
		if d.HasArg("nothing-known") {
			cat = nil
		}
		e := NewEstimator(p, cat)
		return p.Tree(func(x any) string {
			n, ok := x.(queryplan.Node)
			if !ok {
				return ""
			}
			est := e.Of(n)
			var cols []string
			for _, c := range n.Columns() {
				cols = append(cols,
					c.Name+"="+strconv.FormatFloat(est.column(c.Name).Distinct, 'g', 3, 64))
			}
			return fmt.Sprintf("rows %.4g, distinct %s", est.Rows, strings.Join(cols, " "))
		})
	})
}

// TestJoinEstimates compares estimates of joins of uniform random relations
// with what the joins give: they must be right to within a factor of two.
func TestJoinEstimates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		p, err := queryplan.Parse("test.plan", `
var a(x: int, y: int) input "a"
var b(y: int, z: int) input "b"
var out(x: int, y: int, z: int) derived output
block b0:
  insert out
    join y
      filter lt(x, 40)
        scan a(x, y)
      scan b(y, z)
  merge out
  halt
`)
		if err != nil {
			t.Fatal(err)
		}
		domain := 20 + rng.Int64N(60)
		cat := &Catalog{Relations: map[string]*Relation{}, Tables: map[string]*Table{}}
		facts := map[string]planref.Rows{}
		for _, name := range []string{"a", "b"} {
			seen := map[[2]int64]bool{}
			for range 200 + rng.IntN(400) {
				seen[[2]int64{rng.Int64N(domain), rng.Int64N(domain)}] = true
			}
			var rows planref.Rows
			for pair := range seen {
				rows = append(rows, []scalar.Value{scalar.OfInt(scalar.IntType, pair[0]),
					scalar.OfInt(scalar.IntType, pair[1])})
			}
			facts[name] = rows
			col := Column{Max: domain - 1, Distinct: domain}
			cat.Tables[name] = &Table{Name: name, Rows: int64(len(rows)),
				Columns: []Column{col, col}}
			cat.Relations[name] = &Relation{Name: name, Rows: int64(len(rows)), Table: name,
				Cols: []int{0, 1}}
		}
		ans, err := planref.Run(p, facts)
		if err != nil {
			t.Fatal(err)
		}
		real := float64(len(ans.Outputs["out"]))
		got := NewEstimator(p, cat).Rows(p.Blocks[0].Cmds[0].(*queryplan.Insert).Node)
		if got > 2*real || got < real/2 {
			t.Errorf("estimated %.0f tuples, there are %.0f", got, real)
		}
	}
}

// TestExprBound evaluates random expressions at random points within the bounds
// of their columns: the values must be within the bound.
func TestExprBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	proved := 0
	for range 3000 {
		cols := map[string]Bound{}
		values := map[string]scalar.Value{}
		e := randomExpr(rng, 3, cols)
		bound, ok := ExprBound(e, cols)
		fits := AlwaysFits(e, cols)
		if !ok && fits && e.Type().Kind == scalar.Decimal {
			t.Fatalf("%s fits without a bound", queryplan.ExprString(e))
		}
		if !ok {
			continue
		}
		proved++
		for range 5 {
			for name, b := range cols {
				width := new(big.Int).Sub(b.Max, b.Min).Int64()
				v := b.Min.Int64() + []int64{0, width, rng.Int64N(width + 1)}[rng.IntN(3)]
				if values[name] = scalar.OfInt(scalar.IntType, v); name[0] == 'd' {
					values[name] = scalar.OfDecimal(2, v)
				}
			}
			v, has := queryplan.Eval(e, func(name string) scalar.Value { return values[name] })
			if !has {
				t.Fatalf("%s has no value at %v, but the bound %v", queryplan.ExprString(e), values,
					bound)
			}
			n, _ := new(big.Int).SetString(v.Int128().String(), 10)
			if n.Cmp(bound.Min) < 0 || n.Cmp(bound.Max) > 0 {
				t.Fatalf("%s is %v at %v, outside of %v", queryplan.ExprString(e), n, values, bound)
			}
			if fits && !v.Fits() {
				t.Fatalf("%s is %v at %v, which does not fit", queryplan.ExprString(e), n, values)
			}
		}
	}
	if proved < 500 {
		t.Errorf("only %d expressions have a bound", proved)
	}
}

// randomExpr makes an int or decimal expression over columns i0.. and d0.., of
// which it sets the bounds.
func randomExpr(rng *rand.Rand, depth int, cols map[string]Bound) queryplan.Expr {
	if depth == 0 || rng.IntN(5) == 0 {
		lo := []int64{0, -100, 1 << 40, -(1 << 62)}[rng.IntN(4)]
		name, typ := fmt.Sprintf("i%d", len(cols)), scalar.IntType
		if rng.IntN(2) == 0 {
			name, typ = fmt.Sprintf("d%d", len(cols)), scalar.DecimalOf(2)
		}
		cols[name] = Bound{big.NewInt(lo), big.NewInt(lo + rng.Int64N(1000))}
		return &queryplan.ColRef{Col: queryplan.Column{Name: name, Type: typ}}
	}
	names := []string{"add", "sub", "mul", "neg", "div", "min"}
	name := names[rng.IntN(len(names))]
	args := []queryplan.Expr{randomExpr(rng, depth-1, cols)}
	if name != "neg" {
		args = append(args, randomExpr(rng, depth-1, cols))
	}
	types := make([]scalar.Type, len(args))
	for i, a := range args {
		types[i] = a.Type()
	}
	sig, err := scalar.Resolve(name, types)
	if err != nil {
		return args[0]
	}
	for i, want := range sig.Params {
		if args[i].Type() != want {
			args[i] = &queryplan.Call{Func: scalar.Lookup("convert"),
				Args:   []queryplan.Expr{args[i]},
				Result: want}
		}
	}
	return &queryplan.Call{Func: sig.Func, Args: slices.Clone(args), Result: sig.Result}
}

// TestGrown compares the sizes of recursive variables before and after growth:
// those of stored ones stay, and values of the columns bound the others.
func TestGrown(t *testing.T) {
	p, err := queryplan.Parse("test.plan", `
var edge(x: int, y: int) input "edge"
var reach(x: int, y: int) derived output
block b0:
  insert reach
    scan edge(x, y)
  merge reach
  branch delta reach -> b1 else b2
block b1:
  insert reach
    project x, z as y
      join y
        scan delta reach(x, y)
        scan edge(y, z)
  merge reach
  branch delta reach -> b1 else b2
block b2:
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	edge, reach := p.Vars[0], p.Vars[1]
	names := []string{"x", "y"}
	for _, c := range []struct{ edges, factor, want float64 }{
		{200, 2, 4000}, {200, 10, 10_000}, {1000, 0.5, 10_000},
	} {
		cat := testCatalog()
		cat.Tables["edge"].Rows = int64(c.edges)
		cat.Tables["edge"].Columns[1].Distinct = 100
		changed := map[*queryplan.Var]bool{edge: true, reach: true}
		est := NewEstimator(p, cat).Grown(changed, c.factor)
		if got := est.Rows(&queryplan.Scan{Var: reach, Names: names}); got != c.want {
			t.Errorf("%.0f edges grown by %.1f reach %.0f pairs, not %.0f", c.edges, c.factor, got,
				c.want)
		}
		if got := est.Rows(&queryplan.Scan{Var: edge, Names: names}); got != c.edges {
			t.Errorf("%.0f edges become %.0f", c.edges, got)
		}
	}
}
