package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

var foldConstants = &Pass{
	Name: "FoldConstants",
	Reason: "Constant expressions are computed once, filters that always or never hold go, and what " +
		"is known to be empty is taken out of joins, unions and rules, with the loops that could " +
		"never start.",
	Unless: "A function whose result changes from call to call stays, and so does a decimal that " +
		"does not fit its type but may be an intermediate of one that does.",
	Before: "join x\n  filter lt(2, 1)\n    scan a(x)\n  scan b(x)",
	After:  "values (x: int)",
	Source: "constant folding and empty-relation propagation; Kildall, POPL 1973, for constants " +
		"through a control-flow graph",
	run: foldProgram,
}

// foldProgram folds every tree and takes out rules that derive nothing.
func foldProgram(p *program) error {
	empty := p.emptyVars()
	p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command, n queryplan.Node) queryplan.Node {
		want := n.Columns()
		n = queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
			if s, ok := n.(*queryplan.Scan); ok && empty[s.Var] {
				return trees.Nothing(s.Columns())
			}
			return foldNode(n)
		})
		return trees.WithColumns(n, want)
	})
	for _, b := range p.Blocks {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c queryplan.Command) bool {
			switch c := c.(type) {
			case *queryplan.Insert:
				return trees.IsEmpty(c.Node)
			case *queryplan.Check:
				return trees.IsEmpty(c.Node)
			case *queryplan.CheckKey:
				return empty[c.Var]
			}
			return false
		})
		if br, ok := b.Term.(*queryplan.Branch); ok {
			vars := slices.DeleteFunc(slices.Clone(br.Vars), func(v *queryplan.Var) bool {
				return empty[v]
			})
			switch {
			case len(vars) == 0:
				b.Term = &queryplan.Jump{To: br.Else}
			case len(vars) < len(br.Vars):
				kept := *br
				kept.Vars = vars
				b.Term = &kept
			}
		}
	}
	dropUnreached(p.Plan)
	return nil
}

// dropUnreached removes the blocks that control cannot come to.
func dropUnreached(p *queryplan.Plan) {
	reached := map[*queryplan.Block]bool{p.Blocks[0]: true}
	for work := []*queryplan.Block{p.Blocks[0]}; len(work) > 0; work = work[1:] {
		for _, s := range work[0].Successors() {
			if !reached[s] {
				reached[s] = true
				work = append(work, s)
			}
		}
	}
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b *queryplan.Block) bool { return !reached[b] })
}

// emptyVars returns the inputs without rows, those that the database does not
// have among them, and the derived variables that no rule can put a tuple in.
// It starts from all of the latter and takes out those with a rule over what
// may have tuples, until nothing changes.
func (p *program) emptyVars() map[*queryplan.Var]bool {
	empty := map[*queryplan.Var]bool{}
	for _, v := range p.Vars {
		rel := p.catalog.Relation(v.Source)
		if v.Kind == queryplan.Derived || v.Kind == queryplan.Input && p.catalog != nil &&
			(rel == nil || rel.Rows == 0) {
			empty[v] = true
		}
	}
	var open []*queryplan.Insert
	for _, c := range p.Commands() {
		if ins, ok := c.(*queryplan.Insert); ok {
			open = append(open, ins)
		}
	}
	for changed := true; changed; {
		changed = false
		open = slices.DeleteFunc(open, func(ins *queryplan.Insert) bool {
			if !empty[ins.Var] {
				return true
			}
			if derivesNothing(ins.Node, empty) {
				return false
			}
			delete(empty, ins.Var)
			changed = true
			return true
		})
	}
	return empty
}

// derivesNothing reports whether a tree yields no tuple while the given
// variables are empty.
func derivesNothing(n queryplan.Node, empty map[*queryplan.Var]bool) bool {
	switch n := n.(type) {
	case *queryplan.Scan:
		return empty[n.Var]
	case *queryplan.Values:
		return len(n.Rows) == 0
	case *queryplan.Join:
		return derivesNothing(n.Left, empty) || n.Kind != queryplan.Anti &&
			derivesNothing(n.Right, empty)
	case *queryplan.Union:
		return !slices.ContainsFunc(n.Nodes, func(in queryplan.Node) bool {
			return !derivesNothing(in, empty)
		})
	case *queryplan.MultiJoin:
		return slices.ContainsFunc(n.Nodes, func(in queryplan.Node) bool {
			return derivesNothing(in, empty)
		})
	}
	return derivesNothing(n.Inputs()[0], empty)
}

