package joins

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

const (
	// StepCost is the cost of a step through a sorted list, on the scale of the
	// costs of binary joins.
	StepCost = 0.15
	// gallopSteps bounds the steps in a longer list for each step in the
	// shortest list.
	gallopSteps = 8
	// maxOrdered is the largest number of variables that dynamic programming
	// orders.
	maxOrdered = 8
)

// VariableGraph is a multijoin as the search for a variable order sees it.
type VariableGraph struct {
	names []string // the names of the variables
	rels  []variableRel
	// domain holds, for each variable, the number of values from which the
	// relations are assumed to draw theirs.
	domain []float64
}

type variableRel struct {
	vars uint64 // the set of its variables
	est  *stats.Estimate
}

// NewVariableGraph makes the graph of the variables of a conjunction.
func NewVariableGraph(c *Conjunction, est *stats.Estimator) *VariableGraph {
	g := &VariableGraph{names: queryplan.SharedColumns(c.Rels)}
	g.domain = make([]float64, len(g.names))
	for _, n := range c.Rels {
		r := variableRel{est: est.Of(n)}
		for v, name := range g.names {
			if slices.Contains(trees.Columns(n), name) {
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
func (g *VariableGraph) distinct(r *variableRel, vars uint64) float64 {
	var cols []string
	for v, name := range g.names {
		if vars&r.vars>>v&1 == 1 {
			cols = append(cols, name)
		}
	}
	return r.est.Distinct(cols)
}

// binding is a set of bound variables and the cost of binding them.
type binding struct {
	order []int
	Names []string // the variables in binding order, once all are bound
	Steps float64  // steps through lists
	Rows  float64  // the remaining combinations of values
}

// bind adds a variable. For each combination of values so far, it intersects
// the lists of the variable's values, one list of each relation that has it.
func (g *VariableGraph) bind(b *binding, v int) *binding {
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
	return &binding{order: append(slices.Clone(b.order), v), Steps: b.Steps + b.Rows*steps,
		Rows: b.Rows * g.domain[v] * match}
}

// Order binds the variables in the order with the fewest expected steps. With
// more than maxOrdered variables, it always binds the cheapest next one.
func (g *VariableGraph) Order() *binding {
	best := &binding{Rows: 1}
	if n := len(g.names); n <= maxOrdered {
		sets := make([]*binding, 1<<n)
		sets[0] = best
		for set := range sets {
			for v := range n {
				if set>>v&1 == 1 {
					continue
				}
				if b := g.bind(sets[set], v); sets[set|1<<v] == nil ||
					b.Steps < sets[set|1<<v].Steps {
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
				if b := g.bind(best, v); next == nil || b.Steps < next.Steps {
					next = b
				}
			}
			best = next
		}
	}
	for _, v := range best.order {
		best.Names = append(best.Names, g.names[v])
	}
	// A combination of values may be that of several tuples.
	for i := range g.rels {
		best.Rows *= g.rels[i].est.Rows / g.distinct(&g.rels[i], math.MaxUint64)
	}
	return best
}
