package fuse

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
)

// splice returns a kernel that does the work of the producer w and then of the
// consumer c of its temp t. c's loads become the operands that w stores. The
// store itself is dropped unless keep is set. The given kernels are not
// changed; registers are new.
func splice(w, c *harmony.Kernel, t *harmony.Relation, keep bool) *harmony.Kernel {
	ren := harmony.Renaming{}
	k := &harmony.Kernel{
		Name:   w.Name + "_" + c.Name,
		Host:   w.Host,
		Source: w.Source,
		Ops:    slices.Concat(w.Ops, c.Ops),
		Span:   c.Span,
	}
	if !k.Span.IsValid() {
		k.Span = w.Span
	}
	k.Take(w, w.Stages, ren)
	var stored []harmony.Operand
	for _, s := range w.Sinks {
		store, ok := s.(*harmony.Store)
		if ok && store.To == t {
			stored = ren.Operands(store.Vals)
			if !keep {
				continue
			}
		}
		k.TakeSinks(w, []harmony.Sink{s}, ren)
	}
	var rest []harmony.Stage
	for _, s := range c.Stages {
		if load, ok := s.(*harmony.Load); ok {
			ren[load.Out] = stored[load.Col]
		} else {
			rest = append(rest, s)
		}
	}
	k.Take(c, rest, ren)
	k.TakeSinks(c, c.Sinks, ren)
	dropNeeds(k)
	harmony.DropUnused(k)
	return k
}

// dropStores removes a kernel's stores to t and the stages that only they need.
func dropStores(k *harmony.Kernel, t *harmony.Relation) {
	k.Sinks = slices.DeleteFunc(k.Sinks, func(s harmony.Sink) bool {
		return harmony.SinkTarget(s) == harmony.Managed(t)
	})
	harmony.DropUnused(k)
}

// keepsRows reports whether a kernel's sinks get exactly the source's rows.
func keepsRows(k *harmony.Kernel) bool {
	return !slices.ContainsFunc(k.Stages,
		harmony.ChangesRows)
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
