package rewrite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// TestRecurringTrees runs the passes that share work over random plans whose
// rules contain the same trees under other names and with other columns,
// between changes of what they read, in loops and around them, and compares the
// results.
func TestRecurringTrees(t *testing.T) {
	short.Skip(t, "trees that recur in random plans")
	names := []string{"MergeAggregates", "HoistLoopInvariants", "EliminateCommonSubexpressions",
		"PlaceClears"}
	changed := map[string]int{}
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		p := recurringPlan(rand.New(rand.NewPCG(seed, 2)))
		if err := queryplan.Verify(p); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p)
		}
		for i := range len(names) + 1 {
			// One of them, and at last all of them together.
			name, disable := "together", []string(nil)
			if i < len(names) {
				name = names[i]
			}
			for _, pass := range Passes() {
				if i < len(names) && pass.Name != name || !slices.Contains(names, pass.Name) {
					disable = append(disable, pass.Name)
				}
			}
			out, _, err := Run(p, nil, Options{Disable: disable, Verify: true})
			if err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, name, err, p)
			}
			if i < len(names) && out.String() != p.String() {
				changed[names[i]]++
			}
			if why := disagreement(seed, p, out, nil); why != "" {
				t.Fatalf("seed %d, %s: %s\n%s\nbecame\n%s", seed, name, why, p, out)
			}
		}
	}
	for _, name := range names {
		if changed[name] == 0 {
			t.Errorf("%s changed no plan", name)
		}
	}
}

// recurring makes plans over binary and ternary relations of ints. Trees are
// made from recipes, so that one can be made again under other names.
type recurring struct {
	*rand.Rand
	stored  []*queryplan.Var
	derived []*queryplan.Var
	recipes []recipe
	used    int // names so far
}

// recipe makes a tree under new names. The first two columns of all its trees
// mean the same; which others follow differs.
type recipe func(g *recurring) queryplan.Node

func (g *recurring) name() string {
	g.used++
	return fmt.Sprint("c", g.used)
}

// recurringPlan makes a plan of a few blocks with loops and branches, whose
// rules are of a few recipes mostly.
func recurringPlan(rng *rand.Rand) *queryplan.Plan {
	g := &recurring{Rand: rng}
	p := &queryplan.Plan{}
	declare := func(kind queryplan.VarKind, name string, cols int) *queryplan.Var {
		v := &queryplan.Var{Name: name, Kind: kind, Keys: cols, Limit: -1,
			Output: kind == queryplan.Derived && g.IntN(3) > 0}
		if kind == queryplan.Input {
			v.Source = name
		}
		for i := range cols {
			v.Cols = append(v.Cols,
				queryplan.Column{Name: fmt.Sprint("a", i), Type: scalar.IntType})
		}
		p.Vars = append(p.Vars, v)
		return v
	}
	for i := range 2 {
		g.stored = append(g.stored, declare(queryplan.Input, fmt.Sprint("in", i), 2+i))
	}
	for i := range 3 {
		g.derived = append(g.derived, declare(queryplan.Derived, fmt.Sprint("d", i), 2))
	}
	for range 3 {
		g.recipes = append(g.recipes, g.recipe(1+g.IntN(3)))
	}
	for range 3 + g.IntN(3) {
		p.Blocks = append(p.Blocks, &queryplan.Block{Name: fmt.Sprint("b", len(p.Blocks))})
	}
	last := len(p.Blocks) - 1
	for i, b := range p.Blocks {
		for range 1 + g.IntN(3) {
			g.command(b)
		}
		for _, v := range g.derived {
			b.Cmds = append(b.Cmds, &queryplan.Merge{Var: v})
		}
		v := g.derived[g.IntN(len(g.derived))]
		switch {
		case i == last:
			b.Term = &queryplan.Halt{}
		case g.IntN(3) == 0:
			b.Term = &queryplan.Jump{To: p.Blocks[i+1]}
		case g.IntN(2) == 0 && i > 0:
			// A loop back, of one block or several.
			b.Term = &queryplan.Branch{Vars: []*queryplan.Var{v}, Then: p.Blocks[1+g.IntN(i)],
				Else: p.Blocks[i+1]}
		default:
			// Past the next block.
			b.Term = &queryplan.Branch{Vars: []*queryplan.Var{v}, Then: p.Blocks[i+1],
				Else: p.Blocks[min(i+1+g.IntN(2), last)]}
		}
	}
	dropUnreached(p)
	return p
}

