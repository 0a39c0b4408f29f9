package store

import (
	goruntime "runtime"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Grow returns the column with words appended. The first to grow a column
// writes past its end if there is room, so that both columns share their
// entries; others copy them. It returns false if the column's base, step and
// width do not suit the words.
func (c *Column) Grow(words []int64) (*Column, bool) {
	k := c.Type.Kind
	isOrdered := k == scalar.Int || k == scalar.String || k == scalar.Datetime ||
		k == scalar.Decimal && c.Type.Word == scalar.Whole
	if !isOrdered || c.n == 0 || c.Width == 0 || len(words) == 0 {
		return nil, false
	}
	offsets := make([]uint64, len(words))
	for i, w := range words {
		o := uint64(w) - uint64(c.Base)
		if w < c.Base || o%uint64(c.Step) != 0 {
			return nil, false
		}
		if o /= uint64(c.Step); c.Width < 8 && o>>(8*c.Width) != 0 {
			return nil, false
		}
		offsets[i] = o
	}
	c.onHost()
	out := *c
	out.n += len(words)
	out.head, out.Encoded, out.decoding = nil, nil, nil
	hasRoom := c.used != nil && c.room() >= len(words) &&
		c.used.CompareAndSwap(int64(c.n), int64(out.n))
	if !hasRoom {
		out.owner, out.used, out.OnDisk = nil, new(atomic.Int64), false
		out.used.Store(int64(out.n))
	}
	switch c.Width {
	case 1:
		out.U8 = grow(c.U8, c.n, offsets, hasRoom)
	case 2:
		out.U16 = grow(c.U16, c.n, offsets, hasRoom)
	case 4:
		out.U32 = grow(c.U32, c.n, offsets, hasRoom)
	default:
		out.U64 = grow(c.U64, c.n, offsets, hasRoom)
	}
	goruntime.KeepAlive(c)
	last := c.Word(c.n - 1)
	for _, w := range words {
		s := &out.Stats
		switch {
		case s.Ascending && w > last:
			s.Distinct++
		case w < last:
			// From here on, Distinct is an estimate below the number of rows.
			s.Ascending = false
		}
		s.Min, s.Max, last = min(s.Min, w), max(s.Max, w), w
	}
	if !out.Stats.Ascending {
		out.Stats.Distinct = min(c.Stats.Distinct+int64(len(words)), int64(out.n-1))
	}
	return &out, true
}

// room returns how many entries can be appended in place.
func (c *Column) room() int {
	switch c.Width {
	case 1:
		return cap(c.U8) - c.n
	case 2:
		return cap(c.U16) - c.n
	case 4:
		return cap(c.U32) - c.n
	}
	return cap(c.U64) - c.n
}

// grow appends offsets to the first n entries, in place or to a copy that has
// room for a quarter more.
func grow[T unsigned](entries []T, n int, offsets []uint64, inPlace bool) []T {
	if !inPlace {
		entries = append(make([]T, 0, n+n/4+len(offsets)), entries[:n]...)
	}
	out := entries[:n+len(offsets)]
	for i, o := range offsets {
		out[n+i] = T(o)
	}
	return out
}
