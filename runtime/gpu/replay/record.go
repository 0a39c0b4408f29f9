package replay

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
)

// Record is what the runs of a program over facts leave to later ones. It is
// safe for concurrent use.
type Record struct {
	// Sizes are how large variables became.
	Sizes *Sizes
	lasts bool // facts and functions stay as they are

	mu       sync.Mutex
	numbers  *numbers // of the last run that has waited, or nil
	differs  bool     // two runs have had different numbers
	slab     int64    // bytes of small allocations
	launches []device.LaunchShape
}

// NewRecord returns the record of a program over facts that stay.
func NewRecord(graph *harmony.Program) *Record {
	return &Record{Sizes: NewSizes(), lasts: isRepeatable(graph)}
}

// NewRecordOfSizes returns a record that keeps sizes alone, which records over
// other facts may share.
func NewRecordOfSizes(s *Sizes) *Record { return &Record{Sizes: s} }

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
