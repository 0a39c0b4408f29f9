package joins

import (
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/internal/bitset"
	"github.com/redfoxdb/redfox/internal/graph"
)

// maxExact is the largest number of relations that dynamic programming orders.
const maxExact = 12

// Order returns the best join order found.
func (g *joinGraph) Order() *joinTree {
	var parts []*subPlan
	for _, rels := range g.Parts() {
		parts = append(parts, g.Best(rels))
	}
	// Unconnected parts become products. Small parts come last, because the
	// right side is held in memory.
	slices.SortStableFunc(parts, func(a, b *subPlan) int {
		switch {
		case a.Rows > b.Rows:
			return -1
		case a.Rows < b.Rows:
			return 1
		}
		return 0
	})
	tree := parts[0].tree
	for _, p := range parts[1:] {
		tree = &joinTree{left: tree, right: p.tree}
	}
	return tree
}

// Best returns the best plan that was found for joining connected relations.
func (g *joinGraph) Best(rels []int) *subPlan {
	if len(rels) <= maxExact {
		return g.exact(rels)
	}
	return g.greedy(rels)
}

// Parts returns the relations by connected component, in their order.
func (g *joinGraph) Parts() [][]int {
	connected := graph.NewSets(len(g.Rels))
	for _, l := range g.links {
		for _, i := range l[min(1, len(l)):] {
			connected.Union(l[0], i)
		}
	}
	return connected.All()
}

// exact finds the cheapest tree by dynamic programming over connected sets of
// relations. It uses products only if there is no other way.
func (g *joinGraph) exact(rels []int) *subPlan {
	near := g.near(rels)
	for _, products := range []bool{false, true} {
		best := make([]*subPlan, 1<<len(rels))
		for i, r := range rels {
			best[1<<i] = g.leaf(r)
		}
		for mask := 1; mask < len(best); mask++ {
			if bits.OnesCount(uint(mask)) > 1 && (products || isConnected(mask, near)) {
				best[mask] = g.bestSplit(best, rels, mask, products)
			}
		}
		if full := best[len(best)-1]; full != nil {
			return full
		}
	}
	panic("rewrite: no join order")
}

// near returns, for each relation of a list, the set of positions in the list
// of the relations that a link connects it with.
func (g *joinGraph) near(rels []int) []int {
	out := make([]int, len(rels))
	for _, l := range g.links {
		linked := 0
		for _, rel := range l {
			if at := slices.Index(rels, rel); at >= 0 {
				linked |= 1 << at
			}
		}
		for i := range out {
			if linked&(1<<i) != 0 {
				out[i] |= linked
			}
		}
	}
	return out
}

// isConnected reports whether links lead from the first of a set of relations
// to all others. If they do not, all trees of the set have a product.
func isConnected(set int, near []int) bool {
	reached := set & -set
	for again := true; again; {
		again = false
		for i, n := range near {
			if reached&(1<<i) != 0 && n&set&^reached != 0 {
				reached |= n & set
				again = true
			}
		}
	}
	return reached == set
}

// bestSplit returns the cheapest join of two parts of a set. It returns nil if
// all of them are products and products is false.
func (g *joinGraph) bestSplit(best []*subPlan, rels []int, mask int, products bool) *subPlan {
	var out *subPlan
	var left, right *subPlan
	var outside bitset.Set
	for s := (mask - 1) & mask; s > 0; s = (s - 1) & mask {
		l, r := best[s], best[mask^s]
		if l == nil || r == nil || !products && !g.connected(l.cols, r.cols) {
			continue
		}
		if out == nil {
			// The size of a join does not depend on the order of joins.
			out = g.shape(l, r)
			outside = g.outside(func(i int) bool {
				at := slices.Index(rels, i)
				return at >= 0 &&
					mask&(1<<at) != 0
			})
			out.Stream = g.joinCost(l, r, out.Rows, outside)
			left, right = l, r
			continue
		}
		// If costs are equal, keep the order of the program.
		cost := g.joinCost(l, r, out.Rows, outside)
		if cost < out.Stream || cost == out.Stream && first(l.tree) < first(left.tree) {
			out.Stream, left, right = cost, l, r
		}
	}
	if out == nil {
		return nil
	}
	out.tree = &joinTree{left: left.tree, right: right.tree}
	out.ascends = left.ascends
	return out
}

