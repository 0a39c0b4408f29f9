package replay

import (
	"cmp"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
)

// Record is what the runs of a program over the same facts leave for later
// runs. It is safe for concurrent use.
type Record struct {
	// Sizes holds how large the variables became.
	Sizes *Sizes
	lasts bool // facts and functions never change, so runs repeat each other
	// LogWords shortens the logs of runs, for tests. 0 means the default.
	LogWords int

	mu       sync.Mutex
	numbers  *numbers // counters of the last run that waited, or nil
	recalled bool     // numbers is from an earlier process
	ran      bool     // a run of this process has updated the record
	differs  bool     // two runs of this process had different counters
	peak     int64    // device memory of the run that is stored on disk, in bytes
	slab     int64    // size of the small allocations, in bytes
	launches []device.LaunchShape
}

// NewRecord returns the record of a program over facts that do not change.
// hints may be nil.
func NewRecord(graph *harmony.Program, hints *Sizes) *Record {
	return &Record{Sizes: cmp.Or(hints, NewSizes()), lasts: isRepeatable(graph)}
}

// NewRecordOfSizes returns a record that holds only sizes. Records over other
// facts may share s.
func NewRecordOfSizes(s *Sizes) *Record { return &Record{Sizes: s} }

// Origin returns where the next run knows the sizes of its tables from.
func (r *Record) Origin() runtime.Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.recalled:
		return runtime.EarlierProcess
	case r.ran:
		return runtime.EarlierRun
	case r.Sizes.isEmpty():
		return runtime.NoRun
	}
	return runtime.OtherFacts
}

// isRepeatable reports whether every run of the program computes the same.
func isRepeatable(graph *harmony.Program) bool {
	for _, k := range graph.Kernels() {
		for _, s := range k.Stages {
			if m, ok := s.(*harmony.Map); ok && m.Func.Volatile {
				return false
			}
		}
	}
	return true
}

// Expected returns the size of the last run's small allocations, in bytes, and
// its launches.
func (r *Record) Expected() (slab int64, launches []device.LaunchShape) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slab, r.launches
}

// Differs reports whether two runs had different counters. From then on, no run
// replays the record.
func (r *Record) Differs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.differs
}

// savedBytes is the saving of device memory that is worth another record on
// disk: allocating that much takes a tenth of a millisecond.
const savedBytes = 64 << 20

// NeedsLess reports whether a run that needed peak bytes needed much less than
// the run whose record is on disk. The tables of a first run grow, which takes
// more.
func (r *Record) NeedsLess(peak int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return peak+peak/4 < r.peak && r.peak-peak >= savedBytes
}

// void drops counters that a run has found to be wrong. If they come from an
// earlier process, the next run waits and replaces them.
func (r *Record) void(wrong *numbers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers != wrong {
		return // another run has dropped or replaced them
	}
	r.differs = !r.recalled
	r.numbers, r.recalled = nil, false
}

// Numbers returns the counters at each point of the last run that waited, or
// nil. Tests falsify the record by changing them.
func (r *Record) Numbers() [][]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers == nil {
		return nil
	}
	return r.numbers.at
}

// numbers holds the counters of a run at each point where the run needed them.
type numbers struct {
	points []point
	at     [][]int64
}

// point is a place in a run: a command, and the kernels launched for it so far.
type point struct{ command, launches int64 }

func (p point) before(o point) bool {
	return p.command < o.command || p.command == o.command && p.launches < o.launches
}
