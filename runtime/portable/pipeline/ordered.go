package pipeline

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// keysAscend reports whether the rows that go into an aggregate come in the
// order of stored columns that it groups by.
func (c *Compiler) keysAscend(n *queryplan.Aggregate) bool {
	return len(n.By) > 0 && !slices.ContainsFunc(n.By,
		func(name string) bool { return !c.ascends(n.Input, name) })
}

// ascends reports whether the words of a column never decrease from row to row,
// as the rows of a stored table come through filters and the left sides of
// joins.
func (c *Compiler) ascends(n queryplan.Node, name string) bool {
	switch n := n.(type) {
	case *queryplan.Scan:
		at := slices.Index(n.Names, name)
		if c.cols.Stored[n.Var] == nil || at < 0 {
			return false
		}
		col := c.cols.Stored[n.Var][at]
		kind := n.Var.Cols[at].Type.Kind
		return col != nil && col.Stats.Ascending && kind != scalar.String && kind != scalar.Float &&
			kind != scalar.Uint
	case *queryplan.Filter:
		return c.ascends(n.Input, name)
	case *queryplan.Map:
		return !slices.ContainsFunc(n.Exprs,
			func(e queryplan.NamedExpr) bool { return e.Name == name }) && c.ascends(n.Input, name)
	case *queryplan.Project:
		at := slices.IndexFunc(n.Cols, func(r queryplan.Rename) bool { return r.To == name })
		return at >= 0 && c.ascends(n.Input, n.Cols[at].From)
	case *queryplan.Join:
		return c.ascends(n.Left, name)
	}
	return false
}
