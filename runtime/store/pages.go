package store

import (
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/scratch"
)

// SpillTo makes the ledger place entries of columns and words of sorts in pages
// of a file once memory is scarce. held returns how much of the bound all
// ledgers hold. Nil pages change nothing.
func (g *Ledger) SpillTo(pages *scratch.Pages, held func() int64) {
	if pages != nil {
		g.pages, g.others = pages, held
	}
}

// spills reports whether the next allocation goes to pages of a file.
func (g *Ledger) spills(bytes int64) bool {
	return g != nil && g.pages != nil && g.others()+bytes > g.bound/plenty
}

// room returns zeroed memory for n entries, and the owner that keeps it alive.
// The owner is nil if the memory is in Go's heap; that memory is reserved under
// the name what.
func room[T unsigned](g *Ledger, what string, n int) (entries []T, owner any, err error) {
	var one T
	bytes := int(unsafe.Sizeof(one)) * n
	if n == 0 {
		return nil, nil, nil
	}
	if !g.spills(int64(bytes)) {
		if err = g.Take(what, int64(bytes)); err == nil {
			return hugepage.Advise(make([]T, n)), nil, nil
		}
		if g.pages == nil {
			return nil, nil, err
		}
	}
	return inPages[T](g.pages, n)
}

// inPages returns zeroed memory for n values of a type without pointers, and
// the owner that keeps it alive.
func inPages[T any](pages *scratch.Pages, n int) ([]T, any, error) {
	if n == 0 {
		return nil, nil, nil
	}
	var one T
	data, owner, err := pages.Alloc(int(unsafe.Sizeof(one)) * n)
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), n), owner, nil
}

// space allocates arrays in pages of a file, which stay as long as the space is
// reachable. A nil space allocates in Go's heap.
type space struct {
	pages *scratch.Pages

	mu     sync.Mutex
	owners map[any]bool
}

// newSpace returns a space in the ledger's file if an allocation of that many
// bytes spills, or nil.
func (g *Ledger) newSpace(bytes int64) *space {
	if !g.spills(bytes) {
		return nil
	}
	return &space{pages: g.pages, owners: map[any]bool{}}
}

// takeUnless reserves memory unless it is in a space.
func (g *Ledger) takeUnless(in *space, what string, n int64) error {
	if in != nil {
		return nil
	}
	return g.Take(what, n)
}

// newIn returns n zeroed values of a type without pointers.
func newIn[T any](s *space, n int) ([]T, error) {
	if s == nil {
		return hugepage.Advise(make([]T, n)), nil
	}
	list, owner, err := inPages[T](s.pages, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owners[owner] = true
	return list, err
}

// Keep reserves the memory of a chunk under the name what. If memory is scarce,
// it moves the entries to pages of a file.
func (g *Ledger) Keep(what string, c *Chunk) error {
	if !g.spills(c.Bytes()) {
		if err := g.Take(what, c.Bytes()); err == nil || g.pages == nil {
			return err
		}
	}
	if c.owner == nil && c.width > 0 {
		if err := g.move(c); err != nil {
			return err
		}
	}
	return g.Take(what, c.Bytes())
}

// move copies the entries of a chunk to pages.
func (g *Ledger) move(c *Chunk) error {
	data, owner, err := g.pages.Alloc(c.n * int(c.width))
	if err != nil {
		return err
	}
	switch c.width {
	case 1:
		c.u8 = moved(data, c.u8)
	case 2:
		c.u16 = moved(data, c.u16)
	case 4:
		c.u32 = moved(data, c.u32)
	case 8:
		c.u64 = moved(data, c.u64)
	}
	c.owner = owner
	return nil
}

// moved copies entries to data, and returns the copy.
func moved[T unsigned](data []byte, entries []T) []T {
	to := unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(entries))
	copy(to, entries)
	return to
}

// Alloc returns n zeroed words, in Go's heap while memory is not scarce.
func (g *Ledger) Alloc(what string, n int) ([]uint64, error) {
	words, owner, err := room[uint64](g, what, n)
	if owner != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.paged == nil {
			g.paged = map[*uint64]any{}
		}
		g.paged[unsafe.SliceData(words)] = owner
	}
	return words, err
}

// Free returns words that Alloc returned. The garbage collector frees them.
func (g *Ledger) Free(words []uint64) {
	if !g.unpage(unsafe.SliceData(words)) {
		g.Give(8 * int64(cap(words)))
	}
}

// unpage drops the owner of the words at an address, and reports whether they
// lie in pages.
func (g *Ledger) unpage(start *uint64) bool {
	if g == nil || g.pages == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.paged[start]
	delete(g.paged, start)
	return ok
}
