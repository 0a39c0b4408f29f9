package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// loops returns for every block on a cycle the variables that the blocks of its
// loop fill or merge; blocks outside loops are not in it. Loops that share a
// block count as one.
func loops(p *queryplan.Plan) map[*queryplan.Block]map[*queryplan.Var]bool {
	out := map[*queryplan.Block]map[*queryplan.Var]bool{}
	for _, component := range components(p) {
		if len(component) == 1 && !slices.Contains(component[0].Successors(), component[0]) {
			continue
		}
		changed := map[*queryplan.Var]bool{}
		for _, b := range component {
			for _, c := range b.Cmds {
				if v := queryplan.CommandVar(c); v != nil {
					changed[v] = true
				}
			}
			out[b] = changed
		}
	}
	return out
}

// components returns the strongly connected components of the control-flow
// graph (Tarjan, 1972).
func components(p *queryplan.Plan) [][]*queryplan.Block {
	var out [][]*queryplan.Block
	index := map[*queryplan.Block]int{}
	low := map[*queryplan.Block]int{}
	onStack := map[*queryplan.Block]bool{}
	var stack []*queryplan.Block
	var visit func(b *queryplan.Block)
	visit = func(b *queryplan.Block) {
		index[b] = len(index) + 1
		low[b] = index[b]
		stack = append(stack, b)
		onStack[b] = true
		for _, s := range b.Successors() {
			if index[s] == 0 {
				visit(s)
				low[b] = min(low[b], low[s])
			} else if onStack[s] {
				low[b] = min(low[b], index[s])
			}
		}
		if low[b] == index[b] {
			at := slices.Index(stack, b)
			component := slices.Clone(stack[at:])
			stack = stack[:at]
			for _, x := range component {
				onStack[x] = false
			}
			out = append(out, component)
		}
	}
	for _, b := range p.Blocks {
		if index[b] == 0 {
			visit(b)
		}
	}
	return out
}
