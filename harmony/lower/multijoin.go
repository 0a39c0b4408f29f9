package lower

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// isDelta reports whether an input is what the last round has added.
func isDelta(n queryplan.Node) bool {
	return slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return s.Version == queryplan.Delta
	})
}

// joinWith joins an input to those before. An input that adds no column and
// repeats no tuple only filters, by an index that has no rows.
func (l *lowerer) joinWith(acc, in queryplan.Node) queryplan.Node {
	j := &queryplan.Join{Left: acc, Right: in}
	switch {
	case !j.MatchesOnce():
	case len(j.On()) == len(in.Columns()):
		j.Kind = queryplan.Semi
		l.closing[j] = true
	default:
		j.Unique = true
	}
	return j
}

// multijoinOrder is what is known of the inputs of a multijoin that are joined.
type multijoinOrder struct {
	bound map[string]bool
	uses  map[use]int
}

// use is a column of the multijoin as a column of a relation.
type use struct {
	name string
	of   *queryplan.Var
	at   int
}

// join adds an input to those that are joined.
func (o *multijoinOrder) join(n queryplan.Node) {
	for _, c := range n.Columns() {
		o.bound[c.Name] = true
		if u, ok := useOf(n, c.Name); ok {
			o.uses[u]++
		}
	}
}

// next returns the place of the input to join next.
func (o *multijoinOrder) next(left []queryplan.Node) int {
	best, bestUnbound, bestBias := 0, -1, 0
	for i, n := range left {
		unbound, bias := o.rank(n)
		if unbound == len(n.Columns()) {
			continue // a product
		}
		if bestUnbound < 0 || unbound < bestUnbound || unbound == bestUnbound && bias < bestBias {
			best, bestUnbound, bestBias = i, unbound, bias
		}
	}
	return best
}

// rank returns the number of columns of an input that are not bound, and the
// bias of those that are: how many inputs have bound the same variable by the
// same column of the same relation. Each of them favours values with many
// tuples there. In the body e(x, y), e(x, z), e(y, z) of triangles, x has the
// out-degree of a node at the end of a random edge, and y that of any node,
// which is far less in a graph with hubs (Feld, Why your friends have more
// friends than you do, 1991). z is therefore found through y, and the edge from
// x to z is looked up.
func (o *multijoinOrder) rank(n queryplan.Node) (unbound, bias int) {
	for _, c := range n.Columns() {
		if !o.bound[c.Name] {
			unbound++
		} else if u, ok := useOf(n, c.Name); ok {
			bias += o.uses[u]
		}
	}
	return unbound, bias
}

// useOf finds the relation's column that a column of an input is. It is none
// that an input computes.
func useOf(n queryplan.Node, name string) (u use, ok bool) {
	from := name
	for {
		switch in := n.(type) {
		case *queryplan.Scan:
			at := slices.Index(in.Names, from)
			return use{name, in.Var, at}, at >= 0
		case *queryplan.Filter:
			n = in.Input
		case *queryplan.Project:
			at := slices.IndexFunc(in.Cols, func(c queryplan.Rename) bool { return c.To == from })
			if at < 0 {
				return use{}, false
			}
			n, from = in.Input, in.Cols[at].From
		default:
			return use{}, false
		}
	}
}

// clone returns a copy that joins further inputs by itself.
func (o multijoinOrder) clone() multijoinOrder {
	return multijoinOrder{bound: maps.Clone(o.bound), uses: maps.Clone(o.uses)}
}
