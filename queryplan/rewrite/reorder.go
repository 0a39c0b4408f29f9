package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// Orders chooses the orders of the joins of a plan's loops again, by sizes that
// a run has counted. It is not safe for concurrent use.
type Orders struct {
	est  *stats.Estimator
	loop map[*queryplan.Block]map[*queryplan.Var]bool
}

// NewOrders returns the orders of a plan that was rewritten with a catalogue.
func NewOrders(p *queryplan.Plan, cat *stats.Catalog) *Orders {
	return &Orders{stats.NewEstimator(p, cat), loops.Changed(p)}
}

// Expected returns the number of tuples of a variable for which the orders of
// the plan were chosen.
func (o *Orders) Expected(v *queryplan.Var) float64 { return o.est.Expected(v) }

// Again returns a command of a block of the plan with the orders that the sizes
// of some variables call for. Those of others are what the plan expects. It is
// the command itself if its orders are the best for these sizes, too.
func (o *Orders) Again(b *queryplan.Block, cmds []queryplan.Command,
	sizes map[*queryplan.Var]queryplan.Size) []queryplan.Command {
	counted := o.est.Counted(sizes)
	out := slices.Clone(cmds)
	for i, c := range cmds {
		if !queryplan.CanReorder(c) {
			continue
		}
		n := queryplan.CommandNode(c)
		// Passes behind OrderJoins have changed the tree, so both are ordered
		// as it is now.
		before, after := ordered(c, n, o.est, o.loop[b]), ordered(c, n, counted, o.loop[b])
		if !queryplan.Equal(before, after) {
			out[i] = queryplan.WithNode(c, after)
		}
	}
	return out
}
