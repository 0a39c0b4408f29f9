package store

import (
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Column is an immutable sequence of words of one type, stored as offsets from a
// base in the narrowest of 0, 1, 2, 4 and 8 bytes that holds the range: word i is
// Base plus the unsigned offset, modulo 2^64. Width 0 stores no offsets: all
// words equal Base.
type Column struct {
	Type scalar.Type
	Dict *Dict // of a String column, else nil

	Base  int64
	Width uint8 // bytes an entry: 0, 1, 2, 4 or 8; exactly that slice below is in use
	U8    []uint8
	U16   []uint16
	U32   []uint32
	U64   []uint64

	Stats ColumnStats
	n     int
}

// ColumnStats is what is known of a column's words.
type ColumnStats struct {
	// Min and Max bound the words in the order of the type (for strings, of the
	// codes); meaningless when the column is empty.
	Min, Max int64
	// Distinct estimates the number of different words.
	Distinct int64
	// Ascending says that words never decrease from row to row.
	Ascending bool
}

// Len returns the number of entries.
func (c *Column) Len() int { return c.n }

// Word returns entry i.
func (c *Column) Word(i int) int64 {
	switch c.Width {
	case 1:
		return c.Base + int64(c.U8[i])
	case 2:
		return c.Base + int64(c.U16[i])
	case 4:
		return c.Base + int64(c.U32[i])
	case 8:
		return c.Base + int64(c.U64[i])
	}
	return c.Base
}

// Value returns entry i as a value.
func (c *Column) Value(i int) scalar.Value {
	w := c.Word(i)
	if c.Type.Kind == scalar.String {
		return scalar.OfString(c.Dict.String(uint32(w)))
	}
	return scalar.OfBits(c.Type, uint64(w))
}

// Read widens entries from, from+1, ... into dst, as many as dst holds.
func (c *Column) Read(dst []int64, from int) {
	switch c.Width {
	case 1:
		widen(dst, c.U8[from:from+len(dst)], c.Base)
	case 2:
		widen(dst, c.U16[from:from+len(dst)], c.Base)
	case 4:
		widen(dst, c.U32[from:from+len(dst)], c.Base)
	case 8:
		widen(dst, c.U64[from:from+len(dst)], c.Base)
	default:
		for i := range dst {
			dst[i] = c.Base
		}
	}
}

// Gather widens the entries of the given rows into dst.
func (c *Column) Gather(dst []int64, rows []uint32) {
	switch c.Width {
	case 1:
		gather(dst, c.U8, rows, c.Base)
	case 2:
		gather(dst, c.U16, rows, c.Base)
	case 4:
		gather(dst, c.U32, rows, c.Base)
	case 8:
		gather(dst, c.U64, rows, c.Base)
	default:
		for i := range rows {
			dst[i] = c.Base
		}
	}
}

func widen[T uint8 | uint16 | uint32 | uint64](dst []int64, src []T, base int64) {
	for i, v := range src[:len(dst)] {
		dst[i] = base + int64(v)
	}
}

func gather[T uint8 | uint16 | uint32 | uint64](dst []int64, src []T, rows []uint32, base int64) {
	for i, r := range rows {
		dst[i] = base + int64(src[r])
	}
}
