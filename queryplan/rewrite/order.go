package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
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
				q.restrict(at)
				return q.assemble(newJoinGraph(q, est, loop[b]).order(), at)
			})
		})
		return nil
	},
}

// joinGraph is a conjunction as the search for an order sees it.
type joinGraph struct {
	rels  []graphRel
	links []graphLink
	conds []graphCond
	words int // of a column set
	// computed are the columns that joins wait for.
	computed []graphMap
	joinable bitset
	// wanted are the columns that something beside joins uses.
	wanted bitset
	// conditioned are the columns of conditions and semijoins on several relations, and
	// others whose estimates are wanted of the whole.
	conditioned bitset
	names       []string // of the columns
	number      map[string]int
	// span is how many values the ranges of columns have room for, 0 where that is not
	// known.
	span []float64
	// whole are the columns of whole numbers.
	whole []bool
	// bits says that costs are those with the bits that FilterProbes puts in front of
	// indexes.
	bits bool
	est  *stats.Estimator
}

type graphRel struct {
	est     *stats.Estimate // after conditions and semijoins on its columns alone
	scanned float64         // tuples read to get at these
	cols    bitset
	keys    []bitset
	// indexed says that an index on it outlives one evaluation.
	indexed bool
	// whole says that it is a stored relation without conditions, so that an index needs
	// no copy of it.
	whole   bool
	numbers bitset // columns that count the rows of a whole one
	ascends bitset // columns in whose order its tuples come
}

// graphLink is a set of relations between which a join column or a computed one
// makes a connection.
type graphLink []int

type graphCond struct {
	cols bitset
	cond queryplan.Expr
	semi *semijoin // instead of a condition
}

type graphMap struct {
	col  int
	used bitset
}

func newJoinGraph(c *conjunction, est *stats.Estimator, changed map[*queryplan.Var]bool) *joinGraph {
	number := map[string]int{}
	g := &joinGraph{est: est, number: number}
	col := func(name string) int {
		if _, ok := number[name]; !ok {
			number[name] = len(number)
			g.names = append(g.names, name)
		}
		return number[name]
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
	g.span, g.whole = make([]float64, len(number)), make([]bool, len(number))
	set := func(names []string) bitset {
		s := make(bitset, g.words)
		for _, name := range names {
			s.add(col(name))
		}
		return s
	}
	sources := c.sources()
	g.joinable, g.wanted, g.conditioned = set(nil), set(nil), set(nil)
	for name, n := range sources {
		if n > 1 {
			g.joinable.add(col(name))
		}
	}
	for _, o := range c.out {
		g.wanted.add(col(o.From))
	}
	for _, m := range c.maps {
		used := set(queryplan.ExprColumns(m.Expr))
		g.computed = append(g.computed, graphMap{col(m.Name), used})
		g.wanted.addAll(used)
	}
	local := make([]bool, len(c.conds))
	within := func(names []string) bool {
		return slices.ContainsFunc(c.rels, func(r queryplan.Node) bool { return containsAll(columnNames(r), names) })
	}
	for i, cond := range c.conds {
		used := queryplan.ExprColumns(cond)
		if local[i] = within(used); !local[i] {
			g.conds = append(g.conds, graphCond{cols: set(used), cond: cond})
			g.conditioned.addAll(set(used))
		}
	}
	for i, s := range c.semis {
		if used := columnNames(s.right); !within(used) {
			g.conds = append(g.conds, graphCond{cols: set(used), semi: &c.semis[i]})
			g.conditioned.addAll(set(used))
		}
	}
	g.wanted.addAll(g.conditioned)
	for _, r := range c.rels {
		names := columnNames(r)
		e := est.Of(r)
		rel := graphRel{scanned: e.Rows, cols: set(names), numbers: set(nil), ascends: set(nil)}
		var conds []queryplan.Expr
		for _, cond := range c.conds {
			if containsAll(names, queryplan.ExprColumns(cond)) {
				conds = append(conds, cond)
			}
		}
		rel.whole = len(conds) == 0
		if len(conds) > 0 {
			e = stats.Filtered(e, conds)
		}
		for _, s := range c.semis {
			if on := columnNames(s.right); containsAll(names, on) {
				e = stats.JoinEstimate(s.kind, e, est.Of(s.right), on, true)
				rel.whole = false
			}
		}
		for _, c := range r.Columns() {
			g.whole[col(c.Name)] = c.Type.Kind == scalar.Int
		}
		for _, name := range names {
			i := col(name)
			if width, ok := e.Cols[name].Span(); ok && (g.span[i] == 0 || width < g.span[i]) {
				g.span[i] = width
			}
		}
		rel.est = e.Only(func(name string) bool { i := col(name); return g.joinable.has(i) || g.wanted.has(i) })
		for _, key := range queryplan.Keys(r) {
			rel.keys = append(rel.keys, set(key))
		}
		rel.indexed = changed != nil && (isInvariant(r, changed) || len(conds) == 0 && isGrowing(r))
		g.storage(&rel, r, est, col)
		g.rels = append(g.rels, rel)
	}
	g.link()
	return g
}

// storage tells what the way in which a stored relation is kept is good for.
func (g *joinGraph) storage(rel *graphRel, n queryplan.Node, est *stats.Estimator, col func(string) int) {
	name := func(s string) string { return s }
	if p, ok := n.(*queryplan.Project); ok {
		to := map[string]string{}
		for _, c := range p.Cols {
			to[c.From] = c.To
		}
		n, name = p.Input, func(s string) string { return to[s] }
	}
	s, ok := n.(*queryplan.Scan)
	if !ok {
		rel.whole = false
		return
	}
	t, at := est.Stored(s.Var)
	if t == nil {
		return
	}
	for i, own := range s.Names {
		to := name(own)
		if own == "" || to == "" {
			continue
		}
		if rel.whole && t.Numbers(at[i]) {
			rel.numbers.add(col(to))
		}
		if c := t.Columns[at[i]]; c.Ascending || c.Rising > mostlyRising {
			rel.ascends.add(col(to))
		}
	}
}

// mostlyRising is the share of neighbours that ascend from which on tuples are taken to
// come in the order of a column.
const mostlyRising = 0.99

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
	tree    *joinTree
	rel     *graphRel // if it is a single one
	est     *stats.Estimate
	rows    float64
	stream  float64 // cost of producing the tuples
	cols    bitset
	ascends bitset // columns in whose order they come
	keys    []bitset
}

