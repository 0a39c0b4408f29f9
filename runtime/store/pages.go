package store

import (
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/scratch"
)

// SpillTo has entries of columns, and words of sorts, lie in a file's pages
// once memory is scarce: held says how much of the bound all ledgers have. Nil
// pages change nothing.
func (g *Ledger) SpillTo(pages *scratch.Pages, held func() int64) {
	if pages != nil {
		g.pages, g.others = pages, held
	}
}

// spills reports whether the next bytes lie in a file's pages.
func (g *Ledger) spills(bytes int64) bool {
	return g != nil && g.pages != nil && g.others()+bytes > g.bound/plenty
}

// room returns zeroed memory for n entries, and what keeps it: nil for memory
// of Go's heap, which is reserved under the name what.
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
// what keeps it.
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

// space is where arrays lie: in pages of a file, which stay as long as the
// space is reachable, or in Go's heap, if it is nil.
type space struct {
	pages *scratch.Pages

	mu     sync.Mutex
	owners map[any]bool
}

// newSpace returns a space in the ledger's file if that many bytes spill, else
// nil.
func (g *Ledger) newSpace(bytes int64) *space {
	if !g.spills(bytes) {
		return nil
	}
	return &space{pages: g.pages, owners: map[any]bool{}}
}

// takeUnless reserves memory for what does not lie in a space.
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

// Keep reserves the memory of a chunk under the name what. Where memory is
// scarce, it moves the entries to pages of a file.
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

// moved returns a copy of entries in memory for them.
func moved[T unsigned](data []byte, entries []T) []T {
	to := unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(entries))
	copy(to, entries)
	return to
}

// Alloc returns n zeroed words, of Go's heap while there is memory.
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

// Free leaves words to the collector.
func (g *Ledger) Free(words []uint64) {
	if !g.unpage(unsafe.SliceData(words)) {
		g.Give(8 * int64(cap(words)))
	}
}

// unpage gives up words that begin at an address if they lie in pages.
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
