package lower

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
)

// placeBuilds moves the builds of indexes out of the loops that leave their
// relation alone, and drops those of an index that is as it would be built.
func placeBuilds(p *harmony.Program) {
	preds := map[*harmony.Block][]*harmony.Block{}
	for _, b := range p.Blocks {
		for _, s := range b.Successors() {
			preds[s] = append(preds[s], b)
		}
	}
	hoist(p.Blocks, preds)
	built := map[harmony.Command]bool{}
	harmony.Valid(p, func(c harmony.Command, valid func(*harmony.Index) bool) {
		if b, ok := c.(*harmony.Build); ok && valid(b.Index) {
			built[c] = true
		}
	})
	for _, b := range p.Blocks {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c harmony.Command) bool { return built[c] })
	}
}

// hoist moves builds out of the loops among some blocks, outer loops first. A
// loop is a strongly connected component; builds go to the end of the one block
// from which control enters it, if there is one.
func hoist(blocks []*harmony.Block, preds map[*harmony.Block][]*harmony.Block) {
	for _, loop := range loops(blocks) {
		var before, heads []*harmony.Block
		for _, b := range loop {
			for _, from := range preds[b] {
				if !slices.Contains(loop, from) {
					before = append(before, from)
					heads = append(heads, b)
				}
			}
		}
		if len(before) == 1 {
			moveBuilds(loop, before[0])
		}
		// Without the blocks where it is entered, only inner loops are left.
		inner := slices.DeleteFunc(slices.Clone(loop), func(b *harmony.Block) bool {
			return slices.Contains(heads, b)
		})
		if len(inner) < len(loop) {
			hoist(inner, preds)
		}
	}
}

func moveBuilds(loop []*harmony.Block, before *harmony.Block) {
	changed := map[harmony.Managed]bool{}
	for _, b := range loop {
		for _, c := range b.Cmds {
			_, run := c.(*harmony.Run)
			for _, v := range harmony.Writes(c) {
				// An insert changes nothing that an index is of until the
				// merge.
				if r, ok := v.(*harmony.Relation); ok && !(run && r.Kind == queryplan.Derived) {
					changed[v] = true
				}
			}
		}
	}
	for _, b := range loop {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c harmony.Command) bool {
			build, ok := c.(*harmony.Build)
			if !ok || changed[build.Index.Of] {
				return false
			}
			before.Cmds = append(before.Cmds, build)
			return true
		})
	}
}

// loops returns the strongly connected components among some blocks that have a
// cycle, by Tarjan's algorithm (SIAM J. Comput. 1, 1972); blocks stay in order.
func loops(blocks []*harmony.Block) [][]*harmony.Block {
	var out [][]*harmony.Block
	number, low := map[*harmony.Block]int{}, map[*harmony.Block]int{}
	var stack []*harmony.Block
	var visit func(b *harmony.Block)
	visit = func(b *harmony.Block) {
		number[b] = len(number) + 1
		low[b] = number[b]
		stack = append(stack, b)
		for _, s := range b.Successors() {
			switch {
			case !slices.Contains(blocks, s):
			case number[s] == 0:
				visit(s)
				low[b] = min(low[b], low[s])
			case slices.Contains(stack, s):
				low[b] = min(low[b], number[s])
			}
		}
		if low[b] != number[b] {
			return
		}
		at := slices.Index(stack, b)
		members := stack[at:]
		stack = stack[:at:at]
		if len(members) > 1 || slices.Contains(b.Successors(), b) {
			loop := list.Filter(blocks, func(x *harmony.Block) bool {
				return slices.Contains(members, x)
			})
			out = append(out, loop)
		}
	}
	for _, b := range blocks {
		if number[b] == 0 {
			visit(b)
		}
	}
	return out
}

// dropClears leaves out the clears of variables that are empty on every path.
func dropClears(p *harmony.Program) {
	filled := map[*harmony.Block]map[harmony.Managed]bool{} // at the entry, on some path
	empty := map[harmony.Command]bool{}
	for changed := true; changed; {
		changed = false
		for _, b := range p.Blocks {
			state := map[harmony.Managed]bool{}
			for v := range filled[b] {
				state[v] = true
			}
			for _, c := range b.Cmds {
				if clear, ok := c.(*harmony.Clear); ok {
					empty[c] = !state[clear.Var]
					delete(state, clear.Var)
					continue
				}
				for _, v := range harmony.Writes(c) {
					state[v] = true
				}
			}
			for _, s := range b.Successors() {
				if filled[s] == nil {
					filled[s] = map[harmony.Managed]bool{}
				}
				for v := range state {
					if !filled[s][v] {
						filled[s][v] = true
						changed = true
					}
				}
			}
		}
	}
	for _, b := range p.Blocks {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c harmony.Command) bool { return empty[c] })
	}
}
