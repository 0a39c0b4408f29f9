package store

import (
	"math/bits"
	goruntime "runtime"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// keyGroup is columns whose keys fit 64 bits together, the most significant
// first.
type keyGroup struct {
	parts []keyPart
	bits  int
}

func (g *keyGroup) add(p keyPart) {
	for i := range g.parts {
		g.parts[i].shift += p.bits
	}
	g.parts = append(g.parts, p)
	g.bits += p.bits
}

// keyPart maps the entries of a column to numbers from 0 to span that have the
// same order. The numbers are the stored offsets, unless the column has floats,
// or strings whose codes are not in byte order.
type keyPart struct {
	col   *Column
	desc  bool
	ranks []uint32 // rank of each code, when codes are not in order
	codes []uint32 // code of each rank, if ranks is set
	low   uint64   // subtracted from all numbers
	span  uint64
	bits  int // of span
	shift int // of the number in the group's key
}

func newKeyPart(c *Column, desc bool) keyPart {
	p := keyPart{col: c, desc: desc}
	if c.Width == 0 {
		return p
	}
	c.onHost()
	switch {
	case c.Type.Kind == scalar.Float:
		p.low = floatKey(c.Stats.Min)
		p.span = floatKey(c.Stats.Max) - p.low
	case c.Dict != nil && c.Dict.Len() != c.Dict.Sorted():
		p.ranks = c.Dict.Ranks()
		p.codes = make([]uint32, len(p.ranks))
		for code, rank := range p.ranks {
			p.codes[rank] = uint32(code)
		}
		p.span = uint64(len(p.ranks) - 1)
	default:
		p.low = uint64(c.Stats.Min-c.Base) / uint64(c.Step)
		p.span = uint64(c.Stats.Max-c.Stats.Min) / uint64(c.Step)
	}
	p.bits = bits.Len64(p.span)
	return p
}

// read sets keys to the keys of the rows from a row on. scratch has the same
// length.
func (g *keyGroup) read(keys, scratch []uint64, from int) {
	clear(keys)
	scratch = scratch[:len(keys)]
	for i := range g.parts {
		p := &g.parts[i]
		switch c := p.col; c.Width {
		case 1:
			widenOffsets(scratch, c.U8[from:])
		case 2:
			widenOffsets(scratch, c.U16[from:])
		case 4:
			widenOffsets(scratch, c.U32[from:])
		case 8:
			copy(scratch, c.U64[from:])
		default:
			continue
		}
		goruntime.KeepAlive(p.col)
		p.normalise(scratch)
		for j, n := range scratch {
			keys[j] |= n << p.shift
		}
	}
}

func widenOffsets[T unsigned](dst []uint64, src []T) {
	for i, v := range src[:len(dst)] {
		dst[i] = uint64(v)
	}
}

// normalise turns stored offsets into numbers from 0 to span.
func (p *keyPart) normalise(offsets []uint64) {
	switch {
	case p.ranks != nil:
		for i, v := range offsets {
			offsets[i] = uint64(p.ranks[uint64(p.col.Base)+v])
		}
	case p.col.Type.Kind == scalar.Float:
		for i, v := range offsets {
			offsets[i] = floatKey(int64(v)) - p.low
		}
	case p.low != 0:
		for i, v := range offsets {
			offsets[i] = v - p.low
		}
	}
	if p.desc {
		for i, v := range offsets {
			offsets[i] = p.span - v
		}
	}
}

// keyOf returns the key of one row.
func (g *keyGroup) keyOf(row int) uint64 {
	var key, scratch [1]uint64
	g.read(key[:], scratch[:], row)
	return key[0]
}

// unpack sets words to the words of one part, taken from keys.
func (g *keyGroup) unpack(words []int64, keys []uint64, part int) {
	p := &g.parts[part]
	if p.col.Width == 0 {
		for i := range keys {
			words[i] = p.col.Base
		}
		return
	}
	mask := uint64(1)<<p.bits - 1
	for i, k := range keys {
		n := k >> p.shift & mask
		if p.desc {
			n = p.span - n
		}
		words[i] = int64(n + p.low)
	}
	switch c := p.col; {
	case p.ranks != nil:
		for i, w := range words {
			words[i] = int64(p.codes[w])
		}
	case c.Type.Kind == scalar.Float:
		for i, w := range words {
			words[i] = orderWord(scalar.Float, uint64(w))
		}
	default:
		for i, w := range words {
			words[i] = c.Base + c.Step*w
		}
	}
}
