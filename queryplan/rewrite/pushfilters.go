package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

var pushFilters = &Pass{
	Name: "PushFilters",
	Reason: "A filter costs least, and saves most, where its tuples come from. Conditions are split " +
		"at and, moved through maps, projections, unions, aggregates and both sides of joins, and " +
		"comparisons of a join column with a constant hold on either side of the join.",
	Unless: "A condition stays above an operator that computes what it uses, above groups unless it " +
		"is on the grouping columns alone, and where it is if equal arguments may give different " +
		"results.",
	Before: "filter and(eq(x, 5), lt(y, z))\n  join x\n    scan a(x, y)\n    scan b(x, z)",
	After: "filter lt(y, z)\n  join x\n    filter eq(x, 5)\n      scan a(x, y)\n" +
		"    filter eq(x, 5)\n      scan b(x, z)",
	Source: "Ullman, Principles of Database and Knowledge-Base Systems, volume 2, chapter 11; " +
		"predicate transfer: Levy, Mumick, Sagiv, VLDB 1994",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			return push(n, nil)
		})
		return nil
	},
}

// push returns n filtered by conds. It pushes each condition down as far as
// possible.
func push(n queryplan.Node, conds []queryplan.Expr) queryplan.Node {
	switch n := n.(type) {
	case *queryplan.Filter:
		var fixed []queryplan.Expr
		for _, c := range queryplan.Conjuncts(n.Cond) {
			if queryplan.IsVolatile(c) {
				fixed = append(fixed, c)
			} else {
				conds = trees.AddCond(conds, c)
			}
		}
		if len(fixed) > 0 {
			// Conditions from above hold after the volatile ones as well as
			// before.
			return trees.Filter(push(n.Input, conds), fixed)
		}
		return push(n.Input, conds)
	case *queryplan.Map:
		return pushMap(n, conds)
	case *queryplan.Project:
		from := map[string]queryplan.Expr{}
		for _, c := range n.Columns() {
			for _, r := range n.Cols {
				if r.To == c.Name {
					from[r.To] = &queryplan.ColRef{Col: queryplan.Column{Name: r.From,
						Type: c.Type}}
				}
			}
		}
		below := make([]queryplan.Expr, len(conds))
		for i, c := range conds {
			below[i] = queryplan.Substitute(c, from)
		}
		return queryplan.WithInputs(n, []queryplan.Node{push(n.Input, below)})
	case *queryplan.Dedup:
		return queryplan.WithInputs(n, []queryplan.Node{push(n.Input, conds)})
	case *queryplan.Join:
		return pushJoin(n, conds)
	case *queryplan.Aggregate:
		return pushThrough(n, conds, n.By)
	case *queryplan.Seq:
		return pushThrough(n, conds, n.Group)
	case *queryplan.TopK:
		return pushThrough(n, conds, n.Group)
	case *queryplan.Union:
		inputs := make([]queryplan.Node, len(n.Nodes))
		for i, in := range n.Nodes {
			inputs[i] = push(in, conds)
		}
		return queryplan.WithInputs(n, inputs)
	case *queryplan.MultiJoin:
		return pushMultiJoin(n, conds)
	}
	return trees.Filter(n, conds)
}

// pushMultiJoin gives each input the conditions on its columns.
func pushMultiJoin(n *queryplan.MultiJoin, conds []queryplan.Expr) queryplan.Node {
	inputs := make([]queryplan.Node, len(n.Nodes))
	placed := make([]bool, len(conds))
	for i, in := range n.Nodes {
		cols := trees.Columns(in)
		var below []queryplan.Expr
		for j, c := range conds {
			if used := queryplan.ExprColumns(c); len(used) > 0 && trees.HasAll(cols, used) {
				below = append(below, c)
				placed[j] = true
			}
		}
		inputs[i] = push(in, below)
	}
	var above []queryplan.Expr
	for j, c := range conds {
		if !placed[j] {
			above = append(above, c)
		}
	}
	return trees.Filter(queryplan.WithInputs(n, inputs), above)
}

// pushMap pushes conditions below a map if they use only columns of the input,
// or computed columns that copy a column or a constant.
func pushMap(n *queryplan.Map, conds []queryplan.Expr) queryplan.Node {
	computed := map[string]bool{}
	copies := map[string]queryplan.Expr{}
	for _, e := range n.Exprs {
		if _, call := e.Expr.(*queryplan.Call); call {
			computed[e.Name] = true
		} else {
			copies[e.Name] = e.Expr
		}
	}
	var below, above []queryplan.Expr
	for _, c := range conds {
		if slices.ContainsFunc(queryplan.ExprColumns(c), func(name string) bool {
			return computed[name]
		}) {
			above = append(above, c)
		} else {
			below = trees.AddCond(below, queryplan.Substitute(c, copies))
		}
	}
	return trees.Filter(queryplan.WithInputs(n, []queryplan.Node{push(n.Input, below)}), above)
}

