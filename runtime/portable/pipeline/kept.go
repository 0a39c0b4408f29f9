package pipeline

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// keptRows are the rows of an anti join with the keys of a bag that each round
// replaces. They stay while the keys do.
type keptRows struct {
	cached
	name  string
	cols  []string
	pipes []*pipeline
}

// keepsRows reports whether a join is of that kind: an iteration may give
// default values to all that a round derives nothing for.
func (c *Compiler) keepsRows(n *queryplan.Join) bool {
	right, _ := resolveScan(n.Right)
	return n.Kind == queryplan.Anti && right != nil && readsKeys(right) &&
		c.Flow.ChangesAround(right.Var, c.block) &&
		!slices.ContainsFunc(queryplan.Scans(n.Left), func(s *queryplan.Scan) bool {
			return c.Flow.ChangesAround(s.Var, c.block)
		})
}

// keptRows compiles an anti join whose rows stay.
func (c *Compiler) keptRows(n *queryplan.Join, need names) []*pipeline {
	k := &keptRows{cached: cached{memo: memo{inputs: c.stamp(n)}}, name: "a part of " + c.label,
		pipes: c.joined(n, need)}
	for _, col := range n.Columns() {
		if need[col.Name] {
			k.cols = append(k.cols, col.Name)
		}
	}
	return []*pipeline{bagPipeline(k.compute, mergedAll(k.pipes, k.cols), need)}
}

// compute returns the rows.
func (k *keptRows) compute(r *work.Run) *bag {
	return k.bag(r, func() *bag {
		return &bag{parts: []part{collect(r, k.name, k.pipes, k.cols).gather(r.Mem)}}
	})
}
