package rewrite

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var selectMultijoin = &Pass{
	Name: "SelectMultijoin",
	Reason: "Joins of two relations after one another make, where a body is cyclic, tuples on the way that no " +
		"later join keeps: all paths of two edges on the way to the triangles. Joining the relations of the cycle " +
		"at once, variable by variable, does no more work than the largest possible result. The order of the " +
		"variables is the one with the least expected work, by dynamic programming over sets of variables.",
	Unless: "An acyclic body stays as it is, and so does a cycle whose tuples on the way are not expected to be " +
		"many more than those of its relations and its result, which is so for joins on keys. In a loop every " +
		"relation of the cycle must stay the same or be a delta, or its trie would be built anew each round.",
	Before: "join x, z\n  join y\n    scan e(x, y)\n    scan e(y, z)\n  scan e(x, z)",
	After:  "multijoin x, y, z\n  scan e(x, y)\n  scan e(y, z)\n  scan e(x, z)",
	Source: "Ngo, Porat, Ré, Rudra, PODS 2012; Veldhuizen, ICDT 2014; cyclic: Graham 1979, Yu, Özsoyoğlu 1979; " +
		"beside binary joins: Freitag et al., VLDB 2020",
	run: func(p *program) error {
		s := &multijoinSelector{est: stats.NewEstimator(p.Plan, p.catalog)}
		loop := loops(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node {
			s.changed = loop[b]
			return eachConjunction(n, rootSite(c), func(n queryplan.Node, at site) queryplan.Node {
				q := flatten(n)
				if !s.apply(q) {
					return n
				}
				return q.assemble(leftDeep(len(q.rels)), at)
			})
		})
		return nil
	},
}

const (
	// multijoinGain is how many times as many tuples must be expected on the way of
	// binary joins as the largest relation, those that a loop finds indexed aside,
	// and the result have together.
	multijoinGain = 2
	// stepCost is the cost of a step through a sorted list, on the scale of the
	// costs of binary joins.
	stepCost = 0.15
	// gallopSteps bounds the steps in a longer list for each in the shortest.
	gallopSteps = 8
	// maxOrdered is the most variables that dynamic programming orders.
	maxOrdered = 8
)

type multijoinSelector struct {
	est     *stats.Estimator
	changed map[*queryplan.Var]bool // by the loop of the block at hand
	cost    float64                 // of the multijoins so far
}

// apply replaces the cycles of a conjunction for which that pays by multijoins
// and reports whether there was one.
func (s *multijoinSelector) apply(c *conjunction) bool {
	found := false
	for _, cycle := range cycles(c.rels) {
		sub := c.part(cycle)
		if order, cost, ok := s.pays(sub); ok {
			c.replace(cycle, sub, order)
			s.cost += cost
			found = true
		}
	}
	if found {
		c.rels = slices.DeleteFunc(c.rels, func(n queryplan.Node) bool { return n == nil })
	}
	return found
}

// part returns the conjunction of some of the relations, with the conditions and
// semijoins on columns of one of them already applied.
func (c *conjunction) part(rels []int) *conjunction {
	out := &conjunction{names: c.names}
	done := make([]bool, len(c.semis))
	for _, i := range rels {
		n := c.rels[i]
		cols := columnNames(n)
		var conds []queryplan.Expr
		for _, cond := range c.conds {
			if used := queryplan.ExprColumns(cond); len(used) > 0 && containsAll(cols, used) {
				conds = append(conds, cond)
			}
		}
		n = filtered(n, conds)
		for k, s := range c.semis {
			if on := columnNames(s.right); len(on) > 0 && containsAll(cols, on) && !done[k] {
				done[k] = true
				j := &queryplan.Join{Kind: s.kind, Left: n, Right: s.right}
				j.Unique = j.MatchesOnce()
				n = j
			}
		}
		out.rels = append(out.rels, n)
	}
	return out
}