// pushThrough pushes conditions on grouping columns below an operator, because
// they keep or drop whole groups.
func pushThrough(n queryplan.Node, conds []queryplan.Expr, group []string) queryplan.Node {
	var below, above []queryplan.Expr
	for _, c := range conds {
		// A condition without columns, if pushed, could empty the only group of
		// an operator without grouping columns.
		if cols := queryplan.ExprColumns(c); len(cols) > 0 && trees.HasAll(group, cols) {
			below = append(below, c)
		} else {
			above = append(above, c)
		}
	}
	return trees.Filter(queryplan.WithInputs(n, []queryplan.Node{push(n.Inputs()[0], below)}),
		above)
}

// pushJoin gives each side the conditions on its own columns. A comparison of a
// join column with constants also goes to the other side, except from the right
// of an anti join to its left.
func pushJoin(n *queryplan.Join, conds []queryplan.Expr) queryplan.Node {
	left, right := trees.Columns(n.Left), trees.Columns(n.Right)
	on := n.On()
	var toLeft, toRight, above []queryplan.Expr
	for _, c := range conds {
		cols := queryplan.ExprColumns(c)
		placed := false
		if trees.HasAll(left, cols) {
			toLeft, placed = trees.AddCond(toLeft, c), true
		}
		if trees.HasAll(on, cols) || n.Kind == queryplan.Inner && trees.HasAll(right, cols) {
			if len(cols) > 0 {
				toRight, placed = trees.AddCond(toRight, c), true
			}
		}
		if !placed {
			above = append(above, c)
		}
	}
	if len(on) > 0 {
		fromLeft, fromRight := restrictions(n.Left, on), restrictions(n.Right, on)
		for _, c := range fromLeft {
			if !trees.HasCond(fromRight, c) {
				toRight = trees.AddCond(toRight, c)
			}
		}
		if n.Kind != queryplan.Anti {
			for _, c := range fromRight {
				if !trees.HasCond(fromLeft, c) {
					toLeft = trees.AddCond(toLeft, c)
				}
			}
		}
		toLeft = trees.Without(toLeft, fromLeft)
		toRight = trees.Without(toRight, fromRight)
	}
	return trees.Filter(queryplan.WithInputs(n, []queryplan.Node{push(n.Left, toLeft),
		push(n.Right, toRight)}), above)
}

// restrictions returns conditions on single columns among cols that the tree's
// filters make hold of every tuple.
func restrictions(n queryplan.Node, cols []string) []queryplan.Expr {
	if len(cols) == 0 {
		return nil
	}
	switch n := n.(type) {
	case *queryplan.Filter:
		out := restrictions(n.Input, cols)
		for _, c := range queryplan.Conjuncts(n.Cond) {
			if used := queryplan.ExprColumns(c); len(used) == 1 && trees.HasAll(cols, used) &&
				!queryplan.IsVolatile(c) {
				out = trees.AddCond(out, c)
			}
		}
		return out
	case *queryplan.Map:
		return restrictions(n.Input, cols)
	case *queryplan.Dedup:
		return restrictions(n.Input, cols)
	case *queryplan.Aggregate:
		return restrictions(n.Input, slices.DeleteFunc(slices.Clone(cols), func(c string) bool {
			return !slices.Contains(n.By, c)
		}))
	case *queryplan.Project:
		var from []string
		to := map[string]queryplan.Expr{}
		for _, c := range n.Cols {
			if _, again := to[c.From]; !again && slices.Contains(cols, c.To) {
				from = append(from, c.From)
				of, _ := queryplan.ColumnOf(n, c.To)
				to[c.From] = &queryplan.ColRef{Col: of}
			}
		}
		out := restrictions(n.Input, from)
		for i, c := range out {
			out[i] = queryplan.Substitute(c, to)
		}
		return out
	case *queryplan.Join:
		out := restrictions(n.Left, cols)
		if n.Kind != queryplan.Anti {
			for _, c := range restrictions(n.Right, cols) {
				if n.Kind == queryplan.Inner || trees.HasAll(n.On(), queryplan.ExprColumns(c)) {
					out = trees.AddCond(out, c)
				}
			}
		}
		return out
	}
	return nil
}
