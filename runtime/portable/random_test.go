package portable

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// generator makes random plans and facts: every operator, over every type.
type generator struct {
	*rand.Rand
	names int
	vars  []*queryplan.Var // that may be scanned
	facts map[string]planref.Rows
}

var columnTypes = []scalar.Type{
	scalar.IntType, scalar.IntType, scalar.IntType, scalar.StringType, scalar.StringType,
	scalar.DecimalOf(2), scalar.FloatType,
	scalar.BooleanType, scalar.DatetimeType, scalar.UintType, scalar.IntOf(8), scalar.UintOf(16),
}

var textWords = []string{"", "a", "b", "ab", "abc", "B", "é", "x y", "zz"}

func (g *generator) typ() scalar.Type { return columnTypes[g.IntN(len(columnTypes))] }

func (g *generator) name() string {
	g.names++
	return fmt.Sprint("c", g.names)
}

// value picks from few values, so that joins meet, and now and then an extreme.
func (g *generator) value(t scalar.Type) scalar.Value {
	small := int64(g.IntN(7) - 2)
	extreme := g.IntN(40) == 0
	switch t.Kind {
	case scalar.Boolean:
		return scalar.OfBool(g.IntN(2) == 0)
	case scalar.String:
		return scalar.OfString(textWords[g.IntN(len(textWords))])
	case scalar.Float:
		if extreme {
			return scalar.OfFloat(t, []float64{1e308, -1e308, 1e-300, 0.1, 1 << 60}[g.IntN(5)])
		}
		return scalar.OfFloat(t, float64(small)/4)
	case scalar.Decimal:
		if extreme {
			return scalar.OfBits(t, uint64([]int64{1<<63 - 1, -1 << 63, 1 << 40}[g.IntN(3)]))
		}
		return scalar.OfBits(t, uint64(small*25))
	case scalar.Datetime:
		return scalar.OfDatetime(small * 86400e6)
	case scalar.Uint:
		if extreme {
			return scalar.OfInt(t, -1)
		}
		return scalar.OfInt(t, small+2)
	}
	if extreme {
		return scalar.OfInt(t, []int64{1<<63 - 1, -1 << 63, 127, 1 << 33}[g.IntN(4)])
	}
	return scalar.OfInt(t, small)
}

func (g *generator) rows(types []scalar.Type, n int) planref.Rows {
	out := make(planref.Rows, n)
	for i := range out {
		for _, t := range types {
			out[i] = append(out[i], g.value(t))
		}
	}
	return out
}

func columnNames(cols []queryplan.Column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.Name
	}
	return out
}

