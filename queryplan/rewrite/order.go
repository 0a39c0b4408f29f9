package rewrite

import (
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var orderJoins = &Pass{
	Name: "OrderJoins",
	Reason: "The order of joins decides how many tuples a rule makes on the way. Up to 12 relations all " +
		"orders without products are compared by dynamic programming; more are ordered greedily. The " +
		"right side is the one to index: the smaller, or in a loop the one that does not change, so that " +
		"the index is built once. A join that only asks for the existence of a match becomes a semijoin.",
	Unless: "A join becomes a semijoin only if each tuple matches once or repeated tuples do not matter.",
	Before: "join z\n  join y\n    scan a(x, y)\n    scan b(y, z)\n  filter eq(z, 5)\n    scan c(z)",
	After:  "join y\n  scan a(x, y)\n  semi join z\n    scan b(y, z)\n    filter eq(z, 5)\n      scan c(z)",
	Source: "Selinger et al., SIGMOD 1979; Moerkotte, Neumann, VLDB 2006; for the greedy order: Fegaras, DEXA 1998",
	run: func(p *program) error {
		est := stats.NewEstimator(p.Plan, p.catalog)
		loop := loops(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node {
			return eachConjunction(n, rootSite(c), func(n queryplan.Node, at site) queryplan.Node {
				q := flatten(n)
				if len(q.rels) == 1 {
					return n
				}
				return q.assemble(newJoinGraph(q, est, loop[b]).order(), at)
			})
		})
		return nil
	},
}

// Costs of handling one tuple, relative to a probe of an index.
const (
	scanCost  = 0.1 // reading it from a stored column
	probeCost = 1
	emitCost  = 0.5 // a tuple of a join's result
	buildCost = 2   // putting it in an index
	// keptCost stands in for buildCost where a loop finds the index built.
	keptCost = 0.001
)

// maxExact is the most relations that dynamic programming orders.
const maxExact = 12

// joinGraph is a conjunction as the search for an order sees it.
type joinGraph struct {
	rels  []graphRel
	links []graphLink
	conds []graphCond
	words int // of a column set
	// computed are the columns that joins wait for.
	computed []graphMap
	joinable bitset
}

type graphRel struct {
	rows     float64
	scanned  float64 // tuples read to get at rows
	cols     bitset
	keys     []bitset
	distinct map[int]float64 // by column
	// indexed says that an index on it outlives one evaluation.
	indexed bool
}

// graphLink is a set of relations between which a join column or a computed one
// makes a connection.
type graphLink []int

type graphCond struct {
	cols  bitset
	share float64
}

type graphMap struct {
	col  int
	used bitset
}

func newJoinGraph(c *conjunction, est *stats.Estimator, changed map[*queryplan.Var]bool) *joinGraph {
	g := &joinGraph{}
	number := map[string]int{}
	col := func(name string) int {
		if i, ok := number[name]; ok {
			return i
		}
		number[name] = len(number)
		return len(number) - 1
	}
	var all []string
	for _, r := range c.rels {
		all = append(all, columnNames(r)...)
	}
	for _, m := range c.maps {
		all = append(all, m.Name)
	}
	for _, name := range all {
		col(name)
	}
	g.words = (len(number) + 63) / 64
	set := func(names []string) bitset {
		s := make(bitset, g.words)
		for _, name := range names {
			s.add(col(name))
		}
		return s
	}
	sources := c.sources()
	g.joinable = set(nil)
	for name, n := range sources {
		if n > 1 {
			g.joinable.add(col(name))
		}
	}
	for _, m := range c.maps {
		g.computed = append(g.computed, graphMap{col(m.Name), set(queryplan.ExprColumns(m.Expr))})
	}
	merged := &stats.Estimate{Rows: stats.DefaultRows, Cols: map[string]stats.ColumnEstimate{}}
	local := make([]bool, len(c.conds))
	for _, r := range c.rels {
		names := columnNames(r)
		e := est.Of(r)
		rel := graphRel{scanned: e.Rows, cols: set(names), distinct: map[int]float64{}}
		var conds []queryplan.Expr
		for i, cond := range c.conds {
			if used := queryplan.ExprColumns(cond); containsAll(names, used) {
				conds = append(conds, cond)
				local[i] = true
			}
		}
		if len(conds) > 0 {
			e = stats.Filtered(e, conds)
		}
		for _, s := range c.semis {
			if on := columnNames(s.right); containsAll(names, on) {
				e = stats.JoinEstimate(s.kind, e, est.Of(s.right), on, true)
			}
		}
		rel.rows = max(e.Rows, 1e-3)
		for _, name := range names {
			rel.distinct[col(name)] = e.Distinct([]string{name})
			if _, ok := merged.Cols[name]; !ok {
				merged.Cols[name] = e.Cols[name]
			}
		}
		for _, key := range queryplan.Keys(r) {
			rel.keys = append(rel.keys, set(key))
		}
		rel.indexed = changed != nil && (isInvariant(r, changed) || len(conds) == 0 && isGrowing(r))
		g.rels = append(g.rels, rel)
	}
	for i, cond := range c.conds {
		if !local[i] {
			share := stats.Filtered(merged, []queryplan.Expr{cond}).Rows / merged.Rows
			g.conds = append(g.conds, graphCond{set(queryplan.ExprColumns(cond)), share})
		}
	}
	for _, s := range c.semis {
		used := set(columnNames(s.right))
		if !slices.ContainsFunc(g.rels, func(r graphRel) bool { return r.cols.hasAll(used) }) {
			g.conds = append(g.conds, graphCond{used, 0.5})
		}
	}
	g.link()
	return g
}

// isGrowing reports whether a relation is what has been derived so far, to whose
// index the rounds of a loop only add.
func isGrowing(n queryplan.Node) bool {
	if p, ok := n.(*queryplan.Project); ok {
		n = p.Input
	}
	s, ok := n.(*queryplan.Scan)
	return ok && s.Var.Kind == queryplan.Derived && s.Version != queryplan.Delta
}

// link collects what connects relations.
func (g *joinGraph) link() {
	holders := func(col int) graphLink {
		var out graphLink
		for i, r := range g.rels {
			if r.cols.has(col) {
				out = append(out, i)
			}
		}
		return out
	}
	for col := range g.words * 64 {
		if l := holders(col); g.joinable.has(col) && len(l) > 1 {
			g.links = append(g.links, l)
		}
	}
	for _, m := range g.computed {
		if !g.joinable.has(m.col) {
			continue
		}
		l := holders(m.col)
		for col := range g.words * 64 {
			if m.used.has(col) {
				l = append(l, holders(col)...)
			}
		}
		for _, o := range g.computed {
			if o.col == m.col {
				for col := range g.words * 64 {
					if o.used.has(col) {
						l = append(l, holders(col)...)
					}
				}
			}
		}
		g.links = append(g.links, l)
	}
}

// subPlan is the best way found to join a set of relations.
type subPlan struct {
	tree     *joinTree
	rows     float64
	stream   float64 // cost of producing the tuples
	index    float64 // cost of having an index on them
	cols     bitset
	distinct map[int]float64 // of the joinable columns
	keys     []bitset        // of a single relation
}

func (g *joinGraph) leaf(i int) *subPlan {
	r := &g.rels[i]
	s := &subPlan{
		tree: &joinTree{rel: i}, rows: r.rows, stream: scanCost * r.scanned,
		cols: r.cols.clone(), distinct: r.distinct, keys: r.keys,
	}
	if s.index = s.stream + buildCost*r.rows; r.indexed {
		s.index = keptCost * r.rows
	}
	g.close(s.cols)
	return s
}

// close adds the computed columns that the others allow.
func (g *joinGraph) close(cols bitset) {
	for changed := true; changed; {
		changed = false
		for _, m := range g.computed {
			if !cols.has(m.col) && cols.hasAll(m.used) {
				cols.add(m.col)
				changed = true
			}
		}
	}
}

// connected reports whether a join of two sets has a column to match.
func (g *joinGraph) connected(a, b bitset) bool {
	for w := range a {
		if a[w]&b[w]&g.joinable[w] != 0 {
			return true
		}
	}
	return false
}

// shape estimates the join of two plans without choosing sides.
func (g *joinGraph) shape(l, r *subPlan) *subPlan {
	on := make(bitset, g.words)
	dl, dr := 1.0, 1.0
	for w := range on {
		on[w] = l.cols[w] & r.cols[w] & g.joinable[w]
		for rest := on[w]; rest != 0; rest &= rest - 1 {
			col := w*64 + bits.TrailingZeros64(rest)
			dl *= distinctOf(l, col)
			dr *= distinctOf(r, col)
		}
	}
	dl, dr = min(dl, max(1, l.rows)), min(dr, max(1, r.rows))
	out := &subPlan{rows: l.rows * r.rows / max(dl, dr, 1), cols: l.cols.clone(), distinct: map[int]float64{}}
	if hasKey(r.keys, on) {
		out.rows = min(out.rows, l.rows)
	}
	if hasKey(l.keys, on) {
		out.rows = min(out.rows, r.rows)
	}
	for w := range out.cols {
		out.cols[w] |= r.cols[w]
	}
	g.close(out.cols)
	for _, c := range g.conds {
		if out.cols.hasAll(c.cols) && !l.cols.hasAll(c.cols) && !r.cols.hasAll(c.cols) {
			out.rows *= c.share
		}
	}
	for w, word := range out.cols {
		for rest := word & g.joinable[w]; rest != 0; rest &= rest - 1 {
			col := w*64 + bits.TrailingZeros64(rest)
			d := min(distinctOf(l, col), distinctOf(r, col))
			out.distinct[col] = max(1, min(d, out.rows))
		}
	}
	return out
}

func distinctOf(s *subPlan, col int) float64 {
	if d, ok := s.distinct[col]; ok {
		return d
	}
	return max(1, s.rows)
}

func hasKey(keys []bitset, cols bitset) bool {
	return slices.ContainsFunc(keys, cols.hasAll)
}

// joinCost is the cost of a join with r indexed and l probing.
func joinCost(l, r *subPlan, rows float64) float64 {
	return l.stream + r.index + probeCost*l.rows + emitCost*rows
}

// order returns the best join order found.
func (g *joinGraph) order() *joinTree {
	var parts []*subPlan
	for _, rels := range g.parts() {
		if len(rels) <= maxExact {
			parts = append(parts, g.exact(rels))
		} else {
			parts = append(parts, g.greedy(rels))
		}
	}
	// Products of what nothing connects, small ones last: the right side is held.
	slices.SortStableFunc(parts, func(a, b *subPlan) int {
		switch {
		case a.rows > b.rows:
			return -1
		case a.rows < b.rows:
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

// parts returns the relations by connected component, in their order.
func (g *joinGraph) parts() [][]int {
	parent := make([]int, len(g.rels))
	for i := range parent {
		parent[i] = i
	}
	var find func(int) int
	find = func(i int) int {
		if parent[i] != i {
			parent[i] = find(parent[i])
		}
		return parent[i]
	}
	for _, l := range g.links {
		for _, i := range l[min(1, len(l)):] {
			parent[max(find(l[0]), find(i))] = min(find(l[0]), find(i))
		}
	}
	at := map[int]int{}
	var out [][]int
	for i := range g.rels {
		root := find(i)
		if _, ok := at[root]; !ok {
			at[root] = len(out)
			out = append(out, nil)
		}
		out[at[root]] = append(out[at[root]], i)
	}
	return out
}

// exact finds the cheapest tree by dynamic programming over sets of relations;
// products only where there is no other way.
func (g *joinGraph) exact(rels []int) *subPlan {
	for _, products := range []bool{false, true} {
		best := make([]*subPlan, 1<<len(rels))
		for i, r := range rels {
			best[1<<i] = g.leaf(r)
		}
		for mask := 1; mask < len(best); mask++ {
			if bits.OnesCount(uint(mask)) > 1 {
				best[mask] = g.bestSplit(best, mask, products)
			}
		}
		if full := best[len(best)-1]; full != nil {
			return full
		}
	}
	panic("rewrite: no join order")
}

// bestSplit returns the cheapest join of two parts of a set, nil if all of them
// are products and those are not wanted.
func (g *joinGraph) bestSplit(best []*subPlan, mask int, products bool) *subPlan {
	var out *subPlan
	var left, right *subPlan
	for s := (mask - 1) & mask; s > 0; s = (s - 1) & mask {
		l, r := best[s], best[mask^s]
		if l == nil || r == nil || !products && !g.connected(l.cols, r.cols) {
			continue
		}
		if out == nil {
			// The size of a join depends on what is joined, not on how.
			out = g.shape(l, r)
			out.stream = joinCost(l, r, out.rows)
			left, right = l, r
			continue
		}
		// Of equal costs the one that keeps the text's order wins.
		cost := joinCost(l, r, out.rows)
		if cost < out.stream || cost == out.stream && first(l.tree) < first(left.tree) {
			out.stream, left, right = cost, l, r
		}
	}
	if out == nil {
		return nil
	}
	out.tree = &joinTree{left: left.tree, right: right.tree}
	out.index = out.stream + buildCost*out.rows
	return out
}

// first returns the relation that a tree starts from.
func first(t *joinTree) int {
	for t.left != nil {
		t = t.left
	}
	return t.rel
}

// greedy builds a left-deep tree: from the smallest relation on, always to the
// smallest next result that has a column to match.
func (g *joinGraph) greedy(rels []int) *subPlan {
	leaves := make([]*subPlan, len(rels))
	start := 0
	for i, r := range rels {
		leaves[i] = g.leaf(r)
		if leaves[i].rows < leaves[start].rows {
			start = i
		}
	}
	plan := leaves[start]
	leaves = slices.Delete(leaves, start, start+1)
	for len(leaves) > 0 {
		at := -1
		var next *subPlan
		for _, products := range []bool{false, true} {
			for i, r := range leaves {
				if !products && !g.connected(plan.cols, r.cols) {
					continue
				}
				s := g.shape(plan, r)
				s.stream = joinCost(plan, r, s.rows)
				if next == nil || s.rows < next.rows || s.rows == next.rows && s.stream < next.stream {
					at, next = i, s
				}
			}
			if next != nil {
				break
			}
		}
		next.tree = &joinTree{left: plan.tree, right: leaves[at].tree}
		next.index = next.stream + buildCost*next.rows
		plan = next
		leaves = slices.Delete(leaves, at, at+1)
	}
	return plan
}
