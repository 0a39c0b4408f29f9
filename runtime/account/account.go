package account

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/runtime"
)

// Memory accounts for what a run holds. It is safe for concurrent use, and an
// order.Allocator.
type Memory struct {
	bound int64 // 0: none
	held  atomic.Int64
	peak  atomic.Int64

	mu      sync.Mutex
	regions map[*Region]struct{} // those that are mapped
	lent    map[*uint64]*Region  // what Alloc returned, as far as it is mapped
}

// New returns an account with a bound in bytes, 0 for none.
func New(bound int64) *Memory {
	return &Memory{bound: bound, regions: map[*Region]struct{}{}, lent: map[*uint64]*Region{}}
}

// Reserve accounts for bytes. The name is what the *runtime.MemoryError calls
// them if they pass the bound.
func (m *Memory) Reserve(what string, bytes int64) error {
	held := m.held.Add(bytes)
	if m.bound > 0 && held > m.bound {
		m.held.Add(-bytes)
		return &runtime.MemoryError{What: what, Want: bytes, Held: held - bytes, Bound: m.bound}
	}
	for {
		peak := m.peak.Load()
		if held <= peak || m.peak.CompareAndSwap(peak, held) {
			return nil
		}
	}
}

// Release gives accounted bytes back.
func (m *Memory) Release(bytes int64) { m.held.Add(-bytes) }

// Held returns how many bytes are reserved now, Peak how many were at most.
func (m *Memory) Held() int64 { return m.held.Load() }

// Peak returns how many bytes were reserved at most.
func (m *Memory) Peak() int64 { return m.peak.Load() }

// Room returns how many bytes may still be reserved.
func (m *Memory) Room() int64 {
	if m.bound == 0 {
		return 1 << 62
	}
	return m.bound - m.held.Load()
}

// Spare returns how much of the machine's memory a region may take whose pages
// may all be touched, but probably are not.
func (m *Memory) Spare() int64 { return machineMemory()/2 - m.held.Load() }

// Mapped returns how many regions are mapped.
func (m *Memory) Mapped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.regions)
}

// Close unmaps all that is left. No region of the run may be touched
// afterwards.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.regions {
		release(r.Data, r.Bytes)
	}
	m.regions = nil
}

// MapBytes is the size from which memory is mapped instead of made.
const MapBytes = 2 << 20

// Alloc lends zeroed words. The name is what an error calls them.
func (m *Memory) Alloc(what string, n int) ([]uint64, error) {
	if 8*n < MapBytes {
		if err := m.Reserve(what, int64(8*n)); err != nil {
			return nil, err
		}
		return hugepage.Advise(make([]uint64, n)), nil
	}
	r := &Region{}
	if err := r.Alloc(m, what, 8*n); err != nil {
		return nil, err
	}
	w := Words(r)[:n:n]
	m.mu.Lock()
	m.lent[&w[0]] = r
	m.mu.Unlock()
	return w, nil
}

// Free takes back what Alloc returned; the slice must start where that did and
// still have its capacity.
func (m *Memory) Free(words []uint64) {
	words = words[:cap(words)]
	if 8*len(words) < MapBytes {
		m.Release(int64(8 * len(words)))
		return
	}
	at := unsafe.SliceData(words)
	m.mu.Lock()
	r := m.lent[at]
	delete(m.lent, at)
	m.mu.Unlock()
	r.Free()
}
