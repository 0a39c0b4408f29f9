package account

import (
	goruntime "runtime"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/runtime"
)

// Region is accounted memory that code reads and writes. The zero region is
// empty. A region must not be copied.
type Region struct {
	Memory *Memory
	// Data and Bytes say where it lies; only methods change them.
	Data  unsafe.Pointer
	Bytes int
	// Sparse says that few of the pages will be touched, so that huge ones are
	// a waste.
	Sparse bool

	heap []uint64 // what keeps Data, unless it is mapped
}

// Alloc makes the empty region one of so many zeroed bytes.
func (r *Region) Alloc(m *Memory, what string, bytes int) error {
	*r = Region{Memory: m}
	return r.Grow(what, bytes)
}

// Grow extends a region to at least so many bytes, the new ones zero. It may
// move.
func (r *Region) Grow(what string, bytes int) error {
	if bytes <= r.Bytes {
		return nil
	}
	if err := r.Memory.Reserve(what, int64(bytes-r.Bytes)); err != nil {
		return err
	}
	if bytes < MapBytes {
		// The least size aligns to 16 bytes.
		heap := hugepage.Advise(make([]uint64, max((bytes+7)/8, 8)))
		copy(heap, r.heap)
		r.heap, r.Data, r.Bytes = heap, unsafe.Pointer(&heap[0]), bytes
		return nil
	}
	var data unsafe.Pointer
	var err error
	if r.IsMapped() {
		if data, err = remapMemory(r.Data, r.Bytes, bytes); err == nil {
			noteMapped(int64(bytes - r.Bytes))
		}
	} else if data, err = mapMemory(bytes, !r.Sparse); err == nil {
		noteMapped(int64(bytes))
		copy(unsafe.Slice((*byte)(data), bytes), unsafe.Slice((*byte)(r.Data), r.Bytes))
	}
	if err != nil {
		held := r.Memory.held.Add(int64(r.Bytes - bytes))
		return &runtime.MemoryError{What: what, Want: int64(bytes - r.Bytes), Held: held,
			System: err}
	}
	r.Data, r.Bytes, r.heap = data, bytes, nil
	r.Memory.mu.Lock()
	r.Memory.regions[r] = struct{}{}
	r.Memory.mu.Unlock()
	return nil
}

// IsMapped reports whether the region is not empty and not of Go's heap.
func (r *Region) IsMapped() bool { return r.Data != nil && r.heap == nil }

// Free makes the region empty.
func (r *Region) Free() {
	if r.Data == nil {
		return
	}
	r.Memory.Release(int64(r.Bytes))
	if r.IsMapped() {
		r.Memory.mu.Lock()
		delete(r.Memory.regions, r)
		r.Memory.mu.Unlock()
		release(r.Data, r.Bytes)
	}
	*r = Region{Memory: r.Memory}
}

// release unmaps memory.
func release(data unsafe.Pointer, bytes int) {
	unmapMemory(data, bytes)
	noteMapped(-int64(bytes))
}

// Move takes over what another region holds, which becomes empty.
func (r *Region) Move(from *Region) {
	r.Free()
	*r = *from
	*from = Region{Memory: r.Memory}
	if r.IsMapped() {
		r.Memory.mu.Lock()
		delete(r.Memory.regions, from)
		r.Memory.regions[r] = struct{}{}
		r.Memory.mu.Unlock()
	}
}

// Zero clears the first bytes of a region.
func (r *Region) Zero(bytes int) {
	if bytes > 0 {
		clear(unsafe.Slice((*byte)(r.Data), bytes))
	}
}

// Address returns where the region begins, 0 for the empty one.
func (r *Region) Address() int64 { return int64(uintptr(r.Data)) }

// Words views a region as words.
func Words(r *Region) []uint64 {
	if r.Data == nil {
		return nil
	}
	return unsafe.Slice((*uint64)(r.Data), r.Bytes/8)
}

// Owned is what keeps memory that a region has given away: it is unmapped when
// nothing reaches the Owned any more.
type Owned struct{ heap []uint64 }

// GiveAway makes the region empty and returns where its first bytes lie from
// now on, and what keeps them. They are no longer accounted for, and outlive
// Memory.Close; the bytes behind them are given back.
func (r *Region) GiveAway(bytes int) (data unsafe.Pointer, owner *Owned) {
	data, owner = r.Data, &Owned{heap: r.heap}
	if data == nil {
		return nil, owner
	}
	r.Memory.Release(int64(r.Bytes))
	if r.IsMapped() {
		r.Memory.mu.Lock()
		delete(r.Memory.regions, r)
		r.Memory.mu.Unlock()
		bytes = shrinkMemory(data, r.Bytes, bytes)
		noteMapped(int64(bytes - r.Bytes))
		goruntime.AddCleanup(owner, func(at unsafe.Pointer) { release(at, bytes) }, data)
	}
	*r = Region{Memory: r.Memory}
	return data, owner
}
