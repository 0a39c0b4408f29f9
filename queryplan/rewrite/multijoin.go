package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var selectMultijoin = &Pass{
	Name: "SelectMultijoin",
	Reason: "Joins of two relations after one another make, where a body is cyclic, tuples on the " +
		"way that no later join keeps: all paths of two edges on the way to the triangles. Joining " +
		"the relations of the cycle at once, variable by variable, does no more work than the largest " +
		"possible result. The order of the variables is the one with the least expected work, by " +
		"dynamic programming over sets of variables.",
	Unless: "An acyclic body stays as it is, and so does a cycle whose tuples on the way are not " +
		"expected to be many more than those of its relations and its result, which is so for joins " +
		"on keys. In a loop the trie of a relation that grows would be built anew each round. There " +
		"the tuples of the one delta choose, each for itself, the relation with the fewest tuples to " +
		"go on with, by indexes that grow; so every other relation is a set without conditions, and " +
		"no column is one relation's own.",
	Before: "join x, z\n  join y\n    scan e(x, y)\n    scan e(y, z)\n  scan e(x, z)",
	After:  "multijoin x, y, z\n  scan e(x, y)\n  scan e(y, z)\n  scan e(x, z)",
	Source: "Ngo, Porat, Ré, Rudra, PODS 2012; Veldhuizen, ICDT 2014; cyclic: Graham 1979, Yu, " +
		"Özsoyoğlu 1979; beside binary joins: Freitag et al., VLDB 2020",
	run: func(p *program) error {
		s := &multijoinSelector{est: stats.NewEstimator(p.Plan, p.catalog), steps: true}
		loop := loops.Changed(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command,
			n queryplan.Node) queryplan.Node {
			s.changed = loop[b]
			s.note = func(text string) { p.choose("SelectMultijoin", b, c, text) }
			return joins.EachConjunction(n, joins.RootSite(c),
				func(n queryplan.Node, at joins.Site) queryplan.Node {
					q := joins.Flatten(n)
					if !s.apply(q) {
						return n
					}
					return q.Assemble(joins.LeftDeep(len(q.Rels)), at)
				})
		})
		return nil
	},
}

const (
	// multijoinGain is the smallest ratio of the expected intermediate tuples
	// of binary joins to the tuples of the largest relation and the result
	// together. Relations that a loop finds indexed do not count.
	multijoinGain = 2
	// unevenGain is the smallest ratio of the expected intermediate tuples to
	// those of the largest relation from which lists are compared, and
	// unevenRows the smallest number of these tuples: below, comparing costs
	// kernels as much as it saves. Estimates of derived relations know no hubs,
	// so the ratio is that of an even graph.
	unevenGain = 8
	unevenRows = 1 << 24
	// maxVariables bounds the variables of a multijoin.
	maxVariables = 64
)

type multijoinSelector struct {
	est     *stats.Estimator
	changed map[*queryplan.Var]bool // variables that the current block's loop changes
	// steps allows relations that grow. It is false in earlier passes, which
	// weigh a set of the intermediate tuples against a multijoin: such a set
	// pays most if a relation outgrows its estimate, and a multijoin by steps
	// finds the same tuples again and again.
	steps bool
	note  func(text string) // records a decision, or nil
	cost  float64           // the cost of the multijoins so far
}

// apply replaces cycles of a conjunction by multijoins where that pays, and
// reports whether there was one.
func (s *multijoinSelector) apply(c *joins.Conjunction) bool {
	found := false
	for _, cycle := range joins.Cycles(c.Rels) {
		sub := c.Part(cycle)
		if n, cost, ok := s.pays(sub); ok {
			c.ReplaceByMultijoin(cycle, n)
			s.cost += cost
			found = true
		}
	}
	if found {
		c.Rels = slices.DeleteFunc(c.Rels, func(n queryplan.Node) bool { return n == nil })
	}
	return found
}

