package joins

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/bitset"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// joinGraph is a conjunction as the search for a join order sees it.
type joinGraph struct {
	Rels  []graphRel
	links []graphLink
	conds []graphCond
	words int // the words of a column set
	// computed lists the computed columns that joins wait for.
	computed []graphMap
	joinable bitset.Set
	// wanted holds the columns that something besides joins uses.
	wanted bitset.Set
	// Conditioned holds the columns of conditions and semijoins on several
	// relations, and other columns whose estimates are needed for the whole
	// join.
	Conditioned bitset.Set
	names       []string // the names of the columns
	Number      map[string]int
	// span is the number of values in the range of each column, or 0 if it is
	// unknown.
	span []float64
	// whole marks the columns of whole numbers.
	whole []bool
	// Bits makes costs include the bit sets that FilterProbes puts in front of
	// indexes.
	Bits bool
	// Closes assumes that joins that close a cycle keep as many tuples as
	// possible, which is the worst case for the intermediate tuples.
	Closes bool
	est    *stats.Estimator
}

type graphRel struct {
	Est     *stats.Estimate // after the conditions and semijoins on its columns alone
	scanned float64         // the tuples that are read for these
	cols    bitset.Set
	keys    []bitset.Set
	// Indexed means that an index on the relation outlives one evaluation.
	Indexed bool
	// delta is set if it reads the tuples that are new in a round, invariant if
	// it reads nothing that the loop around it changes.
	delta, invariant bool
	// spread is how many tuples a probe of its index finds for each tuple that
	// its conditions leave, if they are tested after the join; otherwise 1.
	spread float64
	// whole means that it is a stored relation without conditions, so an index
	// needs no copy of it.
	whole   bool
	numbers bitset.Set // columns that count the rows of a whole one
	ascends bitset.Set // columns in whose order its tuples come
}

// graphLink is a set of relations that a join column or a computed column
// connects.
type graphLink []int

type graphCond struct {
	cols bitset.Set
	cond queryplan.Expr
	semi *Semijoin // set instead of a condition
}

type graphMap struct {
	col  int
	used bitset.Set
}

// NewGraph makes the graph of a conjunction. changed holds the variables that
// the loop around it changes; it is nil outside of loops.
func NewGraph(c *Conjunction, est *stats.Estimator, changed map[*queryplan.Var]bool) *joinGraph {
	g := &joinGraph{est: est, Number: map[string]int{}}
	for _, r := range c.Rels {
		for _, name := range trees.Columns(r) {
			g.column(name)
		}
	}
	for _, m := range c.Maps {
		g.column(m.Name)
	}
	g.words = (len(g.Number) + 63) / 64
	g.span, g.whole = make([]float64, len(g.Number)), make([]bool, len(g.Number))
	g.joinable, g.wanted, g.Conditioned = g.set(nil), g.set(nil), g.set(nil)
	for name, n := range c.Sources() {
		if n > 1 {
			g.joinable.Add(g.column(name))
		}
	}
	for _, o := range c.Out {
		g.wanted.Add(g.column(o.From))
	}
	for _, m := range c.Maps {
		used := g.set(queryplan.ExprColumns(m.Expr))
		g.computed = append(g.computed, graphMap{g.column(m.Name), used})
		g.wanted.AddAll(used)
	}
	g.addConditions(c)
	for _, r := range c.Rels {
		g.addRelation(c, r, changed)
	}
	g.link()
	return g
}

// column returns the number of a column. A new column gets a number.
func (g *joinGraph) column(name string) int {
	if _, ok := g.Number[name]; !ok {
		g.Number[name] = len(g.Number)
		g.names = append(g.names, name)
	}
	return g.Number[name]
}

// set returns the set of columns with the given names.
func (g *joinGraph) set(names []string) bitset.Set {
	s := make(bitset.Set, g.words)
	for _, name := range names {
		s.Add(g.column(name))
	}
	return s
}

// addConditions adds the conditions and semijoins that need several relations.
func (g *joinGraph) addConditions(c *Conjunction) {
	add := func(used []string, cond graphCond) {
		within := func(r queryplan.Node) bool { return trees.HasAll(trees.Columns(r), used) }
		if slices.ContainsFunc(c.Rels, within) {
			return
		}
		cond.cols = g.set(used)
		g.conds = append(g.conds, cond)
		g.Conditioned.AddAll(cond.cols)
	}
	for _, cond := range c.Conds {
		add(queryplan.ExprColumns(cond), graphCond{cond: cond})
	}
	for i, s := range c.Semis {
		add(trees.Columns(s.Right), graphCond{semi: &c.Semis[i]})
	}
	g.wanted.AddAll(g.Conditioned)
}