// replace puts the multijoin of sub in the place of the first of rels and leaves
// nil in those of the others. What sub has applied is only still to be applied
// to other relations.
func (c *conjunction) replace(rels []int, sub *conjunction, order []string) {
	in := func(used []string) bool {
		return len(used) > 0 && slices.ContainsFunc(rels, func(i int) bool { return containsAll(columnNames(c.rels[i]), used) })
	}
	out := func(used []string) bool {
		for i, n := range c.rels {
			if n != nil && !slices.Contains(rels, i) && containsAll(columnNames(n), used) {
				return true
			}
		}
		return false
	}
	c.conds = slices.DeleteFunc(slices.Clone(c.conds), func(e queryplan.Expr) bool {
		used := queryplan.ExprColumns(e)
		return in(used) && !out(used)
	})
	c.semis = slices.DeleteFunc(slices.Clone(c.semis), func(s semijoin) bool { return in(columnNames(s.right)) })
	for _, i := range rels {
		c.rels[i] = nil
	}
	c.rels[rels[0]] = &queryplan.MultiJoin{Nodes: sub.rels, Order: order}
}

// pays reports whether a multijoin of the relations is expected to be faster
// than the best binary joins, and returns the order of its variables and its cost.
func (s *multijoinSelector) pays(c *conjunction) (order []string, cost float64, ok bool) {
	rebuilt := func(n queryplan.Node) bool {
		return slices.ContainsFunc(queryplan.Scans(n), func(x *queryplan.Scan) bool {
			return s.changed[x.Var] && x.Version != queryplan.Delta
		})
	}
	if slices.ContainsFunc(c.rels, rebuilt) || len(queryplan.SharedColumns(c.rels)) > 64 {
		return nil, 0, false
	}
	g := newJoinGraph(c, s.est, s.changed)
	binary, widest := g.widest(g.order())
	largest, tries := 0.0, 0.0
	for i := range g.rels {
		if !g.rels[i].indexed {
			largest = max(largest, g.rels[i].est.Rows)
		}
		tries += g.trieCost(i)
	}
	if widest <= multijoinGain*largest {
		return nil, 0, false
	}
	// The estimate of a binary join assumes that the smaller side's combinations
	// of values are all on the larger one, which for the join that closes a cycle
	// is far off. Bindings are estimated from each relation's density.
	b := newVariableGraph(c, s.est).order()
	cost = tries + stepCost*b.steps + emitCost*b.rows
	return b.names, cost, widest > multijoinGain*(largest+b.rows) && cost < binary.stream
}

// widest returns the plan of a join tree and the most tuples of a join under its
// root.
func (g *joinGraph) widest(t *joinTree) (plan *subPlan, rows float64) {
	if t.left == nil {
		return g.leaf(t.rel), 0
	}
	left, inLeft := g.widest(t.left)
	right, inRight := g.widest(t.right)
	rows = max(inLeft, inRight)
	if t.left.left != nil {
		rows = max(rows, left.rows)
	}
	if t.right.left != nil {
		rows = max(rows, right.rows)
	}
	plan = g.shape(left, right)
	under := append(t.left.relations(), t.right.relations()...)
	outside := g.outside(func(i int) bool { return slices.Contains(under, i) })
	plan.stream = g.joinCost(left, right, plan.rows, outside)
	plan.ascends = left.ascends
	return plan, rows
}

// cycles returns the parts of a conjunction that are cyclic as hypergraphs,
// relations being edges over the columns that several of them have: what the
// reduction of Graham, Yu and Özsoyoğlu leaves, cut where a single column holds
// two parts together. Relations that only restrict the columns of a part belong
// to it.
func cycles(rels []queryplan.Node) [][]int {
	edges := make([][]string, len(rels))
	all := make([]int, len(rels))
	for i, n := range rels {
		edges[i], all[i] = columnNames(n), i
	}
	var out [][]int
	for _, block := range blocks(edges, reduce(edges, all)) {
		if block = reduce(edges, block); len(block) < 3 {
			continue
		}
		out = append(out, block)
	}
	taken := map[int]bool{}
	for _, block := range out {
		for _, i := range block {
			taken[i] = true
		}
	}
	for k, block := range out {
		var cols []string
		for _, i := range block {
			cols = append(cols, edges[i]...)
		}
		for i, edge := range edges {
			if !taken[i] && len(edge) > 0 && containsAll(cols, edge) {
				out[k] = append(out[k], i)
				taken[i] = true
			}
		}
		slices.Sort(out[k])
	}
	return out
}

