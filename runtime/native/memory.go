package native

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/runtime"
)

// memory accounts for what a run holds for relations, sets, indexes and groups.
// Large regions are mapped from the operating system, which gives zeroed pages as
// they are touched and takes them back at once.
type memory struct {
	bound int64 // 0: none
	held  atomic.Int64
	peak  atomic.Int64

	mu      sync.Mutex
	regions map[*region]struct{} // those that are mapped
	lent    map[*uint64]*region  // what Alloc returned
}

func newMemory(bound int64) *memory {
	return &memory{bound: bound, regions: map[*region]struct{}{}}
}

// mapBytes is the size from which a region is mapped instead of made.
const mapBytes = 1 << 20

// reserve accounts for bytes. The name is what the *runtime.MemoryError calls
// them if they pass the bound.
func (m *memory) reserve(what string, bytes int64) error {
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

// room returns how many bytes may still be reserved.
func (m *memory) room() int64 {
	if m.bound == 0 {
		return 1 << 62
	}
	return m.bound - m.held.Load()
}

// spare returns how much of the machine's memory a region may take whose pages may
// all be touched, but probably are not.
func (m *memory) spare() int64 { return machineMemory()/2 - m.held.Load() }

// close unmaps all that is left. No region of the run may be touched afterwards.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.regions {
		unmapMemory(r.data, r.bytes)
	}
	m.regions = nil
}

// region is accounted memory that code reads and writes. The zero region is
// empty.
type region struct {
	mem   *memory
	data  unsafe.Pointer
	bytes int
	heap  []uint64 // what keeps data, unless it is mapped
	// sparse says that few of the pages are touched, so that huge ones are a waste.
	sparse bool
}

// alloc makes the empty region one of so many zeroed bytes.
func (r *region) alloc(m *memory, what string, bytes int) error {
	*r = region{mem: m}
	return r.grow(what, bytes)
}

// grow extends a region to at least so many bytes, the new ones zero. It may move.
func (r *region) grow(what string, bytes int) error {
	if bytes <= r.bytes {
		return nil
	}
	if err := r.mem.reserve(what, int64(bytes-r.bytes)); err != nil {
		return err
	}
	if bytes < mapBytes {
		heap := make([]uint64, max((bytes+7)/8, 8)) // a size that aligns to 16 bytes
		copy(heap, r.heap)
		r.heap, r.data, r.bytes = heap, unsafe.Pointer(&heap[0]), bytes
		return nil
	}
	var data unsafe.Pointer
	var err error
	if mapped := r.data != nil && r.heap == nil; mapped {
		data, err = remapMemory(r.data, r.bytes, bytes)
	} else if data, err = mapMemory(bytes, !r.sparse); err == nil && r.data != nil {
		copy(unsafe.Slice((*byte)(data), bytes), unsafe.Slice((*byte)(r.data), r.bytes))
	}
	if err != nil {
		held := r.mem.held.Add(int64(r.bytes - bytes))
		return &runtime.MemoryError{What: what, Want: int64(bytes - r.bytes), Held: held, Bound: held}
	}
	r.data, r.bytes, r.heap = data, bytes, nil
	r.mem.mu.Lock()
	r.mem.regions[r] = struct{}{}
	r.mem.mu.Unlock()
	return nil
}

// free makes the region empty.
func (r *region) free() {
	if r.data == nil {
		return
	}
	r.mem.held.Add(-int64(r.bytes))
	if r.heap == nil {
		r.mem.mu.Lock()
		delete(r.mem.regions, r)
		r.mem.mu.Unlock()
		unmapMemory(r.data, r.bytes)
	}
	*r = region{mem: r.mem}
}

// move takes over what another region holds, which becomes empty.
func (r *region) move(from *region) {
	r.free()
	*r = *from
	*from = region{mem: r.mem}
	if r.data != nil && r.heap == nil {
		r.mem.mu.Lock()
		delete(r.mem.regions, from)
		r.mem.regions[r] = struct{}{}
		r.mem.mu.Unlock()
	}
}

// zero clears the first bytes of a region.
func (r *region) zero(bytes int) {
	if bytes > 0 {
		clear(unsafe.Slice((*byte)(r.data), bytes))
	}
}

// address returns where the region begins, 0 for the empty one.
func (r *region) address() int64 { return int64(uintptr(r.data)) }

// words views the region as words.
func words(r *region) []uint64 {
	if r.data == nil {
		return nil
	}
	return unsafe.Slice((*uint64)(r.data), r.bytes/8)
}

// wordsOf views the region as signed words.
func wordsOf(r *region) []int64 {
	if r.data == nil {
		return nil
	}
	return unsafe.Slice((*int64)(r.data), r.bytes/8)
}