// addRelation adds a relation after the conditions and semijoins on its columns
// alone.
func (g *joinGraph) addRelation(c *Conjunction, r queryplan.Node, changed map[*queryplan.Var]bool) {
	names := trees.Columns(r)
	e := g.est.Of(r)
	rel := graphRel{scanned: e.Rows, cols: g.set(names), numbers: g.set(nil), ascends: g.set(nil)}
	conds := c.own(names)
	rel.whole = len(conds) == 0
	rel.spread = 1
	if c.isKept(len(g.Rels)) {
		rel.spread = spread(e, conds)
	}
	if len(conds) > 0 {
		e = stats.Filtered(e, conds)
	}
	for _, s := range c.Semis {
		if on := trees.Columns(s.Right); trees.HasAll(names, on) {
			e = stats.JoinEstimate(s.Kind, e, g.est.Of(s.Right), on, true)
			rel.whole = false
		}
	}
	for _, c := range r.Columns() {
		i := g.column(c.Name)
		g.whole[i] = c.Type.Kind == scalar.Int
		if width, ok := e.Cols[c.Name].Span(); ok && (g.span[i] == 0 || width < g.span[i]) {
			g.span[i] = width
		}
	}
	rel.Est = e.Only(func(name string) bool {
		i := g.column(name)
		return g.joinable.Has(i) || g.wanted.Has(i)
	})
	for _, key := range queryplan.Keys(r) {
		rel.keys = append(rel.keys, g.set(key))
	}
	rel.delta = readsDelta(r)
	grows := IsGrowing(r) && (len(conds) == 0 || c.isKept(len(g.Rels)))
	rel.invariant = changed != nil && trees.IsInvariant(r, changed)
	rel.Indexed = changed != nil && (grows || rel.invariant)
	g.storage(&rel, r)
	g.Rels = append(g.Rels, rel)
}

// storage records the order of the rows of a stored relation, and what numbers
// them.
func (g *joinGraph) storage(rel *graphRel, n queryplan.Node) {
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
	if to := name(s.Position); s.Position != "" && to != "" && s.Version != queryplan.Delta &&
		rel.whole {
		rel.numbers.Add(g.column(to))
	}
	t, at := g.est.Stored(s.Var)
	if t == nil {
		return
	}
	for i, own := range s.Names {
		to := name(own)
		if own == "" || to == "" {
			continue
		}
		if rel.whole && t.Numbers(at[i]) {
			rel.numbers.Add(g.column(to))
		}
		if c := t.Columns[at[i]]; c.Ascending || c.Rising > MostlyRising {
			rel.ascends.Add(g.column(to))
		}
	}
}

// MostlyRising is the least share of ascending neighbours for which tuples
// count as ordered by a column.
const MostlyRising = 0.99

