package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var projectEarly = &Pass{
	Name: "ProjectEarly",
	Reason: "A variable leaves the joins as soon as all relations that have it are joined, and " +
		"tuples that are equal without it become one. A path of 500 edges between two nodes then " +
		"takes at most as many tuples at each edge as there are pairs of nodes; the bindings of all " +
		"its variables grow exponentially. The variable whose relations leave the fewest columns is " +
		"eliminated first.",
	Unless: "Repeated tuples matter, as they do below a count or a total; or the joins are not " +
		"expected to cost several times as much without it, a multijoin included. A chain of many " +
		"joins that repeat tuples is cut whatever is expected, because errors of estimates multiply " +
		"along it.",
	Before: "insert p\n  project x, v\n    join u\n      join z\n        join y\n" +
		"          scan e(x, y)\n          scan e(y, z)\n        scan e(z, u)\n      scan e(u, v)",
	After: "insert p\n  project x, v\n    join u\n      dedup\n        project x, u\n" +
		"          join z\n            dedup\n              project x, z\n                join y\n" +
		"                  scan e(x, y)\n                  scan e(y, z)\n            scan e(z, u)\n" +
		"      scan e(u, v)",
	Source: "acyclic queries: Yannakakis, VLDB 1981; projection pushing: McMahan, Pan, Porter, " +
		"Vardi, EDBT 2004; elimination of variables: Dechter, Artificial Intelligence 113, 1999",
	run: func(p *program) error {
		e := &earlyProjector{est: stats.NewEstimator(p.Plan, p.catalog)}
		loop := loops.Changed(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command,
			n queryplan.Node) queryplan.Node {
			e.changed = loop[b]
			return joins.EachConjunction(n, joins.RootSite(c), e.conjunction)
		})
		return nil
	},
}

const (
	// maxRepeats is the number of joins after which tuples are deduplicated
	// even if estimates see no gain, because each of these joins can repeat
	// tuples.
	maxRepeats = 8
	// maxRepeatedWidth is the largest number of columns of such tuples. Wider
	// tuples rarely become equal.
	maxRepeatedWidth = 4
	// partCost is the fixed cost of computing a relation separately, because
	// code is compiled for it.
	partCost = 1e6
	// leastRepeatedShare is the share of leastBefore from which tuples are
	// deduplicated. Fewer are not worth a kernel.
	leastRepeatedShare = 1.0 / 64
)

// earlyProjector eliminates variables of conjunctions.
type earlyProjector struct {
	est     *stats.Estimator
	changed map[*queryplan.Var]bool // variables that the current block's loop changes
}

func (e *earlyProjector) conjunction(n queryplan.Node, at joins.Site) queryplan.Node {
	if !at.Set {
		return n
	}
	c := joins.Flatten(n)
	if len(c.Rels) < 3 {
		return n // nothing is joined after the only join
	}
	c.Restrict(at)
	x := e.eliminate(c, false)
	if !x.cut {
		return n
	}
	if even := e.eliminate(c, true); e.total(even) < e.total(x) {
		x = even
	}
	if !x.certain && !e.pays(c, x) {
		return n
	}
	return x.c.Assemble(joins.LeftDeep(len(x.c.Rels)), at)
}

// eliminate eliminates variables of a conjunction until none is left.
func (e *earlyProjector) eliminate(c *joins.Conjunction, even bool) *elimination {
	x := &elimination{earlyProjector: e, c: c, even: even, known: map[string]*bucket{},
		same: map[string]queryplan.Node{}}
	x.repeats, x.atoms = make([]int, len(c.Rels)), make([]int, len(c.Rels))
	for i := range x.atoms {
		x.atoms[i] = 1
	}
	for x.next() {
	}
	return x
}

// total returns the expected cost of a conjunction with its eliminations.
func (e *earlyProjector) total(x *elimination) float64 { return x.cost + e.cost(x.c) }

// pays reports whether the eliminations are expected to make the joins much
// cheaper.
func (e *earlyProjector) pays(c *joins.Conjunction, x *elimination) bool {
	least := e.total(x)
	usual := *c
	usual.Rels = slices.Clone(c.Rels)
	multi := &multijoinSelector{est: e.est, changed: e.changed}
	multi.apply(&usual)
	cost := e.cost(&usual) + multi.cost
	return cost >= leastBefore && cost >= leastShare*least
}

