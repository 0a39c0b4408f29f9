package tiers

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// decomposable reports whether native code will probably decompose the loop
// (harmony/decompose): each command derives tuples of one relation from its
// delta, and all of them copy the same column. It compares names of columns, so
// it can be wrong. A wrong answer only costs time.
func (x *rest) decomposable() bool {
	if len(x.seg.Resumes) != 1 {
		return false
	}
	var carried []bool
	for b, c := range x.seg.Plan.Commands() {
		insert, ok := c.(*queryplan.Insert)
		if b.Name != x.loop || !ok {
			continue
		}
		delta := x.delta(insert.Node)
		if delta == nil {
			return false
		}
		for i, col := range insert.Node.Columns() {
			if len(carried) <= i {
				carried = append(carried, true)
			}
			carried[i] = carried[i] && col.Name == delta.Names[i]
		}
	}
	return slices.Contains(carried, true)
}

// delta returns the scan of the loop's relation in an operator, if there is
// exactly one and it reads the delta. Otherwise it returns nil.
func (x *rest) delta(n queryplan.Node) *queryplan.Scan {
	var out *queryplan.Scan
	for _, s := range queryplan.Scans(n) {
		if s.Var.Name != x.seg.Resumes[0] {
			continue
		}
		if out != nil || s.Version != queryplan.Delta {
			return nil
		}
		out = s
	}
	return out
}