// link collects the links between relations.
func (g *joinGraph) link() {
	holders := func(col int) graphLink {
		var out graphLink
		for i, r := range g.Rels {
			if r.cols.Has(col) {
				out = append(out, i)
			}
		}
		return out
	}
	for col := range g.words * 64 {
		if l := holders(col); g.joinable.Has(col) && len(l) > 1 {
			g.links = append(g.links, l)
		}
	}
	for _, m := range g.computed {
		if !g.joinable.Has(m.col) {
			continue
		}
		l := holders(m.col)
		for col := range g.words * 64 {
			if m.used.Has(col) {
				l = append(l, holders(col)...)
			}
		}
		for _, o := range g.computed {
			if o.col == m.col {
				for col := range g.words * 64 {
					if o.used.Has(col) {
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
	rel     *graphRel // the relation, if it is a single one
	Est     *stats.Estimate
	Rows    float64
	Stream  float64 // the cost of producing the tuples
	cols    bitset.Set
	ascends bitset.Set // columns in whose order they come
	keys    []bitset.Set
	// delta is set if one of its relations is a delta, invariant if all of
	// them are invariant.
	delta, invariant bool
}

func (g *joinGraph) leaf(i int) *subPlan {
	r := &g.Rels[i]
	s := &subPlan{
		tree: &joinTree{rel: i}, rel: r, Est: r.Est, Rows: max(r.Est.Rows, 1e-3),
		Stream: scanCost * r.scanned,
		cols:   r.cols.Clone(), ascends: r.ascends, keys: r.keys,
		delta: r.delta, invariant: r.invariant,
	}
	g.close(s.cols)
	return s
}

// TrieCost returns the cost of sorting the tuples of a relation.
func (g *joinGraph) TrieCost(i int) float64 {
	if r := &g.Rels[i]; r.Indexed {
		return keptCost * r.Est.Rows
	}
	s := g.leaf(i)
	return s.Stream + sortCost*s.Rows
}

// close adds the computed columns that can be computed from the others.
func (g *joinGraph) close(cols bitset.Set) {
	for changed := true; changed; {
		changed = false
		for _, m := range g.computed {
			if !cols.Has(m.col) && cols.HasAll(m.used) {
				cols.Add(m.col)
				changed = true
			}
		}
	}
}

// connected reports whether a join of two sets has a column to match.
func (g *joinGraph) connected(a, b bitset.Set) bool {
	for w := range a {
		if a[w]&b[w]&g.joinable[w] != 0 {
			return true
		}
	}
	return false
}

// on returns the columns that a join of two sets matches.
func (g *joinGraph) on(l, r *subPlan) bitset.Set {
	on := make(bitset.Set, g.words)
	for w := range on {
		on[w] = l.cols[w] & r.cols[w] & g.joinable[w]
	}
	return on
}

// shape estimates the join of two plans without choosing sides.
func (g *joinGraph) shape(l, r *subPlan) *subPlan {
	on := g.on(l, r)
	var names []string
	for col := range on.Members {
		names = append(names, g.names[col])
	}
	uniqueRight, uniqueLeft := hasKey(r.keys, on), hasKey(l.keys, on)
	many, one := l.Est, r.Est
	if uniqueLeft && !uniqueRight {
		many, one = one, many
	}
	estimate := stats.JoinEstimate
	if g.Closes {
		estimate = stats.ContainedJoin
	}
	out := &subPlan{Est: estimate(queryplan.Inner, many, one, names, uniqueLeft || uniqueRight),
		cols: l.cols.Clone(), delta: l.delta || r.delta, invariant: l.invariant && r.invariant}
	if uniqueLeft && uniqueRight {
		out.Est.Rows = min(out.Est.Rows, r.Est.Rows)
	}
	switch {
	case uniqueRight:
		out.keys = l.keys
	case uniqueLeft:
		out.keys = r.keys
	}
	out.cols.AddAll(r.cols)
	g.close(out.cols)
	var conds []queryplan.Expr
	for _, c := range g.conds {
		if !out.cols.HasAll(c.cols) || l.cols.HasAll(c.cols) || r.cols.HasAll(c.cols) {
			continue
		}
		if c.semi != nil {
			out.Est = stats.JoinEstimate(c.semi.Kind, out.Est, g.est.Of(c.semi.Right),
				trees.Columns(c.semi.Right), true)
		} else {
			conds = append(conds, c.cond)
		}
	}
	if len(conds) > 0 {
		out.Est = stats.Filtered(out.Est, conds)
	}
	out.Rows = max(out.Est.Rows, 1e-3)
	return out
}

func hasKey(keys []bitset.Set, cols bitset.Set) bool {
	return slices.ContainsFunc(keys, cols.HasAll)
}

// joinCost returns the cost of a join in which r is indexed and l probes.
// outside holds the columns of relations that are in neither.
func (g *joinGraph) joinCost(l, r *subPlan, rows float64, outside bitset.Set) float64 {
	on := g.on(l, r)
	build, probe := g.indexCost(l, r, on, g.onlyExists(r, on, outside))
	probe -= g.filterGain(l, r, on, probe, min(1, rows/l.Rows))
	if r.rel != nil {
		rows *= r.rel.spread
	}
	cost := l.Stream + build + probe*l.Rows + EmitCost*rows
	if readsWhole(l, r) {
		cost *= wholeCost
	}
	return cost
}

// readsWhole reports whether a join with a delta reads its other side
// completely in every round, because it streams that side or builds an index
// that does not outlive the round.
func readsWhole(l, r *subPlan) bool {
	kept := r.invariant || r.rel != nil && r.rel.Indexed
	return r.delta && !l.delta || l.delta && !r.delta && !kept
}

// filterGain returns the cost that FilterProbes saves for each probe of an
// index of r, given the share of the probes that find something.
func (g *joinGraph) filterGain(l, r *subPlan, on bitset.Set, probe, kept float64) float64 {
	if !g.Bits || l.Rows < LeastProbes {
		return 0
	}
	best := 0.0
	for col := range on.Members {
		if gain := FilterGain(r.Rows, g.span[col], l.Rows, probe, kept); g.whole[col] &&
			gain > LeastGain {
			best = max(best, gain)
		}
	}
	return best
}

// onlyExists reports whether a set of keys is enough for the right side of a
// join: only its join columns are used, and each left tuple matches once.
func (g *joinGraph) onlyExists(r *subPlan, on, outside bitset.Set) bool {
	for w := range on {
		if r.cols[w]&^on[w]&(g.wanted[w]|outside[w]) != 0 {
			return false
		}
	}
	return hasKey(r.keys, on)
}

// indexCost returns the cost of building an index of r on columns, and the cost
// of one probe of it by l.
func (g *joinGraph) indexCost(l, r *subPlan, on bitset.Set, exists bool) (build, probe float64) {
	x := IndexShape{Rows: r.Rows, Size: 1, Probes: l.Rows, exists: exists,
		Unique: hasKey(r.keys, on)}
	whole := r.rel != nil && r.rel.whole
	for col := range on.Members {
		x.Columns++
		x.Size *= g.span[col]
		x.InOrder = l.ascends.Has(col)
		x.sorted = whole && r.ascends.Has(col)
		x.Numbered = whole && r.rel.numbers.Has(col)
	}
	insert, probe := x.Cost()
	switch {
	case r.rel != nil && r.rel.Indexed:
		return keptCost * r.Rows, probe
	case insert == 0:
		return 0, probe
	case whole:
		return r.Stream + insert*r.Rows, probe
	}
	return r.Stream + (StoreCost+insert)*r.Rows, probe
}