// outside returns the columns of the relations that are not inside.
func (g *joinGraph) outside(inside func(rel int) bool) bitset.Set {
	out := make(bitset.Set, g.words)
	for i, r := range g.Rels {
		if !inside(i) {
			out.AddAll(r.cols)
		}
	}
	return out
}

// first returns the relation that a tree starts from.
func first(t *joinTree) int {
	for t.left != nil {
		t = t.left
	}
	return t.rel
}

// greedy builds a left-deep tree. It starts from a delta, or else the smallest
// relation, and always adds the relation with a join column that gives the
// smallest result.
func (g *joinGraph) greedy(rels []int) *subPlan {
	leaves := make([]*subPlan, len(rels))
	start := 0
	for i, r := range rels {
		leaves[i] = g.leaf(r)
		if first := leaves[start]; leaves[i].delta && !first.delta ||
			leaves[i].delta == first.delta && leaves[i].Rows < first.Rows {
			start = i
		}
	}
	plan := leaves[start]
	leaves = slices.Delete(leaves, start, start+1)
	holders := make([]int, len(g.names)) // of each column among the leaves
	for _, r := range leaves {
		for col := range r.rel.cols.Members {
			holders[col]++
		}
	}
	for len(leaves) > 0 {
		at := -1
		var next *subPlan
		for _, products := range []bool{false, true} {
			for i, r := range leaves {
				if !products && !g.connected(plan.cols, r.cols) {
					continue
				}
				s := g.shape(plan, r)
				s.Stream = g.joinCost(plan, r, s.Rows, g.beside(holders, r))
				if next == nil || s.Rows < next.Rows || s.Rows == next.Rows &&
					s.Stream < next.Stream {
					at, next = i, s
				}
			}
			if next != nil {
				break
			}
		}
		next.tree = &joinTree{left: plan.tree, right: leaves[at].tree}
		next.ascends = plan.ascends
		plan = next
		for col := range leaves[at].rel.cols.Members {
			holders[col]--
		}
		leaves = slices.Delete(leaves, at, at+1)
		// Estimates of other columns would be copied for every candidate.
		plan.Est = plan.Est.Only(func(name string) bool {
			i := g.Number[name]
			return holders[i] > 0 ||
				g.Conditioned.Has(i)
		})
	}
	return plan
}

// beside returns the columns of the relations that are outside of the plan,
// except r. holders counts for each column how many of these have it.
func (g *joinGraph) beside(holders []int, r *subPlan) bitset.Set {
	out := make(bitset.Set, g.words)
	for col, n := range holders {
		if r.rel.cols.Has(col) {
			n--
		}
		if n > 0 {
			out.Add(col)
		}
	}
	return out
}

// Widest returns the plan of a join tree and the largest number of tuples of a
// join below its root.
func (g *joinGraph) Widest(t *joinTree) (plan *subPlan, rows float64) {
	if t.left == nil {
		return g.leaf(t.rel), 0
	}
	left, inLeft := g.Widest(t.left)
	right, inRight := g.Widest(t.right)
	rows = max(inLeft, inRight)
	if t.left.left != nil {
		rows = max(rows, left.Rows)
	}
	if t.right.left != nil {
		rows = max(rows, right.Rows)
	}
	plan = g.shape(left, right)
	under := append(t.left.relations(), t.right.relations()...)
	outside := g.outside(func(i int) bool { return slices.Contains(under, i) })
	plan.Stream = g.joinCost(left, right, plan.Rows, outside)
	plan.ascends = left.ascends
	return plan, rows
}
