package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// A multi index over a relation that grows, round by round, is kept as runs:
// indexes of rows that follow each other, each run at least runRatio times as
// long as the next. New rows become a run together with those that are too
// short to stay, so that a row is entered anew as often as the logarithm of the
// number of rows, not in every round (Bentley and Saxe, "Decomposable Searching
// Problems I", 1980). A kernel that probes the index runs once for each run.

// runRatio is how many times as long as the next one a run is at least.
const runRatio = 4

// shortRun is how many rows are entered in about the time that a kernel takes
// to run for one more run.
const shortRun = 256

// growsByRuns reports whether an index may be kept as runs: the matches of a
// row are then those in all runs, one after the other, for each kernel that
// probes it, and it does nothing else with a row that it would do twice.
func growsByRuns(p *harmony.Program, decl *harmony.Index) bool {
	if decl.Kind != harmony.Multi || decl.Of.Kind != queryplan.Derived ||
		decl.Version == harmony.Delta {
		return false
	}
	for _, k := range p.Kernels() {
		probes, counts := 0, false
		for _, s := range k.Stages {
			switch s := s.(type) {
			case *harmony.Probe:
				if s.Index != decl {
					continue
				}
				if probes++; s.Kind != harmony.ProbeMulti {
					return false
				}
			case *harmony.Need:
				// A value that does not fit is counted.
				counts = true
			}
		}
		if probes > 1 || probes == 1 && counts {
			return false
		}
	}
	return true
}

// prepareRuns makes a run of the rows that no run has, and returns the passes
// that fill it. The run is the one at hand then.
func (x *index) prepareRuns(from, until int) ([]machine.Pass, error) {
	if !x.BuiltFrom(int64(from), x.rel.Generation) || int(x.Until) > until {
		x.freeRuns(0)
		x.Begin(int64(from), int64(from), x.rel.Generation, nil)
	}
	if int(x.Until) == until && len(x.runs) > 0 {
		return nil, nil
	}
	// Runs that are too short are built again; the longest of them has the most
	// memory.
	keep, start := len(x.runs), int(x.Until)
	for keep > 0 {
		last, n := x.runs[keep-1], until-start
		if int(last.Until-last.From) > max(runRatio*n, x.shortRun-n) {
			break
		}
		keep, start = keep-1, int(last.From)
	}
	if keep == len(x.runs) {
		x.runs = append(x.runs, newIndex(x.mem, x.Decl, x.Lay, x.rel))
	}
	x.freeRuns(keep + 1)
	x.at, x.Until = keep, int64(until)
	return x.runs[keep].over(start, until)
}

// freeRuns drops the runs from one on.
func (x *index) freeRuns(from int) {
	for _, y := range x.runs[min(from, len(x.runs)):] {
		_ = y.Release() // it never fails
	}
	x.runs = x.runs[:min(from, len(x.runs))]
}

// single makes an index that a kernel is going to probe just once one run.
func (r *run) single(x *index) error {
	if len(x.runs) <= 1 {
		return nil
	}
	if err := x.Release(); err != nil {
		return err
	}
	return r.Build(x.Decl)
}

// runsOf calls f for every choice of a run of each index of runs that a kernel
// probes, these being the ones at hand then.
func (r *run) runsOf(k *harmony.Kernel, f func() error) error {
	var grown []*index
	for _, s := range k.Stages {
		if p, ok := s.(*harmony.Probe); ok {
			if x := r.indexes[p.Index]; len(x.runs) > 0 {
				x.at = 0
				grown = append(grown, x)
			}
		}
	}
	for {
		if err := f(); err != nil {
			return err
		}
		i := 0
		for ; i < len(grown); i++ {
			if grown[i].at++; grown[i].at < len(grown[i].runs) {
				break
			}
			grown[i].at = 0
		}
		if i == len(grown) {
			return nil
		}
	}
}
