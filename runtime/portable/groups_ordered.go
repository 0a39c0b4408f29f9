package portable

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Where rows come in the order of the groups' key, a group is over when the next one
// begins, and no table is needed. A worker takes runs of rows, each behind the one
// before, so that its keys ascend; groups of which several workers have rows lie where
// such runs end.

// keysAscend reports whether the rows that go into an aggregate come in the order of
// stored columns that it groups by.
func (c *compiler) keysAscend(n *queryplan.Aggregate) bool {
	return len(n.By) > 0 && !slices.ContainsFunc(n.By, func(name string) bool { return !c.ascends(n.Input, name) })
}

// ascends reports whether the words of a column never decrease from row to row, as the
// rows of a stored table come through filters and the left sides of joins.
func (c *compiler) ascends(n queryplan.Node, name string) bool {
	switch n := n.(type) {
	case *queryplan.Scan:
		at := slices.Index(n.Names, name)
		if c.cols.stored[n.Var] == nil || at < 0 {
			return false
		}
		col := c.cols.stored[n.Var][at]
		kind := n.Var.Cols[at].Type.Kind
		return col != nil && col.Stats.Ascending && kind != scalar.String && kind != scalar.Float && kind != scalar.Uint
	case *queryplan.Filter:
		return c.ascends(n.Input, name)
	case *queryplan.Map:
		return !slices.ContainsFunc(n.Exprs, func(e queryplan.NamedExpr) bool { return e.Name == name }) && c.ascends(n.Input, name)
	case *queryplan.Project:
		at := slices.IndexFunc(n.Cols, func(r queryplan.Rename) bool { return r.To == name })
		return at >= 0 && c.ascends(n.Input, n.Cols[at].From)
	case *queryplan.Join:
		return c.ascends(n.Left, name)
	}
	return false
}

// numberOrdered is numberAll for keys that ascend.
func (t *groups) numberOrdered(keys []uint64, ids []uint32) {
	for i := range ids {
		if t.n == 0 || t.keys[t.n-1] != keys[i] {
			t.newGroup(keys[i : i+1])
		}
		ids[i] = uint32(t.n - 1)
	}
}

// settle leaves each group to one of several tables whose keys ascend.
func settle(tables []*groups) {
	lists := make([][]uint64, len(tables))
	for i, t := range tables {
		lists[i] = t.keys[:t.n]
	}
	// The groups that tables i and j have in common.
	type shared struct{ into, from []uint32 }
	pairs := make([]shared, len(tables)*len(tables))
	order.Common(lists, func(i, a, j, b int) {
		p := &pairs[i*len(tables)+j]
		p.into, p.from = append(p.into, uint32(a)), append(p.from, uint32(b))
		tables[j].taken = append(tables[j].taken, b)
	})
	for at, p := range pairs {
		into, from := tables[at/len(tables)], tables[at%len(tables)]
		if into.agg.counts {
			for k, a := range p.into {
				into.counts[a] += from.counts[p.from[k]]
			}
		}
		for k, acc := range into.accs {
			acc.merge(from.accs[k], p.from, p.into)
		}
	}
}

// remove takes rows out, given in ascending order, and puts the last ones in their
// places.
func (p *part) remove(rows []int) {
	for _, row := range slices.Backward(rows) {
		p.n--
		for _, col := range p.cols {
			col[row] = col[p.n]
		}
	}
	for i := range p.cols {
		p.cols[i] = p.cols[i][:p.n]
	}
}
