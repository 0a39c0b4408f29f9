package store

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/bitpack"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// NewPacked returns a column of n words between lo and hi for an engine that
// has packed them already. The engine writes the offsets from lo to the slice
// of the column's Width before anyone else sees the column. The statistics
// follow from the bounds, not from the words. lo must not come after hi in the
// order of the type.
func NewPacked(t scalar.Type, dict *Dict, n int, lo, hi int64) *Column {
	c := newPacked(t, dict, n, lo, hi)
	_ = c.MakeRoom(nil, "") // without a ledger there is no error
	return c
}

// NewOver is NewPacked over existing offsets: n entries of the column's Width
// at data. Offsets outside of Go's heap stay valid as long as owner is
// reachable. For offsets in the heap, owner is nil.
func NewOver(
	t scalar.Type, dict *Dict, n int, lo, hi int64, data unsafe.Pointer, owner any,
) *Column {
	c := newPacked(t, dict, n, lo, hi)
	c.owner = owner
	c.view(data)
	return c
}

// AnyWords are the statistics of a column of n words that may be any of a kind.
func AnyWords(k scalar.Kind, n int) ColumnStats {
	return ColumnStats{Min: scalar.Ordered(k, math.MinInt64),
		Max: scalar.Ordered(k, math.MaxInt64), Distinct: int64(n)}
}

// NewBounded returns a column of n words: base plus step times an offset of
// width bytes in data, modulo 2^64. It keeps data, which is aligned to the
// width. It computes the bounds, but does not narrow the offsets or count
// distinct words. Floats have base 0, step 1 and width 8, unless all words are
// equal.
func NewBounded(
	t scalar.Type, dict *Dict, n int, base, step int64, width uint8, data []byte,
) *Column {
	c := &Column{Type: t, Dict: dict, Base: base, Step: step, Width: width, n: n}
	if n == 0 {
		return &Column{Type: t, Dict: dict, Step: 1, Stats: ColumnStats{Ascending: true}}
	}
	if width > 0 {
		c.view(unsafe.Pointer(unsafe.SliceData(data)))
	}
	lo, hi := c.bounds()
	c.Stats = ColumnStats{Min: orderWord(t.Kind, lo), Max: orderWord(t.Kind, hi),
		Distinct: int64(n)}
	if span := hi - lo; span < uint64(n) {
		c.Stats.Distinct = int64(span) + 1
	}
	if lo == hi {
		return &Column{Type: t, Dict: dict, Base: c.Stats.Min, Step: 1, n: n, Stats: c.Stats}
	}
	return c
}

// bounds returns the order keys of the least and the greatest word of a column
// that has rows.
func (c *Column) bounds() (lo, hi uint64) {
	flip := orderKeyOf(c.Type.Kind, 0)
	var first, last uint64 // offsets
	switch c.Width {
	case 0:
		key := orderKeyOf(c.Type.Kind, c.Base)
		return key, key
	case 1:
		first, last = extremes(c.U8)
	case 2:
		first, last = extremes(c.U16)
	case 4:
		first, last = extremes(c.U32)
	}
	if c.Width < 8 && c.Type.Kind != scalar.Float {
		// Words ascend with their offsets unless they wrap.
		span, product := bits.Mul64(last, uint64(c.Step))
		if lo, hi = uint64(c.Base)^flip, (uint64(c.Base)+product)^flip; span == 0 && lo <= hi {
			return lo + first*uint64(c.Step), hi
		}
	}
	lo, hi = math.MaxUint64, 0
	words := make([]int64, min(c.n, BlockRows))
	for from := 0; from < c.n; from += BlockRows {
		part := words[:min(BlockRows, c.n-from)]
		c.Read(part, from)
		if c.Type.Kind == scalar.Float {
			for _, w := range part {
				lo, hi = min(lo, floatKey(w)), max(hi, floatKey(w))
			}
			continue
		}
		for _, w := range part {
			lo, hi = min(lo, uint64(w)^flip), max(hi, uint64(w)^flip)
		}
	}
	return lo, hi
}

// view sets the slice of the column's width to the n entries at data.
func (c *Column) view(data unsafe.Pointer) {
	switch c.Width {
	case 1:
		c.U8 = unsafe.Slice((*uint8)(data), c.n)
	case 2:
		c.U16 = unsafe.Slice((*uint16)(data), c.n)
	case 4:
		c.U32 = unsafe.Slice((*uint32)(data), c.n)
	case 8:
		c.U64 = unsafe.Slice((*uint64)(data), c.n)
	}
}

// newPacked returns a packed column without its slice.
func newPacked(t scalar.Type, dict *Dict, n int, lo, hi int64) *Column {
	c := &Column{Type: t, Dict: dict, Base: lo, Step: 1, Width: WidthOf(uint64(hi) - uint64(lo)),
		n: n}
	c.Stats = ColumnStats{Min: lo, Max: hi, Distinct: int64(n)}
	if span := uint64(hi) - uint64(lo); span < uint64(n) {
		c.Stats.Distinct = int64(span) + 1
	}
	return c
}

// extremes returns the least and the greatest offset of a list that is not
// empty.
func extremes[T unsigned](list []T) (least, greatest uint64) {
	lo, hi := bitpack.Extremes(list)
	return uint64(lo), uint64(hi)
}
