package gpu

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// bindRounds binds the kernels of a loop when it first runs. It reports whether
// the device can run them: a loop on the device cannot report faults or count
// dropped tuples.
func (r *run) bindRounds(l *rounds) (bool, error) {
	for _, op := range l.ops {
		if op.kind == abi.LoopBuild && l.entries[op.entry] == nil {
			entries, err := r.buildEntries(op.index.Decl)
			if err != nil {
				return false, err
			}
			l.entries[op.entry] = adder(entries, op.index)
		}
		if op.kind != abi.LoopRun {
			continue
		}
		k := l.block.Cmds[op.command].(*harmony.Run).Kernel
		if !r.spaceRuns(l, k) {
			return false, nil
		}
		if l.entries[op.entry] != nil {
			continue
		}
		e, err := r.boundKernel(k)
		if err != nil {
			return false, err
		}
		counts := slices.ContainsFunc(e.entry.Params, func(p abi.Param) bool {
			return p.Kind == abi.Dropped || p.Kind == abi.Fault
		})
		if counts || len(e.groups) > 0 || e.entry.Sharing > 1 {
			delete(r.rounds, l.block)
			return false, nil
		}
		for _, t := range e.targets {
			l.fills[t.To] += e.entry.Burst() * int64(t.Sinks)
			if !slices.Contains(l.list, t.To) {
				l.list = append(l.list, t.To)
			}
		}
		l.entries[op.entry] = e
	}
	if l.blocks == 0 {
		l.blocks = l.stretches()
		if a := r.engine.info.Attributes; !a.CooperativeLaunch {
			l.blocks = 1
		} else {
			l.blocks = min(l.blocks, int64(a.Multiprocessors))
		}
	}
	if !l.f.entry.Loop.Holds(l.sizes()) {
		delete(r.rounds, l.block)
		return false, nil
	}
	// At the end of a round, the cursor of a relation must be its end. So no
	// kernel may fill a relation that the round has merged before.
	merged := map[*tables.Relation]bool{}
	for _, op := range l.ops {
		switch op.kind {
		case abi.LoopMerge:
			merged[op.rel] = true
		case abi.LoopRun:
			if slices.ContainsFunc(l.entries[op.entry].targets,
				func(t machine.Target[*tables.Relation]) bool { return merged[t.To] }) {
				delete(r.rounds, l.block)
				return false, nil
			}
		}
	}
	return true, nil
}

// adder returns the function that adds rows to an index.
func adder(entries []*boundEntry, x *tables.Index) *boundEntry {
	role := abi.BuildInsert
	if x.Decl.Kind == harmony.Multi {
		role = abi.BuildFill
	}
	return entries[slices.IndexFunc(entries, func(e *boundEntry) bool {
		return e.entry.Role == role
	})]
}

// spaceRuns makes the loop use the spaced form of each index that consists of
// several runs and that a kernel probes, because the loop runs a kernel only
// once a round. It returns false if an index has no spaced form.
func (r *run) spaceRuns(l *rounds, k *harmony.Kernel) bool {
	for _, s := range k.Stages {
		p, ok := s.(*harmony.Probe)
		if !ok || len(r.Indexes[p.Index].Runs.List) < 2 {
			continue
		}
		x := r.Indexes[p.Index]
		if x.Spaced == nil {
			return false
		}
		l.addIndex(x)
	}
	return true
}
