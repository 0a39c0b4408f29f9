package device

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
)

// Memory allocates device memory and accounts for it. Freed memory stays in the
// pool, where any run can reuse it.
type Memory struct {
	GPU  driver.Context
	Pool driver.Pool // nil if the driver has no pools
	// RegionBytes is the size from which growing columns lie in regions.
	RegionBytes int64
	regions     regions

	mu         sync.Mutex
	limit      int64
	held, peak int64
	resident   int64 // the part of held for columns of facts, indexes over them, and captures
	idle       int64 // the part of resident that no run uses
	Evict      func(bytes int64) bool
}

// Use is the device memory that an engine holds, in bytes.
type Use struct {
	Resident int64 // columns of facts, indexes over them, and captures
	Held     int64 // the total
	Peak     int64
	Limit    int64
}

// Use returns the memory that is held.
func (m *Memory) Use() Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Use{Resident: m.resident, Held: m.held, Peak: m.peak, Limit: m.limit}
}

// Trim returns free memory of the pool and of regions to the driver.
func (m *Memory) Trim() error {
	err := m.closeRegions()
	if m.Pool != nil {
		err = errors.Join(err, m.Pool.Trim(0))
	}
	return err
}

// giveBack returns free memory to the driver, after waiting for the streams,
// whose pending frees count as free then.
func (m *Memory) giveBack(streams ...driver.Stream) (err error) {
	for _, s := range streams {
		err = cmp.Or(err, s.Synchronize(context.Background()))
	}
	return cmp.Or(err, m.Trim())
}

// spareBytes is the part of the free memory that is left to the driver, which
// needs it for modules and streams.
const spareBytes = 512 << 20

// NewMemory returns the memory of a device. limit is in bytes; 0 means the
// memory that is free, less what the driver needs.
func NewMemory(gpu driver.Context, limit int64) (*Memory, error) {
	free, total, err := gpu.MemoryInfo()
	if err != nil {
		return nil, err
	}
	m := &Memory{GPU: gpu, RegionBytes: regionBytes,
		limit: max(int64(free)-spareBytes, int64(total)/8)}
	if limit > 0 {
		m.limit = min(limit, m.limit)
	}
	m.Pool, err = gpu.NewPool(cuda.PoolOptions{ReleaseThreshold: uint64(m.limit)})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	return m, nil
}

// Close frees the pool and the regions. No work may use them any more.
func (m *Memory) Close() error {
	err := m.closeRegions()
	if m.Pool == nil {
		return err
	}
	return errors.Join(err, m.Pool.Close())
}

// First makes the pool take its first memory from the driver. It waits for the
// stream.
func (m *Memory) First(s driver.Stream) error { return m.warm(s, alignment) }

// Warm makes the pool take from the driver the bytes that a run is known to
// need. That takes the driver 1.5 ms a gigabyte, and more if the run asks piece
// by piece. Warm leaves memory for other runs to the driver. It waits for the
// stream.
func (m *Memory) Warm(s driver.Stream, bytes int64) error {
	return m.warm(s, min(bytes, m.Unheld()/2))
}

// warm allocates and frees memory, so that the pool has it. The memory is not
// accounted for.
func (m *Memory) warm(s driver.Stream, bytes int64) error {
	if m.Pool == nil || bytes <= 0 {
		return nil
	}
	at, err := m.Pool.Alloc(s, uint64(bytes))
	if err != nil {
		return err
	}
	return errors.Join(s.Free(at), s.Synchronize(context.Background()))
}

// reserve accounts for bytes. If there is no room, it evicts resident memory.
func (m *Memory) reserve(what string, bytes int64) error {
	for {
		m.mu.Lock()
		held := m.held + bytes
		if held <= m.limit {
			m.held = held
			m.peak = max(m.peak, held)
			m.mu.Unlock()
			return nil
		}
		m.mu.Unlock()
		if !m.Evict(held - m.limit) {
			return m.full(what, bytes)
		}
	}
}

func (m *Memory) full(what string, bytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &runtime.MemoryError{What: what, Want: bytes, Held: m.held, Bound: m.limit, Device: true}
}

