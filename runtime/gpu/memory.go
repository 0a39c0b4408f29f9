package gpu

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
)

// memory hands out the device's memory and accounts for it. What is freed it keeps
// for the next one who asks, of any run.
type memory struct {
	gpu  driver.Context
	pool driver.Pool // nil where the driver has none

	mu         sync.Mutex
	limit      int64
	held, peak int64
	resident   int64 // of held, by columns of facts and indexes over them
	idle       int64 // of resident, what no run uses
	evict      func(bytes int64) bool
}

// Use is what an engine holds of the device's memory, in bytes.
type Use struct {
	Resident int64 // columns of facts, and indexes over them
	Held     int64 // all together
	Peak     int64
	Limit    int64
}

// use returns what is held.
func (m *memory) use() Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Use{Resident: m.resident, Held: m.held, Peak: m.peak, Limit: m.limit}
}

// trim gives the driver back what its pool keeps and nobody holds.
func (m *memory) trim() error { return m.pool.Trim(0) }

// spareBytes is what the engine leaves of the free memory to the driver, which needs
// some for modules and streams.
const spareBytes = 512 << 20

func newMemory(gpu driver.Context, limit int64) (*memory, error) {
	free, total, err := gpu.MemoryInfo()
	if err != nil {
		return nil, err
	}
	m := &memory{gpu: gpu, limit: max(int64(free)-spareBytes, int64(total)/8)}
	if limit > 0 {
		m.limit = min(limit, m.limit)
	}
	m.pool, err = gpu.NewPool(cuda.PoolOptions{ReleaseThreshold: uint64(m.limit)})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	return m, nil
}

func (m *memory) close() error {
	if m.pool == nil {
		return nil
	}
	return m.pool.Close()
}

// first takes memory of the pool, and gives it back. The stream is done then.
func (m *memory) first(s driver.Stream) error {
	if m.pool == nil {
		return nil
	}
	at, err := m.pool.Alloc(s, alignment)
	if err != nil {
		return err
	}
	return errors.Join(s.Free(at), s.Synchronize(context.Background()))
}

// reserve accounts for bytes, and makes residents leave if there is no room.
func (m *memory) reserve(what string, bytes int64) error {
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
		if !m.evict(held - m.limit) {
			return m.full(what, bytes)
		}
	}
}

func (m *memory) full(what string, bytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &runtime.MemoryError{What: what, Want: bytes, Held: m.held, Bound: m.limit, Device: true}
}

// room returns how many bytes could still be reserved.
func (m *memory) room() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit - m.held + m.idle
}

// unheld returns how many bytes could be reserved without anything leaving.
func (m *memory) unheld() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit - m.held
}

// keep notes that so many of the bytes that are held outlive runs.
func (m *memory) keep(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resident += bytes
}

// idles notes that so many of the bytes that outlive runs are not in use.
func (m *memory) idles(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.idle += bytes
}

func (m *memory) release(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= bytes
}

// alignment is what allocations are multiples of, since kernels read that much at a time,
// and overread how far they read behind what they want: three rows of 8 bytes.
const (
	alignment = 16
	overread  = 24
)

// padded returns how many bytes an allocation takes for so many to be used, as a multiple
// of a unit.
func padded(bytes, unit int64) int64 { return (bytes + overread + unit - 1) / unit * unit }

// alloc returns memory, whose contents are not defined, for work that comes later in
// the stream. Other streams are those that may have memory yet to free.
func (m *memory) alloc(s driver.Stream, what string, bytes int64, others ...driver.Stream) (buffer, error) {
	bytes = padded(bytes, alignment)
	if err := m.reserve(what, bytes); err != nil {
		return buffer{}, err
	}
	for again := false; ; again = true {
		at, err := m.obtain(s, bytes)
		switch {
		case err == nil:
			return buffer{at, bytes}, nil
		case !errors.Is(err, cuda.ErrOutOfMemory):
			m.release(bytes)
			return buffer{}, err
		case again && !m.evict(bytes):
			m.release(bytes)
			return buffer{}, m.full(what, bytes)
		}
		// Memory that streams have yet to free is not free, and pieces of what is may
		// be too small.
		err = nil
		for _, s := range append(others, s) {
			err = cmp.Or(err, s.Synchronize(context.Background()))
		}
		if err == nil && m.pool != nil {
			err = m.pool.Trim(0)
		}
		if err != nil {
			m.release(bytes)
			return buffer{}, err
		}
	}
}

// obtain takes memory that is accounted for.
func (m *memory) obtain(s driver.Stream, bytes int64) (cuda.Pointer, error) {
	if m.pool != nil {
		return m.pool.Alloc(s, uint64(bytes))
	}
	return m.gpu.Alloc(uint64(bytes))
}

// errNoRoom says that there is no memory which nobody has.
var errNoRoom = errors.New("there is no room")

// allocSpare is alloc that makes nothing else leave.
func (m *memory) allocSpare(s driver.Stream, bytes int64) (buffer, error) {
	bytes = padded(bytes, alignment)
	m.mu.Lock()
	fits := m.held+bytes <= m.limit
	if fits {
		m.held += bytes
		m.peak = max(m.peak, m.held)
	}
	m.mu.Unlock()
	if !fits {
		return buffer{}, errNoRoom
	}
	at, err := m.obtain(s, bytes)
	if err != nil {
		m.release(bytes)
		if errors.Is(err, cuda.ErrOutOfMemory) {
			err = errNoRoom
		}
		return buffer{}, err
	}
	return buffer{at, bytes}, nil
}

// free gives memory back once the work that is in the stream now is done.
func (m *memory) free(s driver.Stream, b buffer) error {
	if b.at == 0 {
		return nil
	}
	m.release(b.bytes)
	if m.pool == nil {
		return m.gpu.Free(b.at)
	}
	return s.Free(b.at)
}

// buffer is device memory. The zero value is none.
type buffer struct {
	at    cuda.Pointer
	bytes int64
}

func (b buffer) word() int64 { return int64(b.at) }