// reduce takes columns that one edge alone has, and edges within others, out of
// a hypergraph until there are none, and returns the edges that are left: none
// if it is acyclic.
func reduce(edges [][]string, which []int) []int {
	left := map[int][]string{}
	holders := map[string][]int{} // the edges that still have a column, ascending
	for _, i := range which {
		left[i] = edges[i]
		for _, col := range edges[i] {
			holders[col] = append(holders[col], i)
		}
	}
	// An edge is looked at again when one with a column of its own has left.
	queue, queued := slices.Clone(which), map[int]bool{}
	for _, i := range which {
		queued[i] = true
	}
	for len(queue) > 0 {
		i := queue[0]
		queue, queued[i] = queue[1:], false
		left[i] = slices.DeleteFunc(slices.Clone(left[i]), func(col string) bool { return len(holders[col]) == 1 })
		within := func(j int) bool { return j != i && containsAll(left[j], left[i]) }
		if len(left[i]) > 0 && !slices.ContainsFunc(holders[left[i][0]], within) {
			continue
		}
		for _, col := range left[i] {
			holders[col] = slices.DeleteFunc(holders[col], func(j int) bool { return j == i })
			for _, j := range holders[col] {
				if !queued[j] {
					queue, queued[j] = append(queue, j), true
				}
			}
		}
		delete(left, i)
	}
	return slices.DeleteFunc(slices.Clone(which), func(i int) bool { _, ok := left[i]; return !ok })
}

// blocks parts edges of a hypergraph so that no single column separates two of
// one part, and two of different parts are separated by one. The parts are the
// biconnected components of the graph between edges and columns (Hopcroft,
// Tarjan, 1973), those with an edge in common united.
func blocks(edges [][]string, which []int) [][]int {
	b := &blockFinder{near: make([][]int, len(which)), part: make([]int, len(which))}
	number := map[string]int{}
	for at, i := range which {
		b.part[at] = at
		for _, col := range edges[i] {
			c, ok := number[col]
			if !ok {
				c = len(b.near)
				number[col] = c
				b.near = append(b.near, nil)
			}
			b.near[at], b.near[c] = append(b.near[at], c), append(b.near[c], at)
		}
	}
	b.index, b.low = make([]int, len(b.near)), make([]int, len(b.near))
	for at := range which {
		if b.index[at] == 0 {
			b.visit(at, -1)
		}
	}
	var out [][]int
	place := map[int]int{}
	for at, i := range which {
		root := b.find(at)
		if _, ok := place[root]; !ok {
			place[root] = len(out)
			out = append(out, nil)
		}
		out[place[root]] = append(out[place[root]], i)
	}
	return out
}

// blockFinder searches the graph between edges, which have the first numbers,
// and columns.
type blockFinder struct {
	near       [][]int
	index, low []int // of the search, from 1 on
	seen       int
	stack      []int // nodes that are not in a component yet, but the one above them
	part       []int // union-find over the edges
}

func (b *blockFinder) find(i int) int {
	for b.part[i] != i {
		b.part[i] = b.part[b.part[i]]
		i = b.part[i]
	}
	return i
}

func (b *blockFinder) visit(v, from int) {
	b.seen++
	b.index[v], b.low[v] = b.seen, b.seen
	b.stack = append(b.stack, v)
	for _, w := range b.near[v] {
		switch {
		case w == from:
		case b.index[w] != 0:
			b.low[v] = min(b.low[v], b.index[w])
		default:
			below := len(b.stack)
			b.visit(w, v)
			b.low[v] = min(b.low[v], b.low[w])
			if b.low[w] >= b.index[v] {
				b.unite(append(b.stack[below:len(b.stack):len(b.stack)], v))
				b.stack = b.stack[:below]
			}
		}
	}
}

