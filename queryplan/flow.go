package queryplan

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Flow answers questions about a plan's control-flow graph.
type Flow struct {
	plan *Plan
	// reach holds, for each block, the blocks that can run after it.
	reach map[*Block]map[*Block]bool
}

// NewFlow follows a plan's control flow.
func NewFlow(p *Plan) *Flow {
	return &Flow{plan: p, reach: cfg.Reach(p.Blocks, (*Block).Successors)}
}

// InLoop reports whether a block can run again.
func (f *Flow) InLoop(b *Block) bool { return f.reach[b][b] }

// RunsAfter reports whether a block can run after another one has.
func (f *Flow) RunsAfter(b, other *Block) bool { return f.reach[other][b] }

// SameLoop reports whether each of two blocks can run after the other.
func (f *Flow) SameLoop(a, b *Block) bool { return f.reach[a][b] && f.reach[b][a] }

// GrowsAround reports whether a variable is merged in a loop that the block is
// part of.
func (f *Flow) GrowsAround(v *Var, b *Block) bool {
	return f.around(b, func(c Command) bool {
		m, ok := c.(*Merge)
		return ok && m.Var == v
	})
}

// ChangesAround reports whether a loop that the block is part of fills, merges
// or clears a variable.
func (f *Flow) ChangesAround(v *Var, b *Block) bool {
	return f.around(b, func(c Command) bool { return CommandVar(c) == v })
}

// around reports whether a condition holds for a command of a loop that the
// block is part of.
func (f *Flow) around(b *Block, is func(Command) bool) bool {
	return slices.ContainsFunc(f.plan.Blocks, func(other *Block) bool {
		return f.SameLoop(b, other) && slices.ContainsFunc(other.Cmds, is)
	})
}

// InsertsAfter reports whether something can be inserted into a variable after
// command i of a block.
func (f *Flow) InsertsAfter(v *Var, b *Block, i int) bool {
	inserts := func(cmds []Command) bool {
		for _, c := range cmds {
			if c, ok := c.(*Insert); ok && c.Var == v {
				return true
			}
		}
		return false
	}
	if inserts(b.Cmds[i+1:]) {
		return true
	}
	for _, other := range f.plan.Blocks {
		if f.reach[b][other] && inserts(other.Cmds) {
			return true
		}
	}
	return false
}

// NeedsSet reports whether repeated tuples can reach a Derived variable: an
// Insert runs again, its tuples are not known to be distinct, or there are
// several Inserts whose tuples are not known to differ in their keys.
func (f *Flow) NeedsSet(v *Var) bool {
	var nodes []Node
	var block *Block
	for b, c := range f.plan.Commands() {
		c, ok := c.(*Insert)
		if !ok || c.Var != v {
			continue
		}
		if block != nil && block != b || f.InLoop(b) || len(Keys(c.Node)) == 0 {
			return true
		}
		nodes, block = append(nodes, c.Node), b
	}
	return len(nodes) > 1 && !(readsSettled(block, v) && AgreeOnKey(nodes, v.Keys))
}
