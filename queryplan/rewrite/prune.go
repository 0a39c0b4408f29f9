package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var pruneColumns = &Pass{
	Name: "PruneColumns",
	Reason: "A column that nothing uses need not be read, computed or carried. Scans leave it out, " +
		"maps and aggregates do not compute it.",
	Unless: "The number of tuples must stay: a computed column that may have no value drops tuples " +
		"and is kept unless the bounds of its arguments prove that it always has one; a dedup or " +
		"top-k looks at all columns.",
	Before: "project x\n  map w = add(x, 1)\n    join y\n      scan a(x, y)\n      scan b(y, z)",
	After:  "project x\n  join y\n    scan a(x, y)\n    scan b(y, _)",
	Source: "projection push-down: Ullman, Principles of Database and Knowledge-Base Systems, " +
		"volume 2, chapter 11",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			cols := n.Columns()
			return trees.WithColumns(pruner{p.catalog}.node(n, trees.Columns(n)), cols)
		})
		return nil
	},
}

type pruner struct{ catalog *stats.Catalog }

// node returns n without columns that are not needed. The needed ones keep
// their order; some of the others may remain.
func (p pruner) node(n queryplan.Node, need []string) queryplan.Node {
	switch n := n.(type) {
	case *queryplan.Scan:
		names := slices.Clone(n.Names)
		for i, name := range names {
			if !slices.Contains(need, name) {
				names[i] = ""
			}
		}
		position := n.Position
		if !slices.Contains(need, position) {
			position = ""
		}
		if slices.Equal(names, n.Names) && position == n.Position {
			return n
		}
		return &queryplan.Scan{Var: n.Var, Version: n.Version, Names: names, Position: position}
	case *queryplan.Values:
		var keep []queryplan.Rename
		for _, c := range n.Cols {
			if slices.Contains(need, c.Name) {
				keep = append(keep, queryplan.Rename{From: c.Name, To: c.Name})
			}
		}
		if len(keep) == len(n.Cols) {
			return n
		}
		return projectValues(n, &queryplan.Project{Input: n, Cols: keep})
	case *queryplan.Filter:
		return p.input(n, n.Input, need, queryplan.ExprColumns(n.Cond))
	case *queryplan.Map:
		return p.mapped(n, need)
	case *queryplan.Project:
		var cols []queryplan.Rename
		var from []string
		for _, c := range n.Cols {
			if slices.Contains(need, c.To) {
				cols = append(cols, c)
				from = append(from, c.From)
			}
		}
		return trees.Project(p.node(n.Input, from), cols)
	case *queryplan.Join:
		on := n.On()
		left := p.node(n.Left, slices.Concat(need, on))
		if n.Kind != queryplan.Inner {
			need = nil
		}
		return queryplan.WithInputs(n,
			[]queryplan.Node{left, p.node(n.Right, slices.Concat(need, on))})
	case *queryplan.Aggregate:
		aggs := slices.DeleteFunc(slices.Clone(n.Aggs), func(a queryplan.Agg) bool {
			return !slices.Contains(need, a.Out.Name)
		})
		if len(aggs) < len(n.Aggs) {
			n = &queryplan.Aggregate{Input: n.Input, By: n.By, Aggs: aggs}
		}
		in := p.node(n.Input, joins.Aggregated(n))
		// Columns that an aggregate does not read may as well stay.
		if narrow, ok := in.(*queryplan.Project); ok &&
			!slices.ContainsFunc(narrow.Cols, func(r queryplan.Rename) bool {
				return r.From != r.To
			}) {
			in = narrow.Input
		}
		return queryplan.WithInputs(n, []queryplan.Node{in})
	case *queryplan.Union:
		return p.union(n, need)
	case *queryplan.MultiJoin:
		inputs := make([]queryplan.Node, len(n.Nodes))
		for i, in := range n.Nodes {
			inputs[i] = p.node(in, slices.Concat(need, n.Order))
		}
		return queryplan.WithInputs(n, inputs)
	case *queryplan.Seq:
		if !slices.Contains(need, n.Index) {
			return p.node(n.Input, need)
		}
		return p.input(n, n.Input, need, n.Group, queryplan.OrderColumns(n.Order))
	}
	inputs := slices.Clone(n.Inputs())
	for i, in := range inputs {
		inputs[i] = p.node(in, trees.Columns(in))
	}
	return queryplan.WithInputs(n, inputs)
}

// input prunes the input of an operator that needs the given columns of it.
func (p pruner) input(n, in queryplan.Node, need ...[]string) queryplan.Node {
	return queryplan.WithInputs(n, []queryplan.Node{p.node(in, slices.Concat(need...))})
}

func (p pruner) mapped(n *queryplan.Map, need []string) queryplan.Node {
	var keep []queryplan.NamedExpr
	var exprs []queryplan.Expr
	var bounds map[string]stats.Bound
	for _, e := range n.Exprs {
		if !slices.Contains(need, e.Name) {
			if bounds == nil {
				bounds = p.catalog.Bounds(n.Input)
			}
			if stats.AlwaysFits(e.Expr, bounds) {
				continue
			}
		}
		keep = append(keep, e)
		exprs = append(exprs, e.Expr)
	}
	in := p.node(n.Input, slices.Concat(need, queryplan.ExprColumns(exprs...)))
	switch {
	case len(keep) == 0:
		return in
	case len(keep) == len(n.Exprs):
		return queryplan.WithInputs(n, []queryplan.Node{in})
	}
	return &queryplan.Map{Input: in, Exprs: keep}
}

// union keeps the inputs' columns the same.
func (p pruner) union(n *queryplan.Union, need []string) queryplan.Node {
	cols := list.Filter(n.Columns(), func(c queryplan.Column) bool {
		return slices.Contains(need, c.Name)
	})
	inputs := make([]queryplan.Node, len(n.Nodes))
	for i, in := range n.Nodes {
		inputs[i] = p.node(in, need)
		if len(inputs[i].Columns()) != len(cols) {
			inputs[i] = trees.WithColumns(inputs[i], cols)
		}
	}
	return queryplan.WithInputs(n, inputs)
}
