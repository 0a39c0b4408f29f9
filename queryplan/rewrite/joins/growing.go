package joins

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// IsGrowing reports whether a relation is a derived variable, to whose index
// the rounds of a loop only add.
func IsGrowing(n queryplan.Node) bool {
	s := scanOf(n)
	return s != nil && s.Var.Kind == queryplan.Derived && s.Version != queryplan.Delta
}

// scanOf returns the scan of which a relation chooses and renames columns, or
// nil.
func scanOf(n queryplan.Node) *queryplan.Scan {
	if p, ok := n.(*queryplan.Project); ok {
		n = p.Input
	}
	s, _ := n.(*queryplan.Scan)
	return s
}

// readsDelta reports whether a tree reads a delta.
func readsDelta(n queryplan.Node) bool {
	return slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return s.Version == queryplan.Delta
	})
}

// KeepIndexes finds the relations that grow in the loop and on which there are
// conditions. The index of a growing relation is only added to as long as it
// has the stored tuples; one of the filtered tuples is built again in every
// round. As the right side of a join, the relation therefore stays whole: an
// equality with a constant becomes a column to join on, and other conditions
// follow the join. A relation that has to compute a column to join on cannot
// stay whole.
func (c *Conjunction) KeepIndexes(changed map[*queryplan.Var]bool) {
	c.kept = make([]bool, len(c.Rels))
	sources := c.Sources()
	for i, r := range c.Rels {
		if !IsGrowing(r) || !changed[scanOf(r).Var] {
			continue
		}
		names := trees.Columns(r)
		c.kept[i] = len(c.own(names)) > 0
		for _, m := range c.Maps {
			if trees.HasAll(names, queryplan.ExprColumns(m.Expr)) && sources[m.Name] > 1 {
				c.kept[i] = slices.Contains(names, m.Name)
				if !c.kept[i] {
					break
				}
			}
		}
	}
}

// isKept reports whether a relation stays whole as the right side of a join.
func (c *Conjunction) isKept(rel int) bool { return c.kept != nil && c.kept[rel] }

// staysWhole reports whether the right side of a join is a relation that stays
// whole. Without a stored column to match, the join would be a product.
func (a *assembler) staysWhole(left queryplan.Node, right *joinTree) bool {
	return right.left == nil && a.isKept(right.rel) &&
		slices.ContainsFunc(a.Rels[right.rel].Columns(), func(c queryplan.Column) bool {
			_, shared := queryplan.FindColumn(left.Columns(), c.Name)
			return shared
		})
}

// own returns the conditions on some columns alone.
func (c *Conjunction) own(names []string) []queryplan.Expr {
	return list.Filter(c.Conds, func(cond queryplan.Expr) bool {
		return trees.HasAll(names, queryplan.ExprColumns(cond))
	})
}

// fixes returns the column that a condition fixes and its value, if a join can
// test the condition. Floats are not equal by their bits.
func fixes(cond queryplan.Expr) (col string, value *queryplan.Const) {
	call, ok := cond.(*queryplan.Call)
	if !ok || call.Func.Name != "eq" {
		return "", nil
	}
	ref, isRef := call.Args[0].(*queryplan.ColRef)
	value, isConst := call.Args[1].(*queryplan.Const)
	if !isRef || !isConst || ref.Col.Type != value.Value.Type ||
		ref.Col.Type.Kind == scalar.Float {
		return "", nil
	}
	return ref.Col.Name, value
}

// spread estimates how many tuples a probe of a relation that stays whole finds
// for each one that the conditions leave.
func spread(whole *stats.Estimate, conds []queryplan.Expr) float64 {
	probed := stats.Filtered(whole, list.Filter(conds, func(cond queryplan.Expr) bool {
		col, _ := fixes(cond)
		return col != ""
	}))
	return max(1, probed.Rows/max(1e-3, stats.Filtered(whole, conds).Rows))
}

// fix adds to the left side of a join the columns that conditions fix on its
// right side, a relation that stays whole.
func (a *assembler) fix(left queryplan.Node, rel int) queryplan.Node {
	names := trees.Columns(a.Rels[rel])
	for i, cond := range a.Conds {
		col, value := fixes(cond)
		if a.condDone[i] || value == nil || !slices.Contains(names, col) {
			continue
		}
		if _, bound := queryplan.FindColumn(left.Columns(), col); !bound {
			left = trees.Map(left, queryplan.NamedExpr{Name: col, Expr: value})
			a.condDone[i] = true
		}
	}
	return left
}
