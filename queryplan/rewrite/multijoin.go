package rewrite

import (
	"fmt"
	"slices"

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
		"on keys. In a loop every relation of the cycle must stay the same or be a delta, or its trie " +
		"would be built anew each round.",
	Before: "join x, z\n  join y\n    scan e(x, y)\n    scan e(y, z)\n  scan e(x, z)",
	After:  "multijoin x, y, z\n  scan e(x, y)\n  scan e(y, z)\n  scan e(x, z)",
	Source: "Ngo, Porat, Ré, Rudra, PODS 2012; Veldhuizen, ICDT 2014; cyclic: Graham 1979, Yu, " +
		"Özsoyoğlu 1979; beside binary joins: Freitag et al., VLDB 2020",
	run: func(p *program) error {
		s := &multijoinSelector{est: stats.NewEstimator(p.Plan, p.catalog)}
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
	// multijoinGain is the least ratio of expected intermediate tuples of
	// binary joins to those of the largest relation and the result together.
	// Relations that a loop finds indexed do not count.
	multijoinGain = 2
	// maxVariables bounds the variables of a multijoin.
	maxVariables = 64
)

type multijoinSelector struct {
	est     *stats.Estimator
	changed map[*queryplan.Var]bool // by the loop of the block at hand
	note    func(text string)       // takes what was decided, nil to forget it
	cost    float64                 // of the multijoins so far
}

// apply replaces cycles of a conjunction by multijoins where that pays, and
// reports whether there was one.
func (s *multijoinSelector) apply(c *joins.Conjunction) bool {
	found := false
	for _, cycle := range joins.Cycles(c.Rels) {
		sub := c.Part(cycle)
		if order, cost, ok := s.pays(sub); ok {
			c.ReplaceByMultijoin(cycle, sub, order)
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
// than the best binary joins, and returns the order of its variables and its
// cost.
func (s *multijoinSelector) pays(c *joins.Conjunction) (order []string, cost float64, ok bool) {
	rebuilt := func(n queryplan.Node) bool {
		return slices.ContainsFunc(queryplan.Scans(n), func(x *queryplan.Scan) bool {
			return s.changed[x.Var] && x.Version != queryplan.Delta
		})
	}
	if i := slices.IndexFunc(c.Rels, rebuilt); i >= 0 {
		s.say(c, "binary joins", "the loop changes %s, whose trie would be built anew in each round",
			relationList(c.Rels[i:i+1]))
		return nil, 0, false
	}
	if n := len(queryplan.SharedColumns(c.Rels)); n > maxVariables {
		s.say(c, "binary joins", "%d variables are too many to order", n)
		return nil, 0, false
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
	s.say(c, what, "binary joins make %.3g tuples on the way, the largest relation has %.3g, the "+
		"result %.3g; binary joins cost %.3g, a multijoin %.3g", widest, largest, b.Rows,
		binary.Stream, cost)
	return b.Names, cost, ok
}

// say records a decision about relations and its reason, if that is wanted.
func (s *multijoinSelector) say(c *joins.Conjunction, what, why string, args ...any) {
	if s.note != nil {
		s.note(fmt.Sprintf("%s of %s: %s", what, relationList(c.Rels), fmt.Sprintf(why, args...)))
	}
}
