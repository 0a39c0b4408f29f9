package replay

import (
	"cmp"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
)

// Record is what the runs of a program over facts leave to later ones. It is
// safe for concurrent use.
type Record struct {
	// Sizes are how large variables became.
	Sizes *Sizes
	lasts bool // facts and functions stay as they are
	// LogWords, unless it is 0, makes the log of runs shorter, for tests.
	LogWords int

	mu       sync.Mutex
	numbers  *numbers // of the last run that has waited, or nil
	recalled bool     // they are those of an earlier process
	ran      bool     // a run of this process has left something
	differs  bool     // two runs of this process have had different numbers
	peak     int64    // bytes of the device's memory, of the run that is kept on disk
	slab     int64    // bytes of small allocations
	launches []device.LaunchShape
}

// NewRecord returns the record of a program over facts that stay. Its sizes are
// hints, which may be nil.
func NewRecord(graph *harmony.Program, hints *Sizes) *Record {
	return &Record{Sizes: cmp.Or(hints, NewSizes()), lasts: isRepeatable(graph)}
}

// NewRecordOfSizes returns a record that keeps sizes alone, which records over
// other facts may share.
func NewRecordOfSizes(s *Sizes) *Record { return &Record{Sizes: s} }

// Origin says from where the next run knows how large its tables become.
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

// isRepeatable reports whether a program computes the same in every run.
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

// Expected returns the bytes of small allocations of the last run, and its
// launches.
func (r *Record) Expected() (slab int64, launches []device.LaunchShape) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slab, r.launches
}

// Differs reports whether two runs have had different numbers. No run replays
// the record from then on.
func (r *Record) Differs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.differs
}

// savedBytes of memory are worth another record: to make them available takes a
// tenth of a millisecond.
const savedBytes = 64 << 20

// NeedsLess reports whether a run that needed peak bytes needed much less than
// the record has on disk: that of a first run has tables that had to grow.
func (r *Record) NeedsLess(peak int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return peak+peak/4 < r.peak && r.peak-peak >= savedBytes
}

// void drops numbers that a run has found to be wrong. Those of an earlier
// process are replaced by those of the next run, which waits.
func (r *Record) void(wrong *numbers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers != wrong {
		return // another run has found out, or has left others
	}
	r.differs = !r.recalled
	r.numbers, r.recalled = nil, false
}

// Numbers returns the numbers at each point of the last run that has waited, or
// nil. A test that changes them falsifies the record.
func (r *Record) Numbers() [][]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.numbers == nil {
		return nil
	}
	return r.numbers.at
}

// numbers are the numbers of a run, at each point where the run needed them.
type numbers struct {
	points []point
	at     [][]int64
}

// point is a place in a run: a command, and the kernels launched for it so far.
type point struct{ command, launches int64 }

func (p point) before(o point) bool {
	return p.command < o.command || p.command == o.command && p.launches < o.launches
}
