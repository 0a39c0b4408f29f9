package work

import (
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/runtime/account"
)

// Memory accounts for everything that a run allocates for relations, indexes
// and hash tables; what passes the bound aborts the run. Large arrays come from
// the operating system, so that a table which doubles gives its old half back
// at once.
type Memory struct{ *account.Memory }

func newMemory(bound int64) *Memory { return &Memory{account.New(bound)} }

// Word is what large arrays are made of; none holds pointers.
type Word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64 | ~float64 | ~[2]uint64
}

// MustReserve accounts for bytes, or aborts the run with a
// *runtime.MemoryError.
func (m *Memory) MustReserve(what string, bytes int64) {
	if err := m.Reserve(what, bytes); err != nil {
		Abort(err)
	}
}

// Alloc returns n zeroed words. The name is what a memory error calls it.
func Alloc[T Word](m *Memory, what string, n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	bytes := n * int(unsafe.Sizeof(zero))
	if bytes < account.MapBytes {
		m.MustReserve(what, int64(bytes))
		return hugepage.Advise(make([]T, n))
	}
	words, err := m.Alloc(what, (bytes+7)/8)
	if err != nil {
		Abort(err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&words[0])), n)
}

// Free gives back what alloc returned; the slice must start where alloc's did
// and still have its capacity.
func Free[T Word](m *Memory, s []T) {
	if cap(s) == 0 {
		return
	}
	s = s[:cap(s)]
	var zero T
	bytes := len(s) * int(unsafe.Sizeof(zero))
	if bytes < account.MapBytes {
		m.Release(int64(bytes))
		return
	}
	m.Free(unsafe.Slice((*uint64)(unsafe.Pointer(&s[0])), (bytes+7)/8))
}

// Regrow returns a slice with room for at least n words that starts with s's,
// and frees s. Capacity at least doubles, so appending is linear.
func Regrow[T Word](m *Memory, what string, s []T, n int) []T {
	if n <= cap(s) {
		return s
	}
	t := Alloc[T](m, what, max(n, 2*cap(s), 64))
	copy(t, s)
	t = t[:len(s)]
	Free(m, s)
	return t
}
