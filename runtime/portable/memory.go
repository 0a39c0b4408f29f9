package portable

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/runtime"
)

// memory accounts for everything that a run allocates for relations, indexes
// and hash tables. Large arrays come from the operating system and not from
// Go's heap, so that a table which doubles gives its old half back at once and
// the bound is exact; release returns them all when the run ends.
type memory struct {
	bound int64 // 0: none
	held  atomic.Int64
	peak  atomic.Int64

	mu     sync.Mutex
	mapped map[*byte][]byte
}

func newMemory(bound int64) *memory {
	return &memory{bound: bound, mapped: map[*byte][]byte{}}
}

// mapBytes is the size from which an array is mapped instead of made.
const mapBytes = 1 << 20

// word is what large arrays are made of; none holds pointers.
type word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64 | ~float64
}

// reserve accounts for bytes, or aborts the run with a *runtime.MemoryError.
func (m *memory) reserve(what string, bytes int64) {
	held := m.held.Add(bytes)
	if m.bound > 0 && held > m.bound {
		m.held.Add(-bytes)
		abort(&runtime.MemoryError{What: what, Want: bytes, Held: held - bytes, Bound: m.bound})
	}
	for {
		peak := m.peak.Load()
		if held <= peak || m.peak.CompareAndSwap(peak, held) {
			return
		}
	}
}

// Alloc is alloc for package order.
func (m *memory) Alloc(what string, n int) (words []uint64, err error) {
	err = guard(func() { words = alloc[uint64](m, what, n) })
	return words, err
}

// Free is free for package order.
func (m *memory) Free(words []uint64) { free(m, words) }

// release gives accounted bytes back.
func (m *memory) release(bytes int64) { m.held.Add(-bytes) }

// alloc returns n zeroed words. The name is what a memory error calls it.
func alloc[T word](m *memory, what string, n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	bytes := n * int(unsafe.Sizeof(zero))
	m.reserve(what, int64(bytes))
	if bytes < mapBytes {
		return make([]T, n)
	}
	raw, err := mapMemory(bytes)
	if err != nil {
		held := m.held.Add(-int64(bytes))
		abort(&runtime.MemoryError{What: what, Want: int64(bytes), Held: held, Bound: held})
	}
	m.mu.Lock()
	m.mapped[&raw[0]] = raw
	m.mu.Unlock()
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), n)
}

// free gives back what alloc returned; the slice must start where alloc's did
// and still have its capacity.
func free[T word](m *memory, s []T) {
	if cap(s) == 0 {
		return
	}
	s = s[:cap(s)]
	var zero T
	bytes := len(s) * int(unsafe.Sizeof(zero))
	m.release(int64(bytes))
	if bytes < mapBytes {
		return
	}
	start := (*byte)(unsafe.Pointer(&s[0]))
	m.mu.Lock()
	raw := m.mapped[start]
	delete(m.mapped, start)
	m.mu.Unlock()
	unmapMemory(raw)
}

// regrow returns a slice with room for at least n words that starts with s's,
// and frees s. Capacity at least doubles, so appending is linear.
func regrow[T word](m *memory, what string, s []T, n int) []T {
	if n <= cap(s) {
		return s
	}
	t := alloc[T](m, what, max(n, 2*cap(s), 64))
	copy(t, s)
	t = t[:len(s)]
	free(m, s)
	return t
}

// close unmaps all that is left. No array of the run may be touched afterwards.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, raw := range m.mapped {
		unmapMemory(raw)
	}
	m.mapped = nil
}