// Room returns how many bytes can still be reserved, with evictions.
func (m *Memory) Room() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit - m.held + m.idle
}

// Unheld returns how many bytes can be reserved without evictions.
func (m *Memory) Unheld() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit - m.held
}

// Keep adds to the count of held bytes that outlive runs.
func (m *Memory) Keep(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resident += bytes
}

// Idles adds to the count of bytes that outlive runs and that no run uses.
func (m *Memory) Idles(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.idle += bytes
}

func (m *Memory) release(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= bytes
}

// Allocations are multiples of alignment bytes, because kernels read that much
// at a time. Kernels may read up to overread bytes behind the data: three rows
// of 8 bytes.
const (
	alignment = 16
	overread  = 24
)

// padded returns the size of an allocation of which bytes are used, a multiple
// of unit.
func padded(bytes, unit int64) int64 { return (bytes + overread + unit - 1) / unit * unit }

// Alloc returns memory with undefined contents, for later work of stream s.
// others are streams that may have frees pending.
func (m *Memory) Alloc(
	s driver.Stream, what string, bytes int64, others ...driver.Stream,
) (Buffer, error) {
	if m.GrowsInPlace(bytes) {
		if b, err := m.allocRegion(s, what, bytes, others...); b.At != 0 || err != nil {
			return b, err
		}
	}
	b := Buffer{Bytes: padded(bytes, alignment)}
	if err := m.obtainAccounted(what, b.Bytes, func() (err error) {
		b.At, err = m.obtain(s, b.Bytes)
		return err
	}, append(others, s)...); err != nil {
		return Buffer{}, err
	}
	return b, nil
}

// obtainAccounted accounts for bytes and calls obtain. While the driver lacks
// the memory, it frees what it can, after the work of the streams, and calls
// obtain again.
func (m *Memory) obtainAccounted(what string, bytes int64, obtain func() error,
	streams ...driver.Stream) error {
	if err := m.reserve(what, bytes); err != nil {
		return err
	}
	for again := false; ; again = true {
		err := obtain()
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, cuda.ErrOutOfMemory):
			m.release(bytes)
			return err
		case again && !m.Evict(bytes):
			m.release(bytes)
			return m.full(what, bytes)
		}
		// Pending frees do not count yet, and free memory may be fragmented.
		if err := m.giveBack(streams...); err != nil {
			m.release(bytes)
			return err
		}
	}
}

// obtain allocates memory that is accounted for already.
func (m *Memory) obtain(s driver.Stream, bytes int64) (cuda.Pointer, error) {
	if m.Pool != nil {
		return m.Pool.Alloc(s, uint64(bytes))
	}
	return m.GPU.Alloc(uint64(bytes))
}

// ErrNoRoom is the error of AllocSpare if all memory is in use.
var ErrNoRoom = errors.New("there is no room")

// AllocSpare is Alloc without evictions.
func (m *Memory) AllocSpare(s driver.Stream, bytes int64) (Buffer, error) {
	bytes = padded(bytes, alignment)
	m.mu.Lock()
	fits := m.held+bytes <= m.limit
	if fits {
		m.held += bytes
		m.peak = max(m.peak, m.held)
	}
	m.mu.Unlock()
	if !fits {
		return Buffer{}, ErrNoRoom
	}
	at, err := m.obtain(s, bytes)
	if err != nil {
		m.release(bytes)
		if errors.Is(err, cuda.ErrOutOfMemory) {
			err = ErrNoRoom
		}
		return Buffer{}, err
	}
	return Buffer{at, bytes}, nil
}

// Free frees memory after the work that is in the stream at the time of the
// call.
func (m *Memory) Free(s driver.Stream, b Buffer) error {
	if b.At == 0 {
		return nil
	}
	m.release(b.Bytes)
	x := m.regionOf(b)
	switch {
	case x != nil:
		return m.giveRegion(x, s)
	case m.Pool == nil:
		return m.GPU.Free(b.At)
	}
	return s.Free(b.At)
}

// Buffer is device memory. The zero value is empty.
type Buffer struct {
	At    cuda.Pointer
	Bytes int64
}

// Word returns the address as a kernel parameter.
func (b Buffer) Word() int64 { return int64(b.At) }
