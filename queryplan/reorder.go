package queryplan

import "slices"

// Size is what a run has counted of a variable.
type Size struct {
	Rows int64
	// Distinct is the number of different values of each column; nil if they
	// were not counted.
	Distinct []int64
}

// leastRelations is the number of relations of a rule from which another order
// may save much. A delta and one relation are joined by an index on the latter
// whatever their sizes are.
const leastRelations = 3

// CanReorder reports whether another order of a command's joins may pay, and
// gives the same tuples and nothing else that can be seen: decimals that do not
// fit are counted where they are computed.
func CanReorder(c Command) bool {
	insert, ok := c.(*Insert)
	if !ok || len(Scans(insert.Node)) < leastRelations {
		return false
	}
	joined, fails := false, false
	Walk(insert.Node, func(n Node) {
		switch n := n.(type) {
		case *Join:
			joined = joined || n.Kind == Inner
		case *Filter:
			fails = fails || MayFail(n.Cond)
		case *Map:
			fails = fails || slices.ContainsFunc(n.Exprs, func(e NamedExpr) bool {
				return MayFail(e.Expr)
			})
		}
	})
	return joined && !fails
}
