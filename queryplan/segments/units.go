package segments

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// unit is a command outside of loops, or the end of a block together with the
// loops that follow it.
type unit struct {
	block *queryplan.Block
	cmd   queryplan.Command // nil for the end of the block
	at    int               // index of cmd
	loops []*queryplan.Block
	next  *queryplan.Block // behind the loops
}

// unitsOf returns the units of a plan in the order in which they run. Each run
// of the plan passes through all of them, but may skip loops.
func unitsOf(p *queryplan.Plan) []unit {
	spine := spineOf(p)
	var out []unit
	for i, b := range spine {
		for at, cmd := range b.Cmds {
			out = append(out, unit{block: b, cmd: cmd, at: at})
		}
		if i+1 < len(spine) {
			if loops := between(p, b, spine[i+1]); len(loops) > 0 {
				out = append(out, unit{block: b, at: len(b.Cmds), loops: loops,
					next: spine[i+1]})
			}
		}
	}
	return out
}

// spineOf returns the blocks that each run passes through exactly once, in the
// order in which it does.
func spineOf(p *queryplan.Plan) []*queryplan.Block {
	flow := queryplan.NewFlow(p)
	var out []*queryplan.Block
	for _, b := range p.Blocks {
		if !flow.InLoop(b) && !haltsWithout(p, b) {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b *queryplan.Block) int {
		if reaches(a, b, nil) {
			return -1
		}
		return 1
	})
	return out
}

// haltsWithout reports whether a run can end without passing through a block.
func haltsWithout(p *queryplan.Plan, avoided *queryplan.Block) bool {
	for _, b := range p.Blocks {
		if _, ok := b.Term.(*queryplan.Halt); ok && b != avoided &&
			p.Blocks[0] != avoided && (b == p.Blocks[0] || reaches(p.Blocks[0], b, avoided)) {
			return true
		}
	}
	return false
}

// reaches reports whether a path of at least one step leads from one block to
// another without passing through a third.
func reaches(from, to, avoided *queryplan.Block) bool {
	seen := map[*queryplan.Block]bool{avoided: true}
	todo := from.Successors()
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[b] {
			continue
		}
		if b == to {
			return true
		}
		seen[b] = true
		todo = append(todo, b.Successors()...)
	}
	return false
}

// between returns the blocks on the paths from one block of the spine to the
// next.
func between(p *queryplan.Plan, from, to *queryplan.Block) []*queryplan.Block {
	var out []*queryplan.Block
	for _, b := range p.Blocks {
		if b != from && b != to && reaches(from, b, to) {
			out = append(out, b)
		}
	}
	return out
}

// use is what a unit does with a variable.
type use struct {
	v *queryplan.Var
	// fills says that the unit changes the variable, and versions that it reads
	// what only the engine that fills the variable knows: a delta, or the
	// numbers of tuples.
	fills, versions bool
}

// uses returns what a unit does with variables.
func (u unit) uses() []use {
	var out []use
	if u.cmd != nil {
		return commandUses(out, u.cmd)
	}
	branch := func(b *queryplan.Block) {
		if t, ok := b.Term.(*queryplan.Branch); ok {
			for _, v := range t.Vars {
				out = append(out, use{v: v, versions: true})
			}
		}
	}
	branch(u.block)
	for _, b := range u.loops {
		for _, c := range b.Cmds {
			out = commandUses(out, c)
		}
		branch(b)
	}
	return out
}

func commandUses(to []use, c queryplan.Command) []use {
	if n := queryplan.CommandNode(c); n != nil {
		for _, s := range queryplan.Scans(n) {
			to = append(to, use{v: s.Var,
				versions: s.Version != queryplan.Full || s.Position != ""})
		}
	}
	if v := queryplan.CommandVar(c); v != nil {
		to = append(to, use{v: v, fills: true})
	}
	return to
}
