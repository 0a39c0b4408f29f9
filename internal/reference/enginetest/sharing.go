package enginetest

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// Apart returns the plan with no operator and no expression at two places.
func Apart(p *queryplan.Plan) *queryplan.Plan {
	return remade(p, func(n queryplan.Node) queryplan.Node { return n },
		func(e queryplan.Expr) queryplan.Expr { return e })
}

// Together returns the plan with equal operators, and equal expressions, as one
// at all their places. Passes share some of them; no engine may take what it
// knows at one place for what holds at another.
func Together(p *queryplan.Plan) *queryplan.Plan {
	var nodes []queryplan.Node
	exprs := map[string][]queryplan.Expr{}
	return remade(p, func(n queryplan.Node) queryplan.Node {
		for _, m := range nodes {
			if queryplan.Equal(m, n) {
				return m
			}
		}
		nodes = append(nodes, n)
		return n
	}, func(e queryplan.Expr) queryplan.Expr {
		text := queryplan.ExprString(e)
		for _, f := range exprs[text] {
			if queryplan.EqualExpr(e, f) {
				return f
			}
		}
		exprs[text] = append(exprs[text], e)
		return e
	})
}

// remade copies a plan; node and expr choose what stands for a copied operator
// or expression.
func remade(p *queryplan.Plan, node func(queryplan.Node) queryplan.Node,
	expr func(queryplan.Expr) queryplan.Expr) *queryplan.Plan {
	out := queryplan.Clone(p)
	whole := func(n queryplan.Node) queryplan.Node { return remadeNode(n, node, expr) }
	for _, cmd := range out.Commands() {
		switch cmd := cmd.(type) {
		case *queryplan.Insert:
			cmd.Node = whole(cmd.Node)
		case *queryplan.Assign:
			cmd.Node = whole(cmd.Node)
		case *queryplan.Check:
			cmd.Node = whole(cmd.Node)
		}
	}
	return out
}

func remadeNode(n queryplan.Node, node func(queryplan.Node) queryplan.Node,
	expr func(queryplan.Expr) queryplan.Expr) queryplan.Node {
	inputs := make([]queryplan.Node, len(n.Inputs()))
	for i, in := range n.Inputs() {
		inputs[i] = remadeNode(in, node, expr)
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		return node(&queryplan.Scan{Var: n.Var, Version: n.Version, Names: n.Names,
			Position: n.Position})
	case *queryplan.Values:
		return node(&queryplan.Values{Cols: n.Cols, Rows: n.Rows})
	case *queryplan.Filter:
		return node(&queryplan.Filter{Input: inputs[0], Cond: remadeExpr(n.Cond, expr)})
	case *queryplan.Map:
		exprs := slices.Clone(n.Exprs)
		for i := range exprs {
			exprs[i].Expr = remadeExpr(exprs[i].Expr, expr)
		}
		return node(&queryplan.Map{Input: inputs[0], Exprs: exprs})
	case *queryplan.Project:
		return node(&queryplan.Project{Input: inputs[0], Cols: n.Cols})
	case *queryplan.Dedup:
		return node(&queryplan.Dedup{Input: inputs[0]})
	case *queryplan.Join:
		return node(&queryplan.Join{Kind: n.Kind, Left: inputs[0], Right: inputs[1],
			Unique: n.Unique})
	case *queryplan.Aggregate:
		return node(&queryplan.Aggregate{Input: inputs[0], By: n.By, Aggs: n.Aggs})
	case *queryplan.Union:
		return node(&queryplan.Union{Nodes: inputs})
	case *queryplan.MultiJoin:
		return node(&queryplan.MultiJoin{Nodes: inputs, Order: n.Order, Uneven: n.Uneven})
	case *queryplan.Seq:
		return node(&queryplan.Seq{Input: inputs[0], Group: n.Group, Order: n.Order,
			Index: n.Index})
	case *queryplan.TopK:
		return node(&queryplan.TopK{Input: inputs[0], Group: n.Group, By: n.By, Limit: n.Limit})
	}
	panic(fmt.Sprintf("enginetest: %T is copied by no case", n))
}

func remadeExpr(e queryplan.Expr, expr func(queryplan.Expr) queryplan.Expr) queryplan.Expr {
	switch e := e.(type) {
	case *queryplan.Call:
		args := make([]queryplan.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = remadeExpr(a, expr)
		}
		return expr(&queryplan.Call{Func: e.Func, Args: args, Result: e.Result})
	case *queryplan.ColRef:
		return expr(&queryplan.ColRef{Col: e.Col})
	case *queryplan.Const:
		return expr(&queryplan.Const{Value: e.Value})
	}
	panic(fmt.Sprintf("enginetest: %T is copied by no case", e))
}