// cost estimates the cost of joining the relations of a conjunction.
func (e *earlyProjector) cost(c *joins.Conjunction) float64 {
	g := joins.NewGraph(c, e.est, e.changed)
	g.Bits = true
	cost, rows := 0.0, 1.0
	for i, part := range g.Parts() {
		best := g.Best(part)
		cost += best.Stream
		rows *= best.Rows
		if i > 0 {
			cost += joins.EmitCost * rows
		}
	}
	return cost
}

// elimination replaces relations of a conjunction by their join, without the
// variables that only they have (bucket elimination).
type elimination struct {
	*earlyProjector
	c *joins.Conjunction
	// repeats counts, for each relation, the joins in it that can repeat tuples
	// since the last deduplication.
	repeats []int
	atoms   []int // how many relations of the rule each relation joins
	// even joins the shortest parts first and makes each a set. Parts of one
	// shape are then the same relation, so a path of 500 edges needs two dozen
	// of them.
	even    bool
	same    map[string]queryplan.Node // the sets, by their text
	known   map[string]*bucket        // the buckets, by variable
	cost    float64                   // the cost of the sets that were made
	cut     bool                      // a set was made
	certain bool                      // a set was made because of maxRepeats
}

// bucket is the join of the relations that have a variable.
type bucket struct {
	rels    []queryplan.Node
	rest    [3]int         // how many maps, conditions and semijoins the conjunction had
	tree    queryplan.Node // nil if something else needs the variable
	width   int            // the number of columns of the tree
	made    int            // how many of the relations are buckets themselves
	rows    float64
	left    float64 // rows that differ
	repeats int
	atoms   int
}

// next eliminates a variable and reports whether there was one.
func (x *elimination) next() bool {
	holders := map[string][]int{}
	var order []string
	for i, rel := range x.c.Rels {
		for _, name := range trees.Columns(rel) {
			if holders[name] == nil {
				order = append(order, name)
			}
			holders[name] = append(holders[name], i)
		}
	}
	for _, o := range x.c.Out {
		delete(holders, o.From)
	}
	var best *bucket
	var at []int
	for _, name := range order {
		rels := holders[name]
		if len(rels) < 2 || len(rels) == len(x.c.Rels) {
			continue // a single one becomes a semijoin, and of all the result is a set anyway
		}
		b := x.bucket(name, rels)
		if b.tree != nil && (best == nil || b.before(best, x.even)) {
			best, at = b, rels
		}
	}
	if best == nil {
		return false
	}
	x.apply(best, at)
	return true
}

// before reports whether b should be eliminated before o, which comes first in
// the program. Narrow results come first. Unless even is set, a chain grows at
// one end, because joining two long parts costs more than extending one by a
// relation.
func (b *bucket) before(o *bucket, even bool) bool {
	switch long, oLong := b.made > 1, o.made > 1; {
	case b.width != o.width:
		return b.width < o.width
	case even && b.atoms != o.atoms:
		return b.atoms < o.atoms
	case !even && long != oLong:
		return oLong
	}
	return b.rows < o.rows
}

// bucket joins the relations that have a variable.
func (x *elimination) bucket(name string, at []int) *bucket {
	rels := list.Map(at, func(k int) queryplan.Node { return x.c.Rels[k] })
	// A map, condition or semijoin that went into another bucket is not in this
	// one.
	rest := [3]int{len(x.c.Maps), len(x.c.Conds), len(x.c.Semis)}
	if b := x.known[name]; b != nil && b.rest == rest && slices.Equal(b.rels, rels) {
		return b
	}
	b := &bucket{rels: rels, rest: rest}
	x.known[name] = b
	f := x.part(at)
	cols := trees.Columns(f.tree)
	if len(cols) == 0 || slices.Contains(cols, name) {
		return b
	}
	b.tree, b.width = f.tree, len(cols)
	repeating := 0
	for i, rel := range rels {
		if hasGroups(rel) || x.repeats[at[i]] > 0 {
			b.made++
		}
		b.repeats += x.repeats[at[i]]
		b.atoms += x.atoms[at[i]]
		on := slices.DeleteFunc(trees.Columns(rel), func(col string) bool {
			return !slices.ContainsFunc(rels, func(o queryplan.Node) bool {
				_, has := queryplan.ColumnOf(o, col)
				return o != rel && has
			})
		})
		if !queryplan.IsKey(rel, on) {
			repeating++
		}
	}
	b.repeats += max(0, repeating-1)
	est := x.est.Of(b.tree)
	b.rows, b.left = est.Rows, est.Distinct(cols)
	return b
}

