package store

import (
	"encoding/binary"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Filler builds a column whose bounds are known before its words, so that each
// word is written once, to its final place. Goroutines may fill different rows
// at the same time. If the bounds are exact, the column equals the one that
// Join makes of the words.
type Filler struct {
	col   *Column
	base  uint64
	least uint64 // offset
	span  uint64 // hi less lo
}

// FillerWidth is the width of the entries that a Filler fills.
const FillerWidth = 4

// NewFiller returns a filler of n words, of an int or decimal type, between lo
// and hi. It returns nil if entries of FillerWidth bytes do not suit them. The
// ledger reserves the memory of the entries under the name what.
func NewFiller(t scalar.Type, n int, lo, hi int64, ledger *Ledger, what string) (*Filler, error) {
	if t.Kind != scalar.Int && t.Kind != scalar.Decimal || t.Word != scalar.Whole || lo > hi {
		return nil, nil
	}
	c := &Column{Type: t, Step: 1, n: n, Stats: ColumnStats{Min: lo, Max: hi}}
	c.Base, c.Width = baseOf(t, lo, hi)
	if c.Width != FillerWidth {
		return nil, nil
	}
	if _, err := c.allocate(ledger, what); err != nil {
		return nil, err
	}
	base := uint64(c.Base)
	return &Filler{c, base, uint64(lo) - base, uint64(hi) - uint64(lo)}, nil
}

// Entries sets dst to the entries of words. It returns false if a word is out
// of bounds.
func (f *Filler) Entries(dst []uint32, words []int64) bool {
	ok := true
	for i, w := range words[:len(dst)] {
		offset := uint64(w) - f.base
		ok = ok && offset-f.least <= f.span
		dst[i] = uint32(offset)
	}
	return ok
}

// Places sets the rows from a row on to entries[p] for each p in places. It
// returns false if a place is out of range.
func (f *Filler) Places(from int, places, entries []uint32) bool {
	dst := f.col.U32[from:][:len(places)]
	for i, p := range places {
		if int(p) >= len(entries) {
			return false
		}
		dst[i] = entries[p]
	}
	return true
}

// Words sets the rows from a row on. It returns false if a word is out of
// bounds.
func (f *Filler) Words(from int, words []int64) bool {
	return f.Entries(f.col.U32[from:][:len(words)], words)
}

// Int64s sets the n rows from a row on to the first n words of data, which are
// little-endian. It returns false if a word is out of bounds.
func (f *Filler) Int64s(from, n int, data []byte) bool {
	dst, data := f.col.U32[from:][:n], data[:8*n]
	ok := true
	for i := range dst {
		offset := binary.LittleEndian.Uint64(data[8*i:]) - f.base
		ok = ok && offset-f.least <= f.span
		dst[i] = uint32(offset)
	}
	return ok
}

// Finish returns the column once all rows are filled. mayAscend is false if its
// words are known not to ascend. The distinct words are counted if counts is
// set or the column ascends; otherwise their number is estimated from the
// bounds.
func (f *Filler) Finish(threads int, mayAscend, counts bool) *Column {
	c := f.col
	c.Stats.Ascending = mayAscend && ascending(c.U32, min(threads, 1+c.n/chunkRows))
	if counts || c.Stats.Ascending {
		c.count(threads)
	} else {
		c.Stats.Distinct = int64(min(uint64(c.n), f.span+1))
	}
	return c
}

// ascending reports whether entries never descend.
func ascending(entries []uint32, threads int) bool {
	descents := make([]int, threads)
	partly(len(entries)-1, threads, func(i, from, to int) {
		before := entries[from]
		for _, v := range entries[from+1 : to+1] {
			if v < before {
				descents[i]++
			}
			before = v
		}
	})
	for _, n := range descents {
		if n > 0 {
			return false
		}
	}
	return true
}
