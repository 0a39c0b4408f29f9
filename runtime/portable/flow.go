package portable

import "github.com/redfoxdb/redfox/queryplan"

// flow answers questions about a plan's control-flow graph.
type flow struct {
	plan *queryplan.Plan
	// reach holds, for each block, the blocks that can run after it.
	reach map[*queryplan.Block]map[*queryplan.Block]bool
}

func newFlow(p *queryplan.Plan) *flow {
	f := &flow{plan: p, reach: map[*queryplan.Block]map[*queryplan.Block]bool{}}
	for _, b := range p.Blocks {
		seen := map[*queryplan.Block]bool{}
		todo := b.Successors()
		for len(todo) > 0 {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next.Successors()...)
			}
		}
		f.reach[b] = seen
	}
	return f
}

// inLoop reports whether a block can run again.
func (f *flow) inLoop(b *queryplan.Block) bool { return f.reach[b][b] }

// sameLoop reports whether each of two blocks can run after the other.
func (f *flow) sameLoop(a, b *queryplan.Block) bool { return f.reach[a][b] && f.reach[b][a] }

// growsAround reports whether a variable is merged in a loop that the block is
// part of.
func (f *flow) growsAround(v *queryplan.Var, b *queryplan.Block) bool {
	for _, other := range f.plan.Blocks {
		if !f.sameLoop(b, other) {
			continue
		}
		for _, c := range other.Cmds {
			if m, ok := c.(*queryplan.Merge); ok && m.Var == v {
				return true
			}
		}
	}
	return false
}

// insertsAfter reports whether something can be inserted into a variable after
// command i of a block.
func (f *flow) insertsAfter(v *queryplan.Var, b *queryplan.Block, i int) bool {
	inserts := func(cmds []queryplan.Command) bool {
		for _, c := range cmds {
			if c, ok := c.(*queryplan.Insert); ok && c.Var == v {
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

// needsSet reports whether repeated tuples can reach a Derived variable: there
// are several Inserts or one that runs again, or its tuples are not known to be
// distinct.
func (f *flow) needsSet(v *queryplan.Var) bool {
	var only *queryplan.Insert
	for _, b := range f.plan.Blocks {
		for _, c := range b.Cmds {
			c, ok := c.(*queryplan.Insert)
			if !ok || c.Var != v {
				continue
			}
			if only != nil || f.inLoop(b) {
				return true
			}
			only = c
		}
	}
	return only != nil && len(queryplan.Keys(only.Node)) == 0
}
