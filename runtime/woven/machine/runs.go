package machine

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
)

// A multi index over a relation that grows, round by round, is kept as runs:
// indexes of rows that follow each other, each run at least runRatio times as
// long as the next. New rows become a run together with those that are too
// short to stay, so that a row is entered anew as often as the logarithm of the
// number of rows, not in every round (Bentley and Saxe, "Decomposable Searching
// Problems I", 1980). A kernel that probes the index runs once for each run.

// runRatio is how many times as long as the next one a run is at least.
const runRatio = 4

// Run is an index of rows that follow each other.
type Run interface {
	// Span returns the rows that the run has.
	Span() (from, until int64)
	// Over makes empty tables for rows, and returns the passes that fill them.
	Over(from, until int64) ([]Pass, error)
	// Release frees the tables.
	Release() error
}

// Runs are the runs of an index. The zero Runs are those of an index that has
// none.
type Runs[X Run] struct {
	// New makes a run without rows. It is nil if the index is one table.
	New func() X
	// Short is the number of rows that are always one run: they are entered in
	// about the time that a kernel takes to run for one more run.
	Short int64
	List  []X
	At    int // the run that kernels read
}

// GrowsByRuns reports whether an index may be kept as runs: the matches of a
// row are then those in all runs, one after the other, for each kernel that
// probes it, and it does nothing else with a row that it would do twice.
func GrowsByRuns(p *harmony.Program, decl *harmony.Index) bool {
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

// PrepareRuns makes a run of the rows that no run of an index has, and returns
// the passes that fill it. The run is the one at hand then.
func PrepareRuns[M any, X Run](
	x *Index[M], r *Runs[X], from, until int64, generation int,
) ([]Pass, error) {
	if !x.BuiltFrom(from, generation) || x.Until > until {
		if err := r.Release(0); err != nil {
			return nil, err
		}
		x.Begin(from, from, generation, nil)
	}
	if x.Until == until && len(r.List) > 0 {
		return nil, nil
	}
	// Runs that are too short are built again; the longest of them has the most
	// memory.
	keep, start := len(r.List), x.Until
	for keep > 0 {
		first, end := r.List[keep-1].Span()
		n := until - start
		if end-first > max(runRatio*n, r.Short-n) {
			break
		}
		keep, start = keep-1, first
	}
	if keep == len(r.List) {
		r.List = append(r.List, r.New())
	}
	if err := r.Release(keep + 1); err != nil {
		return nil, err
	}
	r.At, x.Until = keep, until
	return r.List[keep].Over(start, until)
}

// Release drops the runs from one on.
func (r *Runs[X]) Release(from int) error {
	from = min(from, len(r.List))
	for _, x := range r.List[from:] {
		if err := x.Release(); err != nil {
			return err
		}
	}
	r.List = r.List[:from]
	return nil
}

// EachChoice calls f for every choice of a run of each index that a kernel
// probes and that has runs, these being the ones at hand then.
func EachChoice[X Run](k *harmony.Kernel, of func(*harmony.Index) *Runs[X], f func() error) error {
	var grown []*Runs[X]
	for _, s := range k.Stages {
		if p, ok := s.(*harmony.Probe); ok {
			if r := of(p.Index); len(r.List) > 0 {
				r.At = 0
				grown = append(grown, r)
			}
		}
	}
	for {
		if err := f(); err != nil {
			return err
		}
		i := 0
		for ; i < len(grown); i++ {
			if grown[i].At++; grown[i].At < len(grown[i].List) {
				break
			}
			grown[i].At = 0
		}
		if i == len(grown) {
			return nil
		}
	}
}
