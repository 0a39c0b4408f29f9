package fuse

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
)

// splice returns the kernel that does what the producer w and then the consumer
// c of its temp t do: c's loads become the operands that w stores. The store
// itself goes unless keep. Both kernels stay as they are; registers are new.
func splice(w, c *harmony.Kernel, t *harmony.Relation, keep bool) *harmony.Kernel {
	ren := renaming{}
	k := &harmony.Kernel{
		Name:   w.Name + "_" + c.Name,
		Source: w.Source,
		Stages: ren.stages(w.Stages),
		Ops:    slices.Concat(w.Ops, c.Ops),
		Span:   c.Span,
	}
	if !k.Span.IsValid() {
		k.Span = w.Span
	}
	var stored []harmony.Operand
	for _, s := range w.Sinks {
		store, ok := s.(*harmony.Store)
		if ok && store.To == t {
			stored = ren.operands(store.Vals)
			if !keep {
				continue
			}
		}
		k.Sinks = append(k.Sinks, ren.sink(s))
	}
	var rest []harmony.Stage
	for _, s := range c.Stages {
		if load, ok := s.(*harmony.Load); ok {
			ren[load.Out] = stored[load.Col]
		} else {
			rest = append(rest, s)
		}
	}
	k.Stages = append(k.Stages, ren.stages(rest)...)
	for _, s := range c.Sinks {
		k.Sinks = append(k.Sinks, ren.sink(s))
	}
	dropNeeds(k)
	dropUnused(k)
	return k
}

// dropStores removes a kernel's stores to t and what only they needed.
func dropStores(k *harmony.Kernel, t *harmony.Relation) {
	k.Sinks = slices.DeleteFunc(k.Sinks, func(s harmony.Sink) bool { return harmony.SinkTarget(s) == harmony.Managed(t) })
	dropUnused(k)
}

// renaming maps the registers of kernels that become one to operands of the new
// one.
type renaming map[*harmony.Reg]harmony.Operand

func (ren renaming) operand(o harmony.Operand) harmony.Operand {
	if o.Reg == nil {
		return o
	}
	return ren[o.Reg]
}

func (ren renaming) operands(list []harmony.Operand) []harmony.Operand {
	out := make([]harmony.Operand, len(list))
	for i, o := range list {
		out[i] = ren.operand(o)
	}
	return out
}

// define makes a new register for one that a stage defines.
func (ren renaming) define(r *harmony.Reg) *harmony.Reg {
	if r == nil {
		return nil
	}
	n := &harmony.Reg{Type: r.Type, Row: r.Row}
	ren[r] = harmony.Operand{Reg: n}
	return n
}

func (ren renaming) stages(list []harmony.Stage) []harmony.Stage {
	var out []harmony.Stage
	for _, s := range list {
		if n := ren.stage(s); n != nil {
			out = append(out, n)
		}
	}
	return out
}

// stage returns a copy with new registers, or nil if the stage has become
// trivial.
func (ren renaming) stage(s harmony.Stage) harmony.Stage {
	switch s := s.(type) {
	case *harmony.Load:
		return &harmony.Load{Out: ren.define(s.Out), Col: s.Col}
	case *harmony.Map:
		args := ren.operands(s.Args)
		return &harmony.Map{Out: ren.define(s.Out), Func: s.Func, Args: args}
	case *harmony.Filter:
		return &harmony.Filter{Cond: ren.operand(s.Cond)}
	case *harmony.Need:
		if o := ren[s.Reg]; o.Reg != nil {
			return &harmony.Need{Reg: o.Reg}
		}
		return nil // a constant is present and fits
	case *harmony.Probe:
		key := ren.operands(s.Key)
		return &harmony.Probe{Kind: s.Kind, Index: s.Index, Key: key, Out: ren.define(s.Out)}
	case *harmony.Gather:
		row := ren[s.Row].Reg
		return &harmony.Gather{Out: ren.define(s.Out), Row: row, Col: s.Col}
	}
	return s
}

func (ren renaming) sink(s harmony.Sink) harmony.Sink {
	switch s := s.(type) {
	case *harmony.Store:
		return &harmony.Store{To: s.To, Vals: ren.operands(s.Vals)}
	case *harmony.Insert:
		return &harmony.Insert{To: s.To, Vals: ren.operands(s.Vals)}
	case *harmony.Group:
		vals := make([]harmony.Operand, len(s.Vals))
		for i, a := range s.To.Accs {
			if a.Fn != queryplan.Count {
				vals[i] = ren.operand(s.Vals[i])
			}
		}
		return &harmony.Group{To: s.To, Key: ren.operands(s.Key), Vals: vals}
	}
	return s
}

// keepsRows reports whether a kernel's sinks get exactly the source's rows.
func keepsRows(k *harmony.Kernel) bool { return !slices.ContainsFunc(k.Stages, changesRows) }

// changesRows reports whether a stage drops rows or makes several of one.
func changesRows(s harmony.Stage) bool {
	switch s.(type) {
	case *harmony.Filter, *harmony.Need, *harmony.Probe:
		return true
	}
	return false
}

// expands reports whether a kernel makes several rows of one.
func expands(k *harmony.Kernel) bool {
	return slices.ContainsFunc(k.Stages, func(s harmony.Stage) bool {
		p, ok := s.(*harmony.Probe)
		return ok && p.Kind == harmony.ProbeMulti
	})
}

// dropNeeds removes the needs of registers that an earlier one has proved
// present, or that hold stored values.
func dropNeeds(k *harmony.Kernel) {
	proved := map[*harmony.Reg]bool{}
	k.Stages = slices.DeleteFunc(k.Stages, func(s harmony.Stage) bool {
		switch s := s.(type) {
		case *harmony.Load:
			proved[s.Out] = true
		case *harmony.Gather:
			proved[s.Out] = true
		case *harmony.Need:
			if proved[s.Reg] {
				return true
			}
			proved[s.Reg] = true
		}
		return false
	})
}

// dropUnused removes the stages that only define registers that nothing reads:
// columns that the producer stored and the consumer did not load.
func dropUnused(k *harmony.Kernel) {
	used := map[*harmony.Reg]bool{}
	for _, s := range k.Sinks {
		for _, o := range harmony.SinkOperands(s) {
			used[o.Reg] = true
		}
	}
	var kept []harmony.Stage
	for _, s := range slices.Backward(k.Stages) {
		if r := harmony.Def(s); r != nil && !used[r] && !changesRows(s) {
			continue
		}
		for _, r := range harmony.Uses(s) {
			used[r] = true
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	k.Stages = kept
}
