package native

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// profile reports what the commands of the plan cost, and the kernels that they
// became.
func (r *run) profile() {
	for _, b := range r.prog.graph.Blocks {
		at := slices.IndexFunc(r.req.Plan.Blocks, func(p *queryplan.Block) bool { return p.Name == b.Name })
		plan := r.req.Plan.Blocks[at]
		costs := make([]runtime.CommandProfile, len(plan.Cmds))
		for at := range costs {
			costs[at] = runtime.CommandProfile{Block: plan.Name, Command: at}
		}
		serves := r.serves(b, plan)
		for at, c := range b.Cmds {
			k := r.commands[c]
			if k == nil {
				continue
			}
			if s := serves[at]; s >= 0 {
				to := &costs[s]
				to.Calls = max(to.Calls, k.profile.Calls)
				to.Time += k.profile.Time
				if fillsVar(c, plan.Cmds[s]) {
					to.Rows += k.profile.Rows
					to.Kept += k.profile.Kept
				}
			}
			if c, ok := c.(*harmony.Run); ok {
				r.answer.Kernels = append(r.answer.Kernels, runtime.KernelProfile{
					Kernel: c.Kernel.Name,
					Calls:  k.profile.Calls,
					Rows:   k.sourceRows,
					Kept:   k.profile.Kept,
					Bytes:  k.bytes,
					Time:   k.profile.Time,
				})
			}
		}
		r.answer.Profile = append(r.answer.Profile, costs...)
	}
}

// serves says for each command of a block which of the plan's commands it is for,
// -1 for none: the one that it finishes, or the one that the next such command
// finishes, as lowering puts before it what it needs.
func (r *run) serves(b *harmony.Block, plan *queryplan.Block) []int {
	out := make([]int, len(b.Cmds))
	next := -1
	for at := len(b.Cmds) - 1; at >= 0; at-- {
		if s := r.finishes(b.Cmds[at], plan); s >= 0 {
			next = s
		}
		out[at] = next
	}
	// What comes after the last one belongs to it.
	for at := 1; at < len(out); at++ {
		if out[at] < 0 {
			out[at] = out[at-1]
		}
	}
	return out
}

// finishes returns the command of the plan that a command of its block completes,
// -1 for none.
func (r *run) finishes(c harmony.Command, plan *queryplan.Block) int {
	found := -1
	for at, p := range plan.Cmds {
		switch p := p.(type) {
		case *queryplan.Insert:
			// Several rules may fill a variable.
			if run, ok := c.(*harmony.Run); fillsVar(c, p) && ok && (found < 0 || run.Kernel.Span == p.Span) {
				found = at
			}
		case *queryplan.Assign:
			if fillsVar(c, p) {
				found = at
			}
		case *queryplan.Merge:
			if c, ok := c.(*harmony.Merge); ok && c.Rel.Name == p.Var.Name {
				found = at
			}
		case *queryplan.Check:
			if c, ok := c.(*harmony.Check); ok && r.planCheck(r.prog.checks[c]) == p {
				found = at
			}
		case *queryplan.CheckKey:
			if c, ok := c.(*harmony.CheckKey); ok && c.Rel.Name == p.Var.Name {
				found = at
			}
		}
	}
	return found
}

// fillsVar reports whether a command fills the variable that a command of the plan
// fills.
func fillsVar(c harmony.Command, p queryplan.Command) bool {
	name := ""
	switch p := p.(type) {
	case *queryplan.Insert:
		name = p.Var.Name
	case *queryplan.Assign:
		name = p.Var.Name
	}
	if _, ok := c.(*harmony.Clear); ok || name == "" {
		return false
	}
	for _, v := range harmony.Writes(c) {
		if v.ManagedName() == name {
			_, merge := c.(*harmony.Merge)
			return !merge
		}
	}
	return false
}

// loadedBytes is how many bytes of a row of its source a kernel loads. The keys and
// results of groups are words.
func (r *run) loadedBytes(k *harmony.Kernel) int {
	n := 0
	for _, s := range k.Stages {
		load, ok := s.(*harmony.Load)
		if !ok {
			continue
		}
		switch s := k.Source.(type) {
		case *harmony.Rows:
			n += r.relations[s.Rel].cols[load.Col].width
		case *harmony.GroupRows:
			n += 8
		}
	}
	return n
}

// filledBytes is the size of the tuples of the relations that an entry fills.
func (b *boundEntry) filledBytes() int64 {
	n := int64(0)
	for _, t := range b.targets {
		n += t.rel.gauge.cursor * int64(t.rel.rowBytes())
	}
	return n
}

// rowBytes is the size of a tuple.
func (r *relation) rowBytes() int {
	n := 0
	for _, c := range r.cols {
		n += c.width
	}
	return n
}