// foldNode folds one operator whose inputs are folded. The columns of the
// result may be in another order.
func foldNode(n queryplan.Node) queryplan.Node {
	switch n := n.(type) {
	case *queryplan.Filter:
		return foldFilter(n)
	case *queryplan.Map:
		return foldMap(n)
	case *queryplan.Project:
		if v, ok := n.Input.(*queryplan.Values); ok {
			return projectValues(v, n)
		}
		return trees.Project(n.Input, n.Cols)
	case *queryplan.Join:
		return foldJoin(n)
	case *queryplan.Union:
		return foldUnion(n)
	case *queryplan.Dedup:
		if inner, ok := n.Input.(*queryplan.Dedup); ok {
			return inner
		}
	case *queryplan.TopK:
		if n.Limit == 0 {
			return trees.Nothing(n.Columns())
		}
	}
	if slices.ContainsFunc(n.Inputs(), trees.IsEmpty) {
		return trees.Nothing(n.Columns())
	}
	return n
}

func foldFilter(n *queryplan.Filter) queryplan.Node {
	conds, ok := foldConds(queryplan.Conjuncts(n.Cond))
	if !ok || trees.IsEmpty(n.Input) {
		return trees.Nothing(n.Columns())
	}
	if len(conds) == 0 {
		return n.Input
	}
	v, ok := n.Input.(*queryplan.Values)
	if !ok || slices.ContainsFunc(conds, queryplan.IsVolatile) {
		if cond := queryplan.And(conds); !queryplan.EqualExpr(cond, n.Cond) {
			return &queryplan.Filter{Input: n.Input, Cond: cond}
		}
		return n
	}
	out := &queryplan.Values{Cols: v.Cols}
	for _, row := range v.Rows {
		if !slices.ContainsFunc(conds, func(c queryplan.Expr) bool {
			return !holds(c, v.Cols, row)
		}) {
			out.Rows = append(out.Rows, row)
		}
	}
	return out
}

func holds(cond queryplan.Expr, cols []queryplan.Column, row []scalar.Value) bool {
	v, ok := evalRow(cond, cols, row)
	return ok && v.Bool()
}

func evalRow(e queryplan.Expr, cols []queryplan.Column, row []scalar.Value) (scalar.Value, bool) {
	return queryplan.Eval(e, func(name string) scalar.Value {
		return row[slices.IndexFunc(cols, func(c queryplan.Column) bool { return c.Name == name })]
	})
}

func foldMap(n *queryplan.Map) queryplan.Node {
	if trees.IsEmpty(n.Input) {
		return trees.Nothing(n.Columns())
	}
	if len(n.Exprs) == 0 {
		return n.Input
	}
	exprs := make([]queryplan.NamedExpr, len(n.Exprs))
	same, volatile := true, false
	for i, e := range n.Exprs {
		folded, none := foldExpr(e.Expr)
		if none {
			return trees.Nothing(n.Columns())
		}
		exprs[i] = queryplan.NamedExpr{Name: e.Name, Expr: folded}
		same = same && folded == e.Expr
		volatile = volatile || queryplan.IsVolatile(folded)
	}
	v, ok := n.Input.(*queryplan.Values)
	switch {
	case ok && !volatile:
		return mapValues(v, exprs, n.Columns())
	case same:
		return n
	}
	return &queryplan.Map{Input: n.Input, Exprs: exprs}
}

func mapValues(
	v *queryplan.Values, exprs []queryplan.NamedExpr, cols []queryplan.Column,
) queryplan.Node {
	out := &queryplan.Values{Cols: cols}
rows:
	for _, row := range v.Rows {
		next := slices.Clone(row)
		for _, e := range exprs {
			val, ok := evalRow(e.Expr, v.Cols, row)
			if !ok || !val.FitsWord() {
				continue rows
			}
			next = append(next, val)
		}
		out.Rows = append(out.Rows, next)
	}
	return out
}

