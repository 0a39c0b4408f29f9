package columns

import (
	"maps"

	"github.com/redfoxdb/redfox/queryplan"
)

// analysis says what is known, a T, of columns where they come from and where
// operators bring them together.
type analysis[T any] interface {
	stored(v *queryplan.Var, i int) T
	constants(n *queryplan.Values, i int) T
	computed(e queryplan.Expr, cols map[string]T) T
	aggregated(a *queryplan.Agg, in T) T
	numbers() T
	positions() T
	// filtered updates the columns that are left by a condition.
	filtered(cond queryplan.Expr, cols map[string]T)
	// joined is of a column that both inputs of a join have, either of one that
	// both inputs of a union have.
	joined(kind queryplan.JoinKind, a, b T) T
	either(a, b T) T
}

// follow returns what is known of the columns of an operator's result.
func follow[T any](a analysis[T], n queryplan.Node) map[string]T {
	switch n := n.(type) {
	case *queryplan.Scan:
		out := make(map[string]T, len(n.Names))
		for i, name := range n.Names {
			if name != "" {
				out[name] = a.stored(n.Var, i)
			}
		}
		if n.Position != "" {
			out[n.Position] = a.positions()
		}
		return out
	case *queryplan.Values:
		out := make(map[string]T, len(n.Cols))
		for i, c := range n.Cols {
			out[c.Name] = a.constants(n, i)
		}
		return out
	case *queryplan.Filter:
		out := follow(a, n.Input)
		a.filtered(n.Cond, out)
		return out
	case *queryplan.Map:
		in := follow(a, n.Input)
		out := maps.Clone(in)
		for _, e := range n.Exprs {
			out[e.Name] = a.computed(e.Expr, in)
		}
		return out
	case *queryplan.Project:
		in, out := follow(a, n.Input), make(map[string]T, len(n.Cols))
		for _, c := range n.Cols {
			out[c.To] = in[c.From]
		}
		return out
	case *queryplan.Join:
		out := follow(a, n.Left)
		join(a, n.Kind, out, follow(a, n.Right))
		return out
	case *queryplan.MultiJoin:
		out := follow(a, n.Nodes[0])
		for _, in := range n.Nodes[1:] {
			join(a, queryplan.Inner, out, follow(a, in))
		}
		return out
	case *queryplan.Aggregate:
		in, out := follow(a, n.Input), make(map[string]T, len(n.By)+len(n.Aggs))
		for _, name := range n.By {
			out[name] = in[name]
		}
		for i := range n.Aggs {
			g := &n.Aggs[i]
			out[g.Out.Name] = a.aggregated(g, in[g.In])
		}
		return out
	case *queryplan.Union:
		out := follow(a, n.Nodes[0])
		for _, u := range n.Nodes[1:] {
			for name, b := range follow(a, u) {
				out[name] = a.either(out[name], b)
			}
		}
		return out
	case *queryplan.Seq:
		out := follow(a, n.Input)
		out[n.Index] = a.numbers()
		return out
	default: // Dedup and TopK
		return follow(a, n.Inputs()[0])
	}
}

// join adds the columns of the right input of a join to those of the left.
func join[T any](a analysis[T], kind queryplan.JoinKind, out, right map[string]T) {
	for name, b := range right {
		if have, ok := out[name]; ok {
			out[name] = a.joined(kind, have, b)
		} else if kind == queryplan.Inner {
			out[name] = b
		}
	}
}
