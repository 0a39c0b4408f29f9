package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// Orders chooses the join orders of a plan's loops again, by sizes that a run
// has counted. It is not safe for concurrent use.
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

// Again returns a command of the plan with the join orders that are best for
// the given sizes. Other variables have the sizes that the plan expects. It
// returns the command itself if its orders stay the best.
func (o *Orders) Again(b *queryplan.Block, cmds []queryplan.Command,
	sizes map[*queryplan.Var]queryplan.Size) []queryplan.Command {
	counted := o.est.Counted(sizes)
	out := slices.Clone(cmds)
	for i, c := range cmds {
		if !queryplan.CanReorder(c) {
			continue
		}
		n := queryplan.CommandNode(c)
		// Passes after OrderJoins have changed the tree, so its current form is
		// ordered by both sizes.
		before, after := ordered(c, n, o.est, o.loop[b]), ordered(c, n, counted, o.loop[b])
		if !queryplan.Equal(before, after) {
			out[i] = queryplan.WithNode(c, after)
		}
	}
	return out
}