func projectValues(v *queryplan.Values, n *queryplan.Project) queryplan.Node {
	at := make([]int, len(n.Cols))
	for i, c := range n.Cols {
		at[i] = slices.IndexFunc(v.Cols, func(col queryplan.Column) bool {
			return col.Name == c.From
		})
	}
	out := &queryplan.Values{Cols: n.Columns(), Rows: make([][]scalar.Value, len(v.Rows))}
	for i, row := range v.Rows {
		out.Rows[i] = list.Map(at, func(k int) scalar.Value { return row[k] })
	}
	return out
}

// foldJoin removes joins with nothing and turns joins with one constant tuple
// into filters and maps.
func foldJoin(n *queryplan.Join) queryplan.Node {
	switch {
	case trees.IsEmpty(n.Left), n.Kind != queryplan.Anti && trees.IsEmpty(n.Right):
		return trees.Nothing(n.Columns())
	case n.Kind == queryplan.Anti && trees.IsEmpty(n.Right):
		return n.Left
	}
	if row, ok := n.Right.(*queryplan.Values); ok && len(row.Rows) == 1 {
		if n.Kind == queryplan.Anti {
			return foldFilter(&queryplan.Filter{Input: n.Left, Cond: notMatching(row, n.On())})
		}
		return joinRow(n.Left, row, n.Kind == queryplan.Inner)
	}
	if row, ok := n.Left.(*queryplan.Values); ok && len(row.Rows) == 1 &&
		n.Kind == queryplan.Inner {
		return trees.WithColumns(joinRow(n.Right, row, true), n.Columns())
	}
	return n
}

// joinRow matches n with one constant tuple.
func joinRow(n queryplan.Node, row *queryplan.Values, appends bool) queryplan.Node {
	var conds []queryplan.Expr
	var exprs []queryplan.NamedExpr
	in := n.Columns()
	for i, c := range row.Cols {
		if _, shared := queryplan.FindColumn(in, c.Name); shared {
			conds = append(conds, trees.Equals(c, row.Rows[0][i]))
		} else if appends {
			exprs = append(exprs,
				queryplan.NamedExpr{Name: c.Name, Expr: trees.Constant(row.Rows[0][i])})
		}
	}
	if len(conds) > 0 {
		n = foldFilter(&queryplan.Filter{Input: n, Cond: queryplan.And(conds)})
	}
	if len(exprs) > 0 {
		n = foldMap(&queryplan.Map{Input: n, Exprs: exprs})
	}
	return n
}

// notMatching is the condition that a tuple differs from a constant tuple in a
// column of on. Without such a column it is false.
func notMatching(row *queryplan.Values, on []string) queryplan.Expr {
	var conds []queryplan.Expr
	for i, c := range row.Cols {
		if slices.Contains(on, c.Name) {
			conds = append(conds, trees.Equals(c, row.Rows[0][i]))
		}
	}
	if len(conds) == 0 {
		return trees.Constant(scalar.OfBool(false))
	}
	return &queryplan.Call{Func: scalar.Lookup("not"), Args: []queryplan.Expr{queryplan.And(conds)},
		Result: scalar.BooleanType}
}

func foldUnion(n *queryplan.Union) queryplan.Node {
	cols := n.Columns()
	var inputs []queryplan.Node
	for _, in := range n.Nodes {
		switch in := in.(type) {
		case *queryplan.Union:
			inputs = append(inputs, in.Nodes...)
		default:
			if !trees.IsEmpty(in) {
				inputs = append(inputs, in)
			}
		}
	}
	switch {
	case len(inputs) == 0:
		return trees.Nothing(cols)
	case len(inputs) == 1:
		return trees.WithColumns(inputs[0], cols)
	case len(inputs) == len(n.Nodes) && slices.Equal(inputs, n.Nodes):
		return n
	}
	// A union has the columns of its first input, which may be another one now.
	inputs[0] = trees.WithColumns(inputs[0], cols)
	return &queryplan.Union{Nodes: inputs}
}
