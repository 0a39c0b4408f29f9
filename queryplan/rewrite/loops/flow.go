package loops

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/queryplan"
)

// Changed returns for every block on a cycle the variables that the blocks of
// its loop fill or merge; blocks outside loops are not in it. Loops that share
// a block count as one.
func Changed(p *queryplan.Plan) map[*queryplan.Block]map[*queryplan.Var]bool {
	out := map[*queryplan.Block]map[*queryplan.Var]bool{}
	for _, component := range Components(p) {
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

// Components returns the strongly connected components of the control-flow
// graph.
func Components(p *queryplan.Plan) [][]*queryplan.Block {
	number := map[*queryplan.Block]int{}
	for i, b := range p.Blocks {
		number[b] = i
	}
	successors := make([][]int, len(p.Blocks))
	for i, b := range p.Blocks {
		for _, s := range b.Successors() {
			successors[i] = append(successors[i], number[s])
		}
	}
	var out [][]*queryplan.Block
	for _, component := range graph.Components(successors) {
		var blocks []*queryplan.Block
		for _, i := range component {
			blocks = append(blocks, p.Blocks[i])
		}
		out = append(out, blocks)
	}
	return out
}

// Entries returns for the blocks of each loop the one block from which
// control comes into it; loops that control enters from several blocks, or
// starts in, are not in it. Nothing runs between the end of that block and the
// loop, which could change what the loop reads.
func Entries(p *queryplan.Plan) map[*queryplan.Block]*queryplan.Block {
	out := map[*queryplan.Block]*queryplan.Block{}
	part := map[*queryplan.Block]int{}
	loops := Components(p)
	for i, component := range loops {
		for _, b := range component {
			part[b] = i
		}
	}
	from := make([]*queryplan.Block, len(loops))
	several := make([]bool, len(loops))
	several[part[p.Blocks[0]]] = true
	for _, b := range p.Blocks {
		for _, s := range b.Successors() {
			if i := part[s]; i != part[b] {
				several[i] = several[i] || from[i] != nil && from[i] != b
				from[i] = b
			}
		}
	}
	for b, i := range part {
		if from[i] != nil && !several[i] {
			out[b] = from[i]
		}
	}
	return out
}

// ReversePostorder returns the blocks so that, loops aside, each comes after
// all that control passes before it.
func ReversePostorder(p *queryplan.Plan) []*queryplan.Block {
	var out []*queryplan.Block
	seen := map[*queryplan.Block]bool{}
	var visit func(b *queryplan.Block)
	visit = func(b *queryplan.Block) {
		seen[b] = true
		// Successors in reverse, so that a branch's body comes before its exit.
		next := b.Successors()
		for i := len(next) - 1; i >= 0; i-- {
			if !seen[next[i]] {
				visit(next[i])
			}
		}
		out = append(out, b)
	}
	visit(p.Blocks[0])
	slices.Reverse(out)
	return out
}

// DominatorTree has for each block the nearest other one that control must pass
// to come to it (Cooper, Harvey, Kennedy, 2001).
type DominatorTree struct {
	order map[*queryplan.Block]int // in reverse postorder
	above map[*queryplan.Block]*queryplan.Block
}

// Dominators returns what dominates each block of a plan.
func Dominators(p *queryplan.Plan) DominatorTree {
	blocks := ReversePostorder(p)
	d := DominatorTree{map[*queryplan.Block]int{}, map[*queryplan.Block]*queryplan.Block{}}
	before := map[*queryplan.Block][]*queryplan.Block{}
	for i, b := range blocks {
		d.order[b] = i
		for _, s := range b.Successors() {
			before[s] = append(before[s], b)
		}
	}
	d.above[blocks[0]] = blocks[0]
	for changed := true; changed; {
		changed = false
		for _, b := range blocks[1:] {
			var above *queryplan.Block
			for _, from := range before[b] {
				switch {
				case d.above[from] == nil:
				case above == nil:
					above = from
				default:
					above = d.meet(above, from)
				}
			}
			if d.above[b] != above {
				d.above[b], changed = above, true
			}
		}
	}
	return d
}

func (d DominatorTree) meet(a, b *queryplan.Block) *queryplan.Block {
	for a != b {
		if d.order[a] > d.order[b] {
			a = d.above[a]
		} else {
			b = d.above[b]
		}
	}
	return a
}

// Dominates reports whether control passes a before it comes to b.
func (d DominatorTree) Dominates(a, b *queryplan.Block) bool {
	for d.order[b] > d.order[a] {
		b = d.above[b]
	}
	return a == b
}
