package parts

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// way is columns of leaves that are equal in every row of a tree. The tree of
// the leaves' rows in a class of values yields the tuples of that class.
type way struct {
	out    []string // columns of the tree's result that have the value as well
	places []place
}

// place is a column of a leaf: one of the variable that a *queryplan.Scan
// reads, number for its position, or one of a *queryplan.Values.
type place struct {
	leaf queryplan.Node
	col  int
}

// mostWays bounds the ways of a tree. Few are ever used, and unions of joins
// can have very many.
const mostWays = 64

// waysOf returns the ways of a tree, in the order of its leaves. Each leaf must
// be a node of its own.
func waysOf(n queryplan.Node) []way {
	ways := nodeWays(n)
	return ways[:min(len(ways), mostWays)]
}

func nodeWays(n queryplan.Node) []way {
	switch n := n.(type) {
	case *queryplan.Scan:
		return scanWays(n)
	case *queryplan.Values:
		var out []way
		for i, c := range n.Cols {
			out = append(out, way{[]string{c.Name}, []place{{n, i}}})
		}
		return out
	case *queryplan.Filter:
		return waysOf(n.Input)
	case *queryplan.Map:
		return waysOf(n.Input)
	case *queryplan.Project:
		return projected(waysOf(n.Input), n.Cols)
	case *queryplan.Dedup:
		return within(waysOf(n.Input), queryplan.NamesOf(n.Columns()))
	case *queryplan.Aggregate:
		return within(waysOf(n.Input), n.By)
	case *queryplan.Seq:
		return within(waysOf(n.Input), n.Group)
	case *queryplan.TopK:
		return within(waysOf(n.Input), n.Group)
	case *queryplan.Join:
		return joinWays(n)
	case *queryplan.MultiJoin:
		return sharedWays(n.Nodes, n.Order)
	case *queryplan.Union:
		return unionWays(n)
	}
	return nil
}

func scanWays(n *queryplan.Scan) []way {
	var out []way
	add := func(name string, col int) {
		w := way{places: []place{{n, col}}}
		if name != "" {
			w.out = []string{name}
		}
		out = append(out, w)
	}
	for i, name := range n.Names {
		add(name, i)
	}
	if n.Position != "" {
		add(n.Position, Number)
	}
	return out
}

func projected(ways []way, cols []queryplan.Rename) []way {
	for i, w := range ways {
		ways[i].out = nil
		for _, c := range cols {
			if slices.Contains(w.out, c.From) {
				ways[i].out = append(ways[i].out, c.To)
			}
		}
	}
	return ways
}

// within keeps the ways whose value is in some of the columns: rows that agree
// on all of them are in one part.
func within(ways []way, cols []string) []way {
	var out []way
	for _, w := range ways {
		w.out = list.Filter(w.out, func(name string) bool { return slices.Contains(cols, name) })
		if len(w.out) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// joinWays returns the ways that cut both sides, by a column on which they
// join, and those that cut one side, where the other is read whole.
func joinWays(n *queryplan.Join) []way {
	if drops(n.Left) || drops(n.Right) {
		return nil
	}
	left, right := waysOf(n.Left), waysOf(n.Right)
	on := n.On()
	used := make([]bool, len(right))
	var out []way
	for _, l := range left {
		at := slices.IndexFunc(right, func(r way) bool {
			return slices.ContainsFunc(r.out, func(c string) bool {
				return slices.Contains(on, c) && slices.Contains(l.out, c)
			})
		})
		if at >= 0 {
			used[at] = true
			l = both(l, right[at], n.Kind == queryplan.Inner)
		}
		out = append(out, l)
	}
	if n.Kind == queryplan.Inner {
		for i, r := range right {
			if !used[i] {
				out = append(out, r)
			}
		}
	}
	return out
}

// drops reports whether a tree counts decimals that do not fit. An engine does
// not evaluate one side of a join if the other is empty, which it may be in a
// part: the count would differ.
func drops(n queryplan.Node) bool {
	found := false
	queryplan.Walk(n, func(n queryplan.Node) {
		if m, ok := n.(*queryplan.Map); ok {
			for _, e := range m.Exprs {
				queryplan.WalkExpr(e.Expr, func(e queryplan.Expr) {
					_, call := e.(*queryplan.Call)
					found = found || call && e.Type().Kind == scalar.Decimal
				})
			}
		}
	})
	return found
}

// both returns the way of two that have a value in common. The result of a join
// that is not inner has only the columns of the left side.
func both(l, r way, inner bool) way {
	w := way{slices.Clone(l.out), slices.Concat(l.places, r.places)}
	if inner {
		for _, c := range r.out {
			if !slices.Contains(w.out, c) {
				w.out = append(w.out, c)
			}
		}
	}
	return w
}

// sharedWays returns a way for each column of inputs that agree on those of the
// same name.
func sharedWays(nodes []queryplan.Node, cols []string) []way {
	if slices.ContainsFunc(nodes, drops) {
		return nil
	}
	ways := list.Map(nodes, waysOf)
	var out []way
	for _, c := range cols {
		w := way{out: []string{c}}
		for _, of := range ways {
			at := slices.IndexFunc(of, func(x way) bool { return slices.Contains(x.out, c) })
			if at >= 0 {
				w.places = append(w.places, of[at].places...)
			}
		}
		if len(w.places) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// unionWays returns the ways that cut every input, for each column of the
// result.
func unionWays(n *queryplan.Union) []way {
	ways := list.Map(n.Nodes, waysOf)
	var out []way
	for _, c := range n.Columns() {
		w := way{out: []string{c.Name}}
		whole := false
		for _, of := range ways {
			at := slices.IndexFunc(of, func(x way) bool { return slices.Contains(x.out, c.Name) })
			if at < 0 {
				whole = true
				break
			}
			w.places = append(w.places, of[at].places...)
		}
		if !whole {
			out = append(out, w)
		}
	}
	return out
}

// needed lists the leaves without a row of which a tree yields none.
func needed(n queryplan.Node) []queryplan.Node {
	switch n := n.(type) {
	case *queryplan.Scan, *queryplan.Values:
		return []queryplan.Node{n}
	case *queryplan.Join:
		if n.Kind == queryplan.Anti {
			return needed(n.Left)
		}
		return append(needed(n.Left), needed(n.Right)...)
	case *queryplan.Union:
		out := needed(n.Nodes[0])
		for _, u := range n.Nodes[1:] {
			other := needed(u)
			out = list.Filter(out, func(x queryplan.Node) bool { return slices.Contains(other, x) })
		}
		return out
	}
	var out []queryplan.Node
	for _, in := range n.Inputs() {
		out = append(out, needed(in)...)
	}
	return out
}
