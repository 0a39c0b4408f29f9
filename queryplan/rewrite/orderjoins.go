package rewrite

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var orderJoins = &Pass{
	Name: "OrderJoins",
	Reason: "The order of joins decides how many tuples a rule makes on the way. Up to 12 relations " +
		"all orders without products are compared by dynamic programming; more are ordered greedily. " +
		"The right side is the one to index: the smaller, or in a loop the one that does not change, " +
		"so that the index is built once. Outside of loops, probes cost what they do behind the bits of " +
		"FilterProbes. A join that only asks for the existence of a match becomes " +
		"a semijoin.",
	Unless: "A join becomes a semijoin only if each tuple matches once or repeated tuples do not " +
		"matter.",
	Before: "join z\n  join y\n    scan a(x, y)\n    scan b(y, z)\n  filter eq(z, 5)\n    scan c(z)",
	After: "join y\n  scan a(x, y)\n  semi join z\n    scan b(y, z)\n    filter eq(z, 5)\n" +
		"      scan c(z)",
	Source: "Selinger et al., SIGMOD 1979; Moerkotte, Neumann, VLDB 2006; for the greedy order: " +
		"Fegaras, DEXA 1998",
	run: func(p *program) error {
		est := stats.NewEstimator(p.Plan, p.catalog)
		loop := loops.Changed(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command,
			n queryplan.Node) queryplan.Node {
			return ordered(c, n, est, loop[b])
		})
		return nil
	},
}

// ordered returns the tree of a command with the joins of each conjunction in
// the best order. changed has the variables that a loop around the command
// changes, nil outside of loops.
func ordered(c queryplan.Command, n queryplan.Node, est *stats.Estimator,
	changed map[*queryplan.Var]bool) queryplan.Node {
	return joins.EachConjunction(n, joins.RootSite(c),
		func(n queryplan.Node, at joins.Site) queryplan.Node {
			q := joins.Flatten(n)
			if len(q.Rels) == 1 {
				return n
			}
			q.Restrict(at)
			q.KeepIndexes(changed)
			g := joins.NewGraph(q, est, changed)
			g.Bits = changed == nil
			return q.Assemble(g.Order(), at)
		})
}