// part returns the part of the conjunction that consists of some of its
// relations.
func (x *elimination) part(at []int) *fewTuples {
	f := &fewTuples{whole: x.c, rels: make([]bool, len(x.c.Rels))}
	for _, i := range at {
		f.rels[i] = true
	}
	f.complete()
	return f
}

// apply replaces the relations of a bucket by their join without the eliminated
// columns. If many tuples become equal, the join becomes a set.
func (x *elimination) apply(b *bucket, at []int) {
	f := x.part(at)
	made, repeats := b.tree, b.repeats
	narrow := b.width <= maxRepeatedWidth
	long := b.repeats >= maxRepeats && narrow
	many := b.rows >= leastRepeatedShare*leastBefore && b.left <= mostLeft*b.rows
	if long || many || x.even && b.repeats > 0 && narrow {
		made, repeats = x.set(f, b), 0
		x.cut, x.certain = true, x.certain || long || x.even && b.atoms > maxRepeats
	}
	counts, atoms := []int{repeats}, []int{b.atoms}
	for i := range x.c.Rels {
		if !f.rels[i] {
			counts, atoms = append(counts, x.repeats[i]), append(atoms, x.atoms[i])
		}
	}
	x.c, x.repeats, x.atoms = f.rest(made), counts, atoms
}

// set returns the tuples of a bucket as a set. Buckets that differ only in the
// names of variables share one set, whose columns are renamed.
func (x *elimination) set(f *fewTuples, b *bucket) queryplan.Node {
	rels, names, key := x.canonical(f, b)
	if key == "" {
		x.cost += x.setCost(b.tree)
		return &queryplan.Dedup{Input: b.tree}
	}
	part := &joins.Conjunction{Names: queryplan.NewNames(), Rels: rels}
	back := make([]queryplan.Rename, 0, b.width)
	for _, name := range trees.Columns(b.tree) {
		part.Out = append(part.Out, queryplan.Rename{From: names[name], To: names[name]})
		back = append(back, queryplan.Rename{From: names[name], To: name})
	}
	key += fmt.Sprint(part.Out)
	if x.same[key] == nil {
		tree := part.Assemble(joins.LeftDeep(len(rels)), joins.Site{})
		x.cost += x.setCost(tree)
		x.same[key] = &queryplan.Dedup{Input: tree}
	}
	return &queryplan.Project{Input: x.same[key], Cols: back}
}

// setCost returns the cost of a conjunction as a set.
func (x *elimination) setCost(tree queryplan.Node) float64 {
	est, cols := x.est.Of(tree), trees.Columns(tree)
	return partCost + x.earlyProjector.cost(joins.Flatten(tree)) + groupingCost(est, cols) +
		joins.StoreCost*est.Distinct(cols)
}

// canonical returns the relations of a bucket with columns named in order of
// appearance, these names, and a text that identifies such relations. It
// returns none unless all relations are scans or sets.
func (x *elimination) canonical(
	f *fewTuples, b *bucket,
) (rels []queryplan.Node, names map[string]string, key string) {
	if slices.Contains(f.maps, true) || slices.Contains(f.conds, true) ||
		slices.Contains(f.semis, true) {
		return nil, nil, ""
	}
	names = map[string]string{}
	var text strings.Builder
	for _, rel := range b.rels {
		var cols []queryplan.Rename
		for _, name := range trees.Columns(rel) {
			if names[name] == "" {
				names[name] = fmt.Sprintf("v%d", len(names))
			}
			cols = append(cols, queryplan.Rename{From: name, To: names[name]})
		}
		n := trees.Rename(rel, cols)
		switch n := n.(type) {
		case *queryplan.Scan:
			fmt.Fprintf(&text, "%s\n", queryplan.NodeHead(n))
		case *queryplan.Dedup:
			fmt.Fprintf(&text, "%p\n", n)
		case *queryplan.Project:
			if _, ok := n.Input.(*queryplan.Dedup); !ok {
				return nil, nil, ""
			}
			fmt.Fprintf(&text, "%p %v\n", n.Input, n.Cols)
		default:
			return nil, nil, ""
		}
		rels = append(rels, n)
	}
	return rels, names, text.String()
}