// unite makes one part of the edges of a component.
func (b *blockFinder) unite(component []int) {
	first := -1
	for _, v := range component {
		switch {
		case v >= len(b.part):
		case first < 0:
			first = b.find(v)
		default:
			b.part[b.find(v)] = first
		}
	}
}

// variableGraph is a multijoin as the search for an order of its variables sees
// it.
type variableGraph struct {
	names []string // of the variables
	rels  []variableRel
	// domain has for each variable the number of values from which the relations
	// are taken to draw theirs.
	domain []float64
}

type variableRel struct {
	vars uint64 // the set of its variables
	est  *stats.Estimate
}

func newVariableGraph(c *conjunction, est *stats.Estimator) *variableGraph {
	g := &variableGraph{names: queryplan.SharedColumns(c.rels)}
	g.domain = make([]float64, len(g.names))
	for _, n := range c.rels {
		r := variableRel{est: est.Of(n)}
		for v, name := range g.names {
			if slices.Contains(columnNames(n), name) {
				r.vars |= 1 << v
				g.domain[v] = max(g.domain[v], r.est.Distinct([]string{name}))
			}
		}
		g.rels = append(g.rels, r)
	}
	return g
}

// distinct estimates how many combinations of values of a set of variables a
// relation has.
func (g *variableGraph) distinct(r *variableRel, vars uint64) float64 {
	var cols []string
	for v, name := range g.names {
		if vars&r.vars>>v&1 == 1 {
			cols = append(cols, name)
		}
	}
	return r.est.Distinct(cols)
}

// binding is a set of variables that are bound, and what it takes to bind them.
type binding struct {
	order []int
	names []string // of the variables in this order, once all are bound
	steps float64  // through lists
	rows  float64  // combinations of values that remain
}

// bind adds a variable: for each combination of values so far the lists of its
// values under them, one of each relation that has it, are intersected.
func (g *variableGraph) bind(b *binding, v int) *binding {
	var bound uint64
	for _, o := range b.order {
		bound |= 1 << o
	}
	shortest, match := math.Inf(1), 1.0
	var lists []float64
	for i := range g.rels {
		r := &g.rels[i]
		if r.vars>>v&1 == 0 {
			continue
		}
		list := max(1, g.distinct(r, bound|1<<v)/g.distinct(r, bound))
		lists = append(lists, list)
		shortest = min(shortest, list)
		match *= min(1, list/g.domain[v])
	}
	steps := 0.0
	for _, list := range lists {
		steps += min(list, gallopSteps*shortest)
	}
	return &binding{order: append(slices.Clone(b.order), v), steps: b.steps + b.rows*steps, rows: b.rows * g.domain[v] * match}
}

// order binds the variables in the order with the fewest expected steps. Beyond
// maxOrdered variables each is the cheapest next one.
func (g *variableGraph) order() *binding {
	best := &binding{rows: 1}
	if n := len(g.names); n <= maxOrdered {
		sets := make([]*binding, 1<<n)
		sets[0] = best
		for set := range sets {
			for v := range n {
				if set>>v&1 == 1 {
					continue
				}
				if b := g.bind(sets[set], v); sets[set|1<<v] == nil || b.steps < sets[set|1<<v].steps {
					sets[set|1<<v] = b
				}
			}
		}
		best = sets[len(sets)-1]
	} else {
		for len(best.order) < n {
			var next *binding
			for v := range n {
				if slices.Contains(best.order, v) {
					continue
				}
				if b := g.bind(best, v); next == nil || b.steps < next.steps {
					next = b
				}
			}
			best = next
		}
	}
	for _, v := range best.order {
		best.names = append(best.names, g.names[v])
	}
	// A combination of values may be that of several tuples.
	for i := range g.rels {
		best.rows *= g.rels[i].est.Rows / g.distinct(&g.rels[i], math.MaxUint64)
	}
	return best
}