// pays reports whether a multijoin of the relations is expected to be faster
// than the best binary joins, and returns it and its cost.
func (s *multijoinSelector) pays(
	c *joins.Conjunction,
) (n *queryplan.MultiJoin, cost float64, ok bool) {
	if n := len(queryplan.SharedColumns(c.Rels)); n > maxVariables {
		s.say(c, "binary joins", "%d variables are too many to order", n)
		return nil, 0, false
	}
	grows := func(n queryplan.Node) bool {
		return slices.ContainsFunc(queryplan.Scans(n), func(x *queryplan.Scan) bool {
			return s.changed[x.Var] && x.Version != queryplan.Delta
		})
	}
	if i := slices.IndexFunc(c.Rels, grows); i >= 0 {
		if !s.steps {
			return nil, 0, false
		}
		return s.stepwisePays(c, i, grows)
	}
	// Graphs have far more triangles and cliques than random ones, so that
	// binary joins meet more of their tuples again than independent columns
	// would.
	g := joins.NewGraph(c, s.est, s.changed)
	g.Closes = true
	binary, widest := g.Widest(g.Order())
	largest, tries := 0.0, 0.0
	for i := range g.Rels {
		if !g.Rels[i].Indexed {
			largest = max(largest, g.Rels[i].Est.Rows)
		}
		tries += g.TrieCost(i)
	}
	b := joins.NewVariableGraph(c, s.est).Order()
	cost = tries + joins.StepCost*b.Steps + joins.EmitCost*b.Rows
	ok = widest > multijoinGain*(largest+b.Rows) && cost < binary.Stream
	what := "binary joins"
	if ok {
		what = "multijoin"
	}
	changes := func(n queryplan.Node) bool {
		return slices.ContainsFunc(queryplan.Scans(n), func(x *queryplan.Scan) bool {
			return s.changed[x.Var]
		})
	}
	uneven := widest >= max(unevenRows, unevenGain*largest) &&
		!slices.ContainsFunc(c.Rels, changes)
	kernels := ""
	if ok && uneven {
		kernels = "; lists are of uneven lengths, so kernels read the shorter ones"
	}
	s.say(c, what, "binary joins make %.3g tuples on the way, the largest relation has %.3g, the "+
		"result %.3g; binary joins cost %.3g, a multijoin %.3g%s", widest, largest, b.Rows,
		binary.Stream, cost, kernels)
	return &queryplan.MultiJoin{Nodes: c.Rels, Order: b.Names, Uneven: uneven}, cost, ok
}

// stepwiseLoss is the largest ratio of the expected costs of a multijoin by
// steps and of binary joins at which the multijoin is still chosen, provided
// that it costs less once relations have outgrown their estimates. Its steps
// adapt to the sizes of relations, while binary joins keep one order for all
// rounds.
const stepwiseLoss = 1.25

// stepwisePays is pays for relations of which some grow; one is the number of
// such a relation.
func (s *multijoinSelector) stepwisePays(
	c *joins.Conjunction, one int, grows func(queryplan.Node) bool,
) (n *queryplan.MultiJoin, cost float64, ok bool) {
	rebuilt := func(n queryplan.Node) bool {
		return grows(n) && !joins.IsGrowing(n) ||
			slices.ContainsFunc(queryplan.Scans(n), func(x *queryplan.Scan) bool {
				return x.Version == queryplan.Last || x.Position != ""
			})
	}
	if i := slices.IndexFunc(c.Rels, rebuilt); i >= 0 {
		s.say(c, "binary joins", "the loop changes %s, whose index would be built anew in each round",
			relationList(c.Rels[i:i+1]))
		return nil, 0, false
	}
	compare := func(est *stats.Estimator) (by *joins.Stepwise, binary float64) {
		if by = joins.Steps(c, est, s.changed); by == nil {
			return nil, 0
		}
		g := joins.NewGraph(c, est, s.changed)
		plan, _ := g.Widest(g.Order())
		return by, plan.Stream
	}
	by, binary := compare(s.est)
	if by == nil {
		s.say(c, "binary joins", "the loop changes %s, whose trie would be built anew in each round, "+
			"and no column has two lists of values", relationList(c.Rels[one:one+1]))
		return nil, 0, false
	}
	grown, grownBinary := compare(s.est.Grown(s.changed, outgrown))
	if grown == nil {
		grown, grownBinary = by, binary
	}
	ok = by.Cost < stepwiseLoss*binary && grown.Cost < grownBinary
	what := "binary joins"
	if ok {
		what = "multijoin by steps"
	}
	s.say(c, what, "each tuple of the delta has %s; binary joins cost %.3g, a multijoin %.3g; with "+
		"%d times the tuples %.3g and %.3g", lengths(by), binary, by.Cost, outgrown, grownBinary,
		grown.Cost)
	// Kernels take the inputs in the order of grown, because most of the time
	// goes into the rounds in which the relations are largest.
	return grown.Join, by.Cost, ok
}

// lengths lists the lists of a step for people.
func lengths(by *joins.Stepwise) string {
	var out []string
	for i, n := range by.Lists {
		out = append(out, fmt.Sprintf("%.3g tuples of %s", by.Lengths[i],
			relationList([]queryplan.Node{n})))
	}
	return strings.Join(out, " or ")
}

// say records a decision about relations and its reason, if note is set.
func (s *multijoinSelector) say(c *joins.Conjunction, what, why string, args ...any) {
	if s.note != nil {
		s.note(fmt.Sprintf("%s of %s: %s", what, relationList(c.Rels), fmt.Sprintf(why, args...)))
	}
}