func distinct(rows planref.Rows) planref.Rows {
	seen := map[string]bool{}
	var out planref.Rows
	for _, r := range rows {
		if k := textOf(planref.Rows{r})[0]; !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// call resolves a function for the types of its arguments, widening them, or
// returns nil.
func call(name string, args ...queryplan.Expr) queryplan.Expr {
	types := make([]scalar.Type, len(args))
	for i, a := range args {
		types[i] = a.Type()
	}
	sig, err := scalar.Resolve(name, types)
	if err != nil {
		return nil
	}
	args = slices.Clone(args)
	for i, p := range sig.Params {
		if types[i] != p {
			args[i] = &queryplan.Call{Func: scalar.Lookup("convert"),
				Args: []queryplan.Expr{args[i]}, Result: p}
		}
	}
	return &queryplan.Call{Func: sig.Func, Args: args, Result: sig.Result}
}

// expr returns an expression of any type over columns.
func (g *generator) expr(cols []queryplan.Column, depth int) queryplan.Expr {
	if depth == 0 || g.IntN(4) == 0 {
		if len(cols) > 0 && g.IntN(4) > 0 {
			return &queryplan.ColRef{Col: cols[g.IntN(len(cols))]}
		}
		return &queryplan.Const{Value: g.value(g.typ())}
	}
	for range 50 {
		a, b := g.expr(cols, depth-1), g.expr(cols, depth-1)
		var e queryplan.Expr
		switch g.IntN(12) {
		case 0, 1, 2, 3:
			e = call([]string{"add", "sub", "mul", "div", "mod", "min", "max"}[g.IntN(7)], a, b)
		case 4, 5:
			e = call([]string{"eq", "ne", "lt", "le", "gt", "ge"}[g.IntN(6)], a, b)
		case 6:
			e = call([]string{"neg", "abs", "not", "string:upper", "string:length",
				"bitnot"}[g.IntN(6)], a)
		case 7:
			e = call([]string{"and", "or", "xor"}[g.IntN(3)], a, b)
		case 8:
			e = call([]string{"string:like", "string:notlike"}[g.IntN(2)], a,
				&queryplan.Const{Value: scalar.OfString([]string{"a%", "%b%", "_",
					"%"}[g.IntN(4)])})
		case 9:
			e = call([]string{"int:string:convert", "int:float:convert", "decimal:float:convert",
				"int:decimal:convert", "decimal:int:convert", "string:int:convert",
				"boolean:int:convert"}[g.IntN(7)], a)
		case 10:
			e = call("holds", a)
		case 11:
			e = call("string:substring", a,
				&queryplan.Const{Value: scalar.OfInt(scalar.IntType,
					0)}, &queryplan.Const{Value: scalar.OfInt(scalar.IntType, 1)})
		}
		if e != nil {
			return e
		}
	}
	return g.expr(cols, 0)
}

func (g *generator) cond(cols []queryplan.Column) queryplan.Expr {
	for range 100 {
		if e := g.expr(cols, 1+g.IntN(3)); e.Type() == scalar.BooleanType {
			return e
		}
	}
	return &queryplan.Const{Value: scalar.OfBool(true)}
}

// compare is a condition that scans can take in.
func (g *generator) compare(cols []queryplan.Column) queryplan.Expr {
	if len(cols) == 0 {
		return &queryplan.Const{Value: scalar.OfBool(true)}
	}
	col := cols[g.IntN(len(cols))]
	name := []string{"eq", "ne", "lt", "le", "gt", "ge"}[g.IntN(6)]
	a, b := queryplan.Expr(&queryplan.ColRef{Col: col}),
		queryplan.Expr(&queryplan.Const{Value: g.value(col.Type)})
	if g.IntN(3) == 0 {
		a, b = b, a
	}
	return call(name, a, b)
}

func pickSome[T any](g *generator, from []T, most int) []T {
	var out []T
	for _, i := range g.Perm(len(from)) {
		if len(out) < most && g.IntN(2) == 0 {
			out = append(out, from[i])
		}
	}
	return out
}

func (g *generator) node(depth int) queryplan.Node {
	if depth == 0 {
		return g.leaf()
	}
	in := func() queryplan.Node { return g.node(depth - 1) }
	switch g.IntN(14) {
	case 0:
		return g.leaf()
	case 1, 2:
		n := in()
		cond := g.cond(n.Columns())
		if g.IntN(2) == 0 {
			cond = queryplan.And([]queryplan.Expr{g.compare(n.Columns()), g.compare(n.Columns())})
		}
		return &queryplan.Filter{Input: n, Cond: cond}
	case 3, 4:
		n := in()
		m := &queryplan.Map{Input: n}
		for range 1 + g.IntN(3) {
			m.Exprs = append(m.Exprs,
				queryplan.NamedExpr{Name: g.name(), Expr: g.expr(n.Columns(), 1+g.IntN(3))})
		}
		return m
	case 5:
		return g.project(in())
	case 6:
		return &queryplan.Dedup{Input: g.project(in())}
	case 7, 8, 9:
		return g.join(in(), in())
	case 10:
		return g.aggregate(in())
	case 11:
		a, b := in(), in()
		return &queryplan.Union{Nodes: []queryplan.Node{a, g.shape(b, a.Columns()),
			g.shape(g.leaf(), a.Columns())}}
	case 12:
		n := in()
		group := pickSome(g, columnNames(n.Columns()), 2)
		rest := slices.DeleteFunc(columnNames(n.Columns()),
			func(c string) bool { return slices.Contains(group, c) })
		order := list.Map(pickSome(g, rest, 2), func(col string) queryplan.OrderKey {
			return queryplan.OrderKey{Col: col, Desc: g.IntN(3) == 0}
		})
		return &queryplan.Seq{Input: n, Group: group, Order: order, Index: g.name()}
	}
	n := in()
	k := &queryplan.TopK{Input: n, Limit: int64(g.IntN(6)),
		Group: pickSome(g, columnNames(n.Columns()), 1)}
	rest := slices.DeleteFunc(columnNames(n.Columns()),
		func(c string) bool { return slices.Contains(k.Group, c) })
	for _, c := range pickSome(g, rest, 2) {
		k.By = append(k.By, queryplan.OrderKey{Col: c, Desc: g.IntN(2) == 0})
	}
	return k
}

func (g *generator) leaf() queryplan.Node {
	if g.IntN(8) == 0 {
		v := &queryplan.Values{}
		var types []scalar.Type
		for range g.IntN(3) {
			t := g.typ()
			types = append(types, t)
			v.Cols = append(v.Cols, queryplan.Column{Name: g.name(), Type: t})
		}
		v.Rows = g.rows(types, g.IntN(4))
		return v
	}
	v := g.vars[g.IntN(len(g.vars))]
	s := &queryplan.Scan{Var: v, Names: make([]string, len(v.Cols))}
	if v.Kind == queryplan.Derived {
		s.Version = queryplan.Version(g.IntN(3))
	}
	for i := range s.Names {
		if g.IntN(5) > 0 {
			s.Names[i] = g.name()
		}
	}
	return s
}

func (g *generator) project(n queryplan.Node) queryplan.Node {
	p := &queryplan.Project{Input: n}
	for _, c := range n.Columns() {
		for g.IntN(3) > 0 && len(p.Cols) < 6 {
			p.Cols = append(p.Cols, queryplan.Rename{From: c.Name, To: g.name()})
		}
	}
	return p
}

// join renames columns of the right side to the left's where the types agree.
func (g *generator) join(left, right queryplan.Node) queryplan.Node {
	p := &queryplan.Project{Input: right}
	used := map[string]bool{}
	for _, c := range right.Columns() {
		to := g.name()
		for _, l := range left.Columns() {
			if l.Type == c.Type && !used[l.Name] && len(used) < 3 && g.IntN(2) == 0 {
				to = l.Name
				used[to] = true
				break
			}
		}
		p.Cols = append(p.Cols, queryplan.Rename{From: c.Name, To: to})
	}
	return &queryplan.Join{Kind: queryplan.JoinKind(g.IntN(3)), Left: left, Right: p}
}

func (g *generator) aggregate(n queryplan.Node) queryplan.Node {
	cols := n.Columns()
	a := &queryplan.Aggregate{Input: n, By: pickSome(g, columnNames(cols), 3)}
	a.Aggs = append(a.Aggs, queryplan.Agg{Out: queryplan.Column{Name: g.name(),
		Type: scalar.IntType}, Fn: queryplan.Count})
	for _, c := range pickSome(g, cols, 4) {
		fn := queryplan.AggFn(1 + g.IntN(4))
		out := queryplan.Column{Name: g.name(), Type: c.Type}
		if fn == queryplan.Total || fn == queryplan.Avg {
			if !c.Type.IsNumeric() {
				continue
			}
			if fn == queryplan.Avg && c.Type.Kind != scalar.Float {
				out.Type = scalar.DecimalOf(scalar.QuotientScale(c.Type.Scale, 0))
			}
		}
		a.Aggs = append(a.Aggs, queryplan.Agg{Out: out, Fn: fn, In: c.Name})
	}
	return a
}

// shape makes a node with the given columns out of another one.
func (g *generator) shape(n queryplan.Node, cols []queryplan.Column) queryplan.Node {
	m := &queryplan.Map{Input: n}
	p := &queryplan.Project{Input: m}
	for _, c := range cols {
		name := g.name()
		var e queryplan.Expr = &queryplan.Const{Value: g.value(c.Type)}
		for _, have := range n.Columns() {
			if have.Type == c.Type && g.IntN(2) == 0 {
				e = &queryplan.ColRef{Col: have}
			}
		}
		m.Exprs = append(m.Exprs, queryplan.NamedExpr{Name: name, Expr: e})
		p.Cols = append(p.Cols, queryplan.Rename{From: name, To: c.Name})
	}
	if len(m.Exprs) == 0 {
		p.Input = n
	}
	return p
}

func (g *generator) plan() *queryplan.Plan {
	p := &queryplan.Plan{}
	for i := range 3 {
		v := &queryplan.Var{Name: fmt.Sprint("in", i), Kind: queryplan.Input,
			Source: fmt.Sprint("in", i), Limit: -1}
		var types []scalar.Type
		for j := range 1 + g.IntN(4) {
			t := g.typ()
			types = append(types, t)
			v.Cols = append(v.Cols, queryplan.Column{Name: fmt.Sprint("a", j), Type: t})
		}
		v.Keys = len(v.Cols)
		g.facts[v.Source] = distinct(g.rows(types, []int{0, 1, 3, 8, 20}[g.IntN(5)]))
		p.Vars = append(p.Vars, v)
		g.vars = append(g.vars, v)
	}
	halt := &queryplan.Block{Name: "end", Term: &queryplan.Halt{}}
	entry := &queryplan.Block{Name: "entry"}
	block := entry
	p.Blocks = append(p.Blocks, entry)
	for i := range 3 {
		n := g.node(1 + g.IntN(3))
		v := &queryplan.Var{Name: fmt.Sprint("v", i), Kind: queryplan.Derived, Limit: -1,
			Output: true}
		for j, c := range n.Columns() {
			v.Cols = append(v.Cols, queryplan.Column{Name: fmt.Sprint("a", j), Type: c.Type})
		}
		v.Keys = len(v.Cols)
		p.Vars = append(p.Vars, v)
		if g.IntN(5) == 0 {
			v.Kind, v.Output = queryplan.Temp, false
			block.Cmds = append(block.Cmds, &queryplan.Assign{Var: v, Node: n})
			g.vars = append(g.vars, v)
			continue
		}
		insert := func(n queryplan.Node) {
			block.Cmds = append(block.Cmds,
				&queryplan.Insert{Var: v, Node: n})
		}
		insert(n)
		if g.IntN(2) == 0 {
			insert(g.shape(g.node(1), v.Cols))
		}
		block.Cmds = append(block.Cmds, &queryplan.Merge{Var: v})
		g.vars = append(g.vars, v)
		if g.IntN(2) == 0 {
			// A loop of some rounds, which a variable of its own counts.
			loop := &queryplan.Block{Name: fmt.Sprint("loop", i)}
			next := &queryplan.Block{Name: fmt.Sprint("next", i)}
			counter := &queryplan.Var{Name: fmt.Sprint("round", i), Kind: queryplan.Derived,
				Cols: []queryplan.Column{{Name: "n", Type: scalar.IntType}}, Keys: 1, Limit: -1}
			p.Vars = append(p.Vars, counter)
			block.Cmds = append(block.Cmds,
				&queryplan.Insert{Var: counter,
					Node: &queryplan.Values{Cols: counter.Cols,
						Rows: planref.Rows{{scalar.OfInt(scalar.IntType,
							0)}}}}, &queryplan.Merge{Var: counter})
			block.Term = &queryplan.Jump{To: loop}
			p.Blocks = append(p.Blocks, loop, next)
			block = loop
			for range 1 + g.IntN(2) {
				insert(g.shape(g.node(1), v.Cols))
			}
			block.Cmds = append(block.Cmds, &queryplan.Merge{Var: v})
			block.Cmds = append(block.Cmds,
				&queryplan.Insert{Var: counter,
					Node: g.increment(counter)}, &queryplan.Merge{Var: counter})
			loop.Term = &queryplan.Branch{Vars: []*queryplan.Var{counter}, Then: loop, Else: next}
			block = next
		}
		if len(v.Cols) > 1 && g.IntN(6) == 0 {
			v.Keys--
			block.Cmds = append(block.Cmds, &queryplan.CheckKey{Var: v})
		}
	}
	block.Cmds = append(block.Cmds, &queryplan.Check{Node: g.node(2), Text: "nothing"})
	block.Term = &queryplan.Jump{To: halt}
	p.Blocks = append(p.Blocks, halt)
	return p
}

// increment adds one to a counter that is below a small limit.
func (g *generator) increment(v *queryplan.Var) queryplan.Node {
	n := queryplan.Column{Name: g.name(), Type: scalar.IntType}
	next := g.name()
	number := func(i int64) queryplan.Expr {
		return &queryplan.Const{Value: scalar.OfInt(scalar.IntType, i)}
	}
	below := &queryplan.Filter{
		Input: &queryplan.Scan{Var: v, Version: queryplan.Delta, Names: []string{n.Name}},
		Cond:  call("lt", &queryplan.ColRef{Col: n}, number(int64(1+g.IntN(4)))),
	}
	return &queryplan.Project{
		Input: &queryplan.Map{Input: below,
			Exprs: []queryplan.NamedExpr{{Name: next,
				Expr: call("add", &queryplan.ColRef{Col: n}, number(1))}}},
		Cols: []queryplan.Rename{{From: next, To: "n"}},
	}
}

func randomPlan(seed uint64) (*queryplan.Plan, map[string]planref.Rows) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), facts: map[string]planref.Rows{}}
	return g.plan(), g.facts
}

var planCount = flag.Uint64("plans", 400, "random plans that TestRandomPlans runs")

func TestRandomPlans(t *testing.T) {
	plans := *planCount
	if testing.Short() {
		plans = 100
	}
	valid := 0
	for seed := range plans {
		p, facts := randomPlan(seed)
		if err := queryplan.Verify(p); err != nil {
			t.Logf("seed %d: %v", seed, err)
			continue
		}
		valid++
		if seed%3 == 0 {
			p = planref.ThroughPositions(p)
		}
		if err := agree(p, facts); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%v", seed, err, p, facts)
		}
	}
	if valid < int(plans)*9/10 {
		t.Errorf("only %d of %d random plans are valid", valid, plans)
	}
}
