package shape

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// Work is a sequence of stages in the order in which they are carried out.
type Work struct {
	Stages []harmony.Stage
	// Last has the last stage that reads a register; that of sinks is
	// len(Stages).
	Last     map[*harmony.Reg]int
	LastLoad int // the last stage that loads from the source; -1 if none does
	Steps    []Step
}

// Step is a part of the work that becomes one piece of code.
type Step struct {
	Kind     StepKind
	From, To int // stages
	// Compacts moves a CPU's live rows together behind the step.
	Compacts bool
}

// StepKind is the kind of a step.
type StepKind uint8

// The kinds of steps. All but runs have one stage.
const (
	Run       StepKind = iota // stages without a search, as one loop over the items
	Host                      // a function that the host evaluates for the whole tile
	Lookup                    // a probe that finds one row at most
	Expansion                 // a probe that makes several rows of one
)

// newWork finds what reads registers last, and the steps. Kept registers are
// read behind all stages.
func (f *Function) newWork(stages []harmony.Stage, kept []*harmony.Reg) *Work {
	w := &Work{Stages: stages, Last: map[*harmony.Reg]int{}, LastLoad: -1}
	for i, s := range stages {
		for _, r := range harmony.Uses(s) {
			w.Last[r] = i
		}
		if _, ok := s.(*harmony.Load); ok {
			w.LastLoad = i
		}
	}
	for _, r := range kept {
		w.Last[r] = len(stages)
	}
	for i := 0; i < len(stages); {
		s := f.step(w, i)
		w.Steps = append(w.Steps, s)
		i = s.To
	}
	return w
}

// step returns the step that begins with a stage.
func (f *Function) step(w *Work, i int) Step {
	switch s := w.Stages[i].(type) {
	case *harmony.Map:
		if f.IsHost(s) {
			return Step{Kind: Host, From: i, To: i + 1}
		}
	case *harmony.Probe:
		if IsExpansion(s) {
			return Step{Kind: Expansion, From: i, To: i + 1}
		}
		return Step{Kind: Lookup, From: i, To: i + 1, Compacts: f.wantsCompaction(w, i+1)}
	}
	end := f.endOfRun(w, i)
	return Step{
		Kind:     Run,
		From:     i,
		To:       end,
		Compacts: IsDrop(w.Stages[end-1]) && f.wantsCompaction(w, end),
	}
}

// Live returns the registers that are defined before a stage and read by it or
// a later one, in the order of their definitions.
func (w *Work) Live(stage int) []*harmony.Reg {
	var out []*harmony.Reg
	for _, s := range w.Stages[:stage] {
		if r := harmony.Def(s); r != nil && w.Last[r] >= stage {
			out = append(out, r)
		}
	}
	return out
}

// schedule orders the stages: a definition without an effect on which rows are
// left moves down to its first use, but not past an expansion.
func (f *Function) schedule() []harmony.Stage {
	var out, pending []harmony.Stage
	flush := func(wanted func(harmony.Stage) bool) {
		kept := pending[:0:0]
		for _, s := range pending {
			if wanted(s) {
				out = append(out, s)
			} else {
				kept = append(kept, s)
			}
		}
		pending = kept
	}
	stages := f.Kernel.Stages
	_, ofGroups := f.Kernel.Source.(*harmony.GroupRows)
	if ofGroups {
		stages = loadsFirst(stages)
	}
	for _, s := range stages {
		switch s := s.(type) {
		case *harmony.Load, *harmony.Gather:
			if _, ok := s.(*harmony.Load); ok && ofGroups {
				out = append(out, s)
				continue
			}
			pending = append(pending, s)
			continue
		case *harmony.Map:
			if !f.IsHost(s) {
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
		flush(func(d harmony.Stage) bool { return IsExpansion(s) || needed[harmony.Def(d)] })
		out = append(out, s)
	}
	flush(func(harmony.Stage) bool { return true })
	return out
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

// IsExpansion reports whether a stage makes several rows of one.
func IsExpansion(s harmony.Stage) bool {
	p, ok := s.(*harmony.Probe)
	return ok && p.Kind == harmony.ProbeMulti
}

// IsDrop reports whether a stage of a run drops rows.
func IsDrop(s harmony.Stage) bool {
	switch s.(type) {
	case *harmony.Filter, *harmony.Need:
		return true
	}
	return false
}

// inRun reports whether a stage may be part of a run.
func (f *Function) inRun(s harmony.Stage) bool {
	switch s := s.(type) {
	case *harmony.Probe:
		return false
	case *harmony.Map:
		return !f.IsHost(s)
	}
	return true
}

// endOfRun returns the stage at which the run that begins with stage i ends:
// behind a filter if rows move together there, or if a GPU then gathers for the
// live rows.
func (f *Function) endOfRun(w *Work, i int) int {
	stages := w.Stages
	for ; i < len(stages) && f.inRun(stages[i]); i++ {
		if i == len(stages)-1 || !IsDrop(stages[i]) || IsDrop(stages[i+1]) {
			continue
		}
		if f.options.Target.GPU && f.gathers(stages[i+1:]) || f.wantsCompaction(w, i+1) {
			return i + 1
		}
	}
	return i
}

// gathers reports whether the run at the front of stages reads a column at
// random. Loads behind a filter are begun before it, with those that the filter
// waits for: one in two rows may be left of each sector of memory, but a block
// that waits twice is half as fast.
func (f *Function) gathers(stages []harmony.Stage) bool {
	for _, s := range stages {
		if !f.inRun(s) {
			return false
		}
		if _, ok := s.(*harmony.Gather); ok {
			return true
		}
	}
	return false
}

// wantsCompaction reports whether the work from stage i on is faster on rows
// that lie together: random accesses and stores are. If another filter comes
// first, compaction waits for that one.
func (f *Function) wantsCompaction(w *Work, i int) bool {
	if f.options.Target.GPU || f.options.NoCompact {
		return false
	}
	for _, s := range w.Stages[i:] {
		switch s := s.(type) {
		case *harmony.Probe, *harmony.Gather:
			return true
		case *harmony.Filter, *harmony.Need:
			return false
		case *harmony.Map:
			if f.IsHost(s) {
				return true
			}
		}
	}
	for _, s := range f.Kernel.Sinks {
		g, ok := s.(*harmony.Group)
		if !ok {
			return true
		}
		if form, known := f.Form(GroupKey, g.To.Name); known && form >= abi.Hash {
			return true
		}
	}
	return false
}
