package emit

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// schedule orders the stages: what has no effect on which rows are left moves down
// to its first use, but not past an expansion.
func (w *kernel) schedule() {
	var pending []harmony.Stage
	flush := func(wanted func(harmony.Stage) bool) {
		kept := pending[:0:0]
		for _, s := range pending {
			if wanted(s) {
				w.stages = append(w.stages, s)
			} else {
				kept = append(kept, s)
			}
		}
		pending = kept
	}
	stages := w.k.Stages
	_, ofGroups := w.k.Source.(*harmony.GroupRows)
	if ofGroups {
		stages = loadsFirst(stages)
	}
	for _, s := range stages {
		switch s := s.(type) {
		case *harmony.Load, *harmony.Gather:
			if _, ok := s.(*harmony.Load); ok && ofGroups {
				w.stages = append(w.stages, s)
				continue
			}
			pending = append(pending, s)
			continue
		case *harmony.Map:
			if !w.isHost(s) {
				pending = append(pending, s)
				continue
			}
		}
		needed := map[*harmony.Reg]bool{}
		for _, r := range harmony.Uses(s) {
			needed[r] = true
		}
		for i := len(pending) - 1; i >= 0; i-- {
			if needed[harmony.Def(pending[i])] {
				for _, r := range harmony.Uses(pending[i]) {
					needed[r] = true
				}
			}
		}
		flush(func(d harmony.Stage) bool { return isExpansion(s) || needed[harmony.Def(d)] })
		w.stages = append(w.stages, s)
	}
	flush(func(harmony.Stage) bool { return true })
	w.setStages(w.stages)
}

// setStages makes stages the kernel's, and finds what reads registers last.
func (w *kernel) setStages(stages []harmony.Stage) {
	w.stages = stages
	w.last = map[*harmony.Reg]int{}
	w.lastLoad = -1
	for i, s := range w.stages {
		for _, r := range harmony.Uses(s) {
			w.last[r] = i
		}
		if _, ok := s.(*harmony.Load); ok {
			w.lastLoad = i
		}
	}
}

// loadsFirst puts the loads before all other stages. Keys and results of groups
// are read for the slots of a whole tile, before rows move.
func loadsFirst(stages []harmony.Stage) []harmony.Stage {
	var loads, others []harmony.Stage
	for _, s := range stages {
		if _, ok := s.(*harmony.Load); ok {
			loads = append(loads, s)
		} else {
			others = append(others, s)
		}
	}
	return append(loads, others...)
}

// keep says that a register is read behind all stages.
func (w *kernel) keep(r *harmony.Reg) {
	if r != nil {
		w.last[r] = len(w.stages)
		w.kept = append(w.kept, r)
	}
}

// isDrop reports whether a stage of a run drops rows.
func isDrop(s harmony.Stage) bool {
	switch s.(type) {
	case *harmony.Filter, *harmony.Need:
		return true
	}
	return false
}

// inRun reports whether a stage can be one of a run, which is one loop over items.
func (w *kernel) inRun(s harmony.Stage) bool {
	switch s := s.(type) {
	case *harmony.Probe:
		return false
	case *harmony.Map:
		return !w.isHost(s)
	}
	return true
}

// endOfRun returns the stage at which the run that begins with stage i ends: behind
// a filter where rows are then moved together, or where a GPU gathers for those
// that are left.
func (w *kernel) endOfRun(i int) int {
	for ; i < len(w.stages) && w.inRun(w.stages[i]); i++ {
		if i == len(w.stages)-1 || !isDrop(w.stages[i]) || isDrop(w.stages[i+1]) {
			continue
		}
		if w.target.GPU && w.gathers(i+1) || w.wantsCompaction(i+1) {
			return i + 1
		}
	}
	return i
}

// gathers reports whether the run from stage i on reads a column at random. Loads
// behind a filter are begun before it, with those that the filter waits for: one in
// two rows may be left of each sector of memory, but a block that waits twice is half
// as fast.
func (w *kernel) gathers(i int) bool {
	for ; i < len(w.stages) && w.inRun(w.stages[i]); i++ {
		if _, ok := w.stages[i].(*harmony.Gather); ok {
			return true
		}
	}
	return false
}

// wantsCompaction reports whether what comes from stage i on works better on rows
// that lie together: random accesses and stores do. Where another filter comes
// first, it is soon enough behind that one.
func (w *kernel) wantsCompaction(i int) bool {
	if w.target.GPU || w.module.opts.NoCompact {
		return false
	}
	for ; i < len(w.stages); i++ {
		switch s := w.stages[i].(type) {
		case *harmony.Probe, *harmony.Gather:
			return true
		case *harmony.Filter, *harmony.Need:
			return false
		case *harmony.Map:
			if w.isHost(s) {
				return true
			}
		}
	}
	for _, s := range w.k.Sinks {
		g, ok := s.(*harmony.Group)
		if !ok {
			return true
		}
		if form, ok := w.fixed(abi.GroupForm, g.To.Name, 0); ok && abi.Form(form) >= abi.Hash {
			return true
		}
	}
	return false
}
