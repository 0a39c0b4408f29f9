package woven

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// profile reports what the commands of the plan cost, and the kernels that they
// became.
func (w *Walk) profile() {
	for _, b := range w.Graph.Blocks {
		at := slices.IndexFunc(w.Request.Plan.Blocks, func(p *queryplan.Block) bool {
			return p.Name == b.Name
		})
		plan := w.Request.Plan.Blocks[at]
		costs := make([]runtime.CommandProfile, len(plan.Cmds))
		for at := range costs {
			costs[at] = runtime.CommandProfile{Block: plan.Name, Command: at}
		}
		serves := w.serves(b, plan)
		for at, c := range b.Cmds {
			k := w.costs[c]
			if k == nil {
				continue
			}
			if s := serves[at]; s >= 0 {
				to := &costs[s]
				to.Calls = max(to.Calls, k.calls)
				to.Time += k.time
				to.Device += k.work.Device
				if fillsVar(c, plan.Cmds[s]) {
					to.Rows += k.work.Kept
					to.Kept += k.work.Kept
				}
			}
			if c, ok := c.(*harmony.Run); ok {
				w.answer.Kernels = append(w.answer.Kernels, runtime.KernelProfile{
					Kernel: c.Kernel.Name,
					Rules:  c.Kernel.Rules(),
					Block:  b.Name,
					Calls:  k.calls,
					Rows:   k.work.Source,
					Kept:   k.work.Kept,
					Bytes:  k.work.Bytes,
					Time:   k.time,
					Device: k.work.Device,
					ByBits: k.work.ByBits,
				})
			}
		}
		w.answer.Profile = append(w.answer.Profile, costs...)
	}
}

// serves says for each command of a block which of the plan's commands it is
// for, -1 for none: the one that it finishes, or the one that the next such
// command finishes, as lowering puts before it what it needs.
func (w *Walk) serves(b *harmony.Block, plan *queryplan.Block) []int {
	out := make([]int, len(b.Cmds))
	next := -1
	for at := len(b.Cmds) - 1; at >= 0; at-- {
		if s := w.finishes(b.Cmds[at], plan); s >= 0 {
			next = s
		}
		out[at] = next
	}
	// Time after the last one belongs to it.
	for at := 1; at < len(out); at++ {
		if out[at] < 0 {
			out[at] = out[at-1]
		}
	}
	return out
}

// finishes returns the command of the plan that a command of its block
// completes, -1 for none.
func (w *Walk) finishes(c harmony.Command, plan *queryplan.Block) int {
	found := -1
	for at, p := range plan.Cmds {
		switch p := p.(type) {
		case *queryplan.Insert:
			// Several rules may fill a variable.
			if span, ok := inserting(c); fillsVar(c, p) && ok && (found < 0 || span == p.Span) {
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
			if c, ok := c.(*harmony.Check); ok && w.planCheck(w.checks[c]) == p {
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

// inserting returns the rule that a command carries out that adds tuples.
func inserting(c harmony.Command) (rule source.Span, ok bool) {
	switch c := c.(type) {
	case *harmony.Run:
		return c.Kernel.Span, true
	case *harmony.Number:
		return c.Span, true
	case *harmony.TopK:
		return c.Span, true
	}
	return rule, false
}

// fillsVar reports whether a command fills the variable that a command of the
// plan fills.
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

// LoadedBytes is how many bytes of a row of its source a kernel loads. The keys
// and results of groups are words.
func (b *Bound) LoadedBytes(k *harmony.Kernel) int {
	n, packed := 0, 0 // bytes, and bits
	for _, s := range k.Stages {
		load, ok := s.(*harmony.Load)
		if !ok || k.PositionOf(s) != nil {
			continue
		}
		switch s := k.Source.(type) {
		case *harmony.Rows:
			packed += b.Layouts.Columns[s.Rel][load.Col].Bits()
		case *harmony.GroupRows:
			n += 8
		}
	}
	return n + (packed+7)/8
}
