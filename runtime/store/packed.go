package store

import (
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// NewPacked returns a column of n words between lo and hi, for an engine that
// has them packed already: it fills the offsets from lo into the slice of the
// column's Width before anyone else sees the column. The statistics are what
// the bounds say, not what the words turn out to be. In the type's order lo must
// not come after hi.
func NewPacked(t scalar.Type, dict *Dict, n int, lo, hi int64) *Column {
	c := newPacked(t, dict, n, lo, hi)
	switch c.Width {
	case 1:
		c.U8 = make([]uint8, n)
	case 2:
		c.U16 = make([]uint16, n)
	case 4:
		c.U32 = make([]uint32, n)
	case 8:
		c.U64 = make([]uint64, n)
	}
	return c
}

// NewOver is NewPacked for offsets that are there already: n entries of the column's
// Width at data. They are outside of Go's heap, and stay as long
// as owner is reachable.
func NewOver(t scalar.Type, dict *Dict, n int, lo, hi int64, data unsafe.Pointer, owner any) *Column {
	c := newPacked(t, dict, n, lo, hi)
	c.owner = owner
	switch c.Width {
	case 1:
		c.U8 = unsafe.Slice((*uint8)(data), n)
	case 2:
		c.U16 = unsafe.Slice((*uint16)(data), n)
	case 4:
		c.U32 = unsafe.Slice((*uint32)(data), n)
	case 8:
		c.U64 = unsafe.Slice((*uint64)(data), n)
	}
	return c
}

// newPacked returns a packed column without its slice.
func newPacked(t scalar.Type, dict *Dict, n int, lo, hi int64) *Column {
	c := &Column{Type: t, Dict: dict, Base: lo, Step: 1, Width: widthOf(uint64(hi) - uint64(lo)), n: n}
	c.Stats = ColumnStats{Min: lo, Max: hi, Distinct: int64(n)}
	if span := uint64(hi) - uint64(lo); span < uint64(n) {
		c.Stats.Distinct = int64(span) + 1
	}
	return c
}