// command inserts or checks a tree, of a recipe mostly.
func (g *recurring) command(b *queryplan.Block) {
	var n queryplan.Node
	if g.IntN(4) == 0 {
		n = g.tree(1 + g.IntN(2))
	} else {
		n = g.recipes[g.IntN(len(g.recipes))](g)
	}
	if g.IntN(3) == 0 {
		n = g.over(n)
	}
	if g.IntN(8) == 0 {
		b.Cmds = append(b.Cmds, &queryplan.Check{Node: n, Text: "checked"})
		return
	}
	v := g.derived[g.IntN(len(g.derived))]
	cols := n.Columns()
	project := &queryplan.Project{Input: n}
	for range v.Cols {
		// Few values, so that loops end.
		col := &queryplan.ColRef{Col: cols[g.IntN(len(cols))]}
		project.Input = trees.Filter(project.Input, []queryplan.Expr{
			&queryplan.Call{Func: scalar.Lookup("le"), Result: scalar.BooleanType,
				Args: []queryplan.Expr{col, trees.Constant(scalar.OfInt(scalar.IntType, 6))}},
			&queryplan.Call{Func: scalar.Lookup("ge"), Result: scalar.BooleanType,
				Args: []queryplan.Expr{col, trees.Constant(scalar.OfInt(scalar.IntType, 0))}},
		})
		project.Cols = append(project.Cols, queryplan.Rename{From: col.Col.Name, To: g.name()})
	}
	b.Cmds = append(b.Cmds, &queryplan.Insert{Var: v, Node: project})
	if g.IntN(4) == 0 {
		b.Cmds = append(b.Cmds, &queryplan.Merge{Var: v})
	}
}

func (g *recurring) tree(depth int) queryplan.Node { return g.recipe(depth)(g) }

// scanOf reads the first two columns and may read the third.
func scanOf(v *queryplan.Var, version queryplan.Version) recipe {
	return func(g *recurring) queryplan.Node {
		s := &queryplan.Scan{Var: v, Version: version, Names: make([]string, len(v.Cols))}
		for i := range s.Names {
			if i < 2 || g.IntN(2) == 0 {
				s.Names[i] = g.name()
			}
		}
		return s
	}
}

// recipe chooses the operators of a tree.
func (g *recurring) recipe(depth int) recipe {
	if depth == 0 || g.IntN(6) == 0 {
		if g.IntN(2) == 0 {
			return scanOf(g.stored[g.IntN(len(g.stored))], queryplan.Full)
		}
		return scanOf(g.derived[g.IntN(len(g.derived))], queryplan.Version(g.IntN(3)))
	}
	in := g.recipe(depth - 1)
	at, other, bound := g.IntN(2), g.IntN(2), int64(g.IntN(5))
	switch g.IntN(8) {
	case 0, 1:
		less := g.IntN(2) == 0
		return func(g *recurring) queryplan.Node {
			n := in(g)
			name := "ne"
			if less {
				name = "le"
			}
			cond := &queryplan.Call{Func: scalar.Lookup(name), Result: scalar.BooleanType,
				Args: []queryplan.Expr{
					ref(n, at), trees.Constant(scalar.OfInt(scalar.IntType, bound)),
				}}
			return &queryplan.Filter{Input: n, Cond: cond}
		}
	case 2, 3, 4:
		right := g.recipe(depth - 1)
		kind := queryplan.JoinKind(g.IntN(3))
		return func(g *recurring) queryplan.Node {
			l, r := in(g), right(g)
			p := &queryplan.Project{Input: r}
			for i, c := range r.Columns() {
				to := g.name()
				if i == other {
					to = l.Columns()[at].Name
				}
				p.Cols = append(p.Cols, queryplan.Rename{From: c.Name, To: to})
			}
			return &queryplan.Join{Kind: kind, Left: l, Right: p}
		}
	case 5:
		return func(g *recurring) queryplan.Node { return g.over(in(g)) }
	case 6:
		return func(g *recurring) queryplan.Node {
			n := in(g)
			p := &queryplan.Project{Input: n}
			for i := range 2 {
				p.Cols = append(p.Cols, queryplan.Rename{From: n.Columns()[i].Name, To: g.name()})
			}
			return &queryplan.Dedup{Input: p}
		}
	}
	by := g.IntN(2)
	return func(g *recurring) queryplan.Node {
		n := in(g)
		cols := n.Columns()
		a := &queryplan.Aggregate{Input: n, By: []string{cols[by].Name}}
		for range 1 + g.IntN(2) {
			fn := queryplan.AggFn(g.IntN(4))
			agg := queryplan.Agg{Out: queryplan.Column{Name: g.name(), Type: scalar.IntType},
				Fn: fn}
			if fn != queryplan.Count {
				agg.In = cols[g.IntN(len(cols))].Name
			}
			a.Aggs = append(a.Aggs, agg)
		}
		return a
	}
}

// over computes columns, which may have no value, from those of a tree.
func (g *recurring) over(n queryplan.Node) queryplan.Node {
	m := &queryplan.Map{Input: n}
	for range 1 + g.IntN(2) {
		f := []string{"add", "mul", "div"}[g.IntN(3)]
		cols := len(n.Columns())
		call := func(x, y queryplan.Expr) queryplan.Expr {
			return &queryplan.Call{Func: scalar.Lookup(f), Result: scalar.IntType,
				Args: []queryplan.Expr{x, y}}
		}
		e := call(ref(n, g.IntN(min(cols, 2))), ref(n, g.IntN(min(cols, 2))))
		m.Exprs = append(m.Exprs, queryplan.NamedExpr{Name: g.name(), Expr: e})
		if g.IntN(2) == 0 {
			m.Exprs = append(m.Exprs,
				queryplan.NamedExpr{Name: g.name(), Expr: call(e, ref(n, g.IntN(cols)))})
		}
	}
	return m
}

func ref(n queryplan.Node, i int) queryplan.Expr {
	return &queryplan.ColRef{Col: n.Columns()[i]}
}