func (g *joinGraph) leaf(i int) *subPlan {
	r := &g.rels[i]
	s := &subPlan{
		tree: &joinTree{rel: i}, rel: r, est: r.est, rows: max(r.est.Rows, 1e-3), stream: scanCost * r.scanned,
		cols: r.cols.clone(), ascends: r.ascends, keys: r.keys,
	}
	g.close(s.cols)
	return s
}

// trieCost is the cost of having the tuples of a relation in order.
func (g *joinGraph) trieCost(i int) float64 {
	if r := &g.rels[i]; r.indexed {
		return keptCost * r.est.Rows
	}
	s := g.leaf(i)
	return s.stream + 2*buildCost*s.rows
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

// on returns the columns that a join of two sets matches.
func (g *joinGraph) on(l, r *subPlan) bitset {
	on := make(bitset, g.words)
	for w := range on {
		on[w] = l.cols[w] & r.cols[w] & g.joinable[w]
	}
	return on
}

// shape estimates the join of two plans without choosing sides.
func (g *joinGraph) shape(l, r *subPlan) *subPlan {
	on := g.on(l, r)
	var names []string
	for col := range on.members {
		names = append(names, g.names[col])
	}
	uniqueRight, uniqueLeft := hasKey(r.keys, on), hasKey(l.keys, on)
	many, one := l.est, r.est
	if uniqueLeft && !uniqueRight {
		many, one = one, many
	}
	out := &subPlan{est: stats.JoinEstimate(queryplan.Inner, many, one, names, uniqueLeft || uniqueRight), cols: l.cols.clone()}
	if uniqueLeft && uniqueRight {
		out.est.Rows = min(out.est.Rows, r.est.Rows)
	}
	switch {
	case uniqueRight:
		out.keys = l.keys
	case uniqueLeft:
		out.keys = r.keys
	}
	out.cols.addAll(r.cols)
	g.close(out.cols)
	var conds []queryplan.Expr
	for _, c := range g.conds {
		if !out.cols.hasAll(c.cols) || l.cols.hasAll(c.cols) || r.cols.hasAll(c.cols) {
			continue
		}
		if c.semi != nil {
			out.est = stats.JoinEstimate(c.semi.kind, out.est, g.est.Of(c.semi.right), columnNames(c.semi.right), true)
		} else {
			conds = append(conds, c.cond)
		}
	}
	if len(conds) > 0 {
		out.est = stats.Filtered(out.est, conds)
	}
	out.rows = max(out.est.Rows, 1e-3)
	return out
}

func hasKey(keys []bitset, cols bitset) bool {
	return slices.ContainsFunc(keys, cols.hasAll)
}

// joinCost is the cost of a join with r indexed and l probing. Outside are the columns
// of relations that are in neither.
func (g *joinGraph) joinCost(l, r *subPlan, rows float64, outside bitset) float64 {
	on := g.on(l, r)
	build, probe := g.indexCost(l, r, on, g.onlyExists(r, on, outside))
	probe -= g.filterGain(l, r, on, probe, min(1, rows/l.rows))
	return l.stream + build + probe*l.rows + emitCost*rows
}

// filterGain is what a probe of an index of r becomes cheaper by where FilterProbes puts
// bits in front of it, given the share of the probes that find something.
func (g *joinGraph) filterGain(l, r *subPlan, on bitset, probe, kept float64) float64 {
	if !g.bits || l.rows < leastProbes {
		return 0
	}
	best := 0.0
	for col := range on.members {
		if gain := bitsGain(r.rows, g.span[col], l.rows, probe, kept); g.whole[col] && gain > leastGain {
			best = max(best, gain)
		}
	}
	return best
}

// onlyExists reports whether of a join's right side only the columns to match are used
// and each left tuple matches once, so that a set of keys is enough.
func (g *joinGraph) onlyExists(r *subPlan, on, outside bitset) bool {
	for w := range on {
		if r.cols[w]&^on[w]&(g.wanted[w]|outside[w]) != 0 {
			return false
		}
	}
	return hasKey(r.keys, on)
}

// indexCost is the cost of having an index of r on the columns, from nothing, and of one
// probe of it by l.
func (g *joinGraph) indexCost(l, r *subPlan, on bitset, exists bool) (build, probe float64) {
	x := indexShape{rows: r.rows, size: 1, probes: l.rows, exists: exists, unique: hasKey(r.keys, on)}
	whole := r.rel != nil && r.rel.whole
	for col := range on.members {
		x.columns++
		x.size *= g.span[col]
		x.inOrder = l.ascends.has(col)
		x.sorted = whole && r.ascends.has(col)
		x.numbered = whole && r.rel.numbers.has(col)
	}
	insert, probe := x.cost()
	switch {
	case r.rel != nil && r.rel.indexed:
		return keptCost * r.rows, probe
	case insert == 0:
		return 0, probe
	case whole:
		return r.stream + insert*r.rows, probe
	}
	return r.stream + (storeCost+insert)*r.rows, probe
}
