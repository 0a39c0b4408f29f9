package fuse

import (
	"github.com/redfoxdb/redfox/harmony"
)

// part is what commands of a block can conflict over: a managed variable or,
// for a derived relation, either its merged tuples or its new ones.
type part struct {
	of    harmony.Managed
	fresh bool // the new part
}

// access is the way in which a command touches a part.
type access uint8

const (
	reads   access = iota + 1
	appends        // rows, tuples or contributions, in any order
	writes
)

// accesses are the parts that a command touches, and how.
type accesses map[part]access

func (a accesses) add(m harmony.Managed, fresh bool, how access) {
	p := part{m, fresh}
	if old := a[p]; old != 0 && old != how {
		how = writes // the command does both, so it commutes with neither
	}
	a[p] = how
}

// conflicts reports whether two commands must keep their order: one writes a
// part that the other touches, or one appends to a part that the other reads.
func (a accesses) conflicts(b accesses) bool {
	for p, how := range a {
		if other := b[p]; other != 0 && (how != other || how == writes) {
			return true
		}
	}
	return false
}

// commandAccesses returns the accesses of a command.
func commandAccesses(c harmony.Command) accesses {
	a := accesses{}
	switch c := c.(type) {
	case *harmony.Run:
		return kernelAccesses(c.Kernel)
	case *harmony.Build:
		a.add(c.Index.Of, false, reads)
		a.add(c.Index, false, writes)
	case *harmony.Number:
		a.add(c.From, false, reads)
		a.add(c.To, false, appends)
	case *harmony.TopK:
		a.add(c.From, false, reads)
		a.add(c.To, false, appends)
	case *harmony.Merge:
		a.add(c.Rel, false, writes)
		a.add(c.Rel, true, writes)
	case *harmony.Clear:
		a.add(c.Var, false, writes)
		a.add(c.Var, true, writes)
	case *harmony.Check:
		a.add(c.Rel, false, reads)
	case *harmony.CheckKey:
		a.add(c.Rel, false, reads)
	}
	return a
}

// kernelAccesses returns the accesses of running a kernel.
func kernelAccesses(k *harmony.Kernel) accesses {
	a := accesses{}
	switch s := k.Source.(type) {
	case *harmony.Rows:
		a.add(s.Rel, false, reads)
	case *harmony.GroupRows:
		a.add(s.Groups, false, reads)
	}
	for _, s := range k.Stages {
		if p, ok := s.(*harmony.Probe); ok {
			// An index is valid as long as its relation does not change.
			a.add(p.Index, false, reads)
			a.add(p.Index.Of, false, reads)
		}
	}
	for _, s := range k.Sinks {
		_, insert := s.(*harmony.Insert)
		if insert {
			a.add(harmony.SinkTarget(s), false, reads) // it looks for existing tuples
		}
		a.add(harmony.SinkTarget(s), insert, appends)
	}
	return a
}

// without returns the accesses to other variables than t.
func (a accesses) without(t harmony.Managed) accesses {
	out := accesses{}
	for p, how := range a {
		if p.of != t {
			out[p] = how
		}
	}
	return out
}

// clearOf reports whether no command conflicts with a.
func (a accesses) clearOf(cmds []harmony.Command) bool {
	for _, c := range cmds {
		if a.conflicts(commandAccesses(c)) {
			return false
		}
	}
	return true
}

// fillsOwnInput reports whether a kernel reads what it writes, so that its
// result would depend on the order of rows.
func fillsOwnInput(k *harmony.Kernel) bool {
	for _, how := range kernelAccesses(k) {
		if how == writes {
			return true
		}
	}
	return false
}
