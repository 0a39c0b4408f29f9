package store

import (
	"encoding/binary"
	mathbits "math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Packing returns how the offsets of the column are packed: less the first one,
// in a number of bits of at least 1, as far as the statistics bound the words.
// There are no bits if they bound no offsets: those of floats, or of words that
// wrap.
func (c *Column) Packing() (bits int, first uint64) {
	if c.Width == 0 || c.n == 0 || c.Type.Kind == scalar.Float {
		return 0, 0
	}
	flip := orderKeyOf(c.Type.Kind, 0)
	base, lo, hi := uint64(c.Base)^flip, uint64(c.Stats.Min)^flip, uint64(c.Stats.Max)^flip
	if base > lo || lo > hi {
		return 0, 0
	}
	if c.Step != 1 {
		// Unless the words of all offsets ascend, two may be equal.
		over, span := mathbits.Mul64(uint64(c.Step), 1<<(8*c.Width)-1)
		if c.Width == 8 || over > 0 || base+span < base {
			return 0, 0
		}
	}
	first, last := (lo-base)/uint64(c.Step), (hi-base)/uint64(c.Step)
	bits = max(mathbits.Len64(last-first), 1)
	if mathbits.Len64(last) <= bits {
		first = 0 // costs no bit, and a base of 0 is cheaper
	}
	return bits, first
}

// PackedRows is a number of rows whose packed offsets are whole words, whatever
// the number of bits.
const PackedRows = 64

// packedPadding is the number of bytes behind packed offsets that readers may
// read.
const packedPadding = 16

// PackedBytes returns the size of n packed offsets of a number of bits, with
// padding.
func PackedBytes(n, bits int) int { return (n+PackedRows-1)/PackedRows*8*bits + packedPadding }

// Pack writes the offsets of rows from, from+1, ... until the one before until
// as Packing says, in at most 63 bits: offset i begins at bit i*bits of
// little-endian words. It fills whole words, and returns the number of bytes.
func (c *Column) Pack(dst []byte, from, until int) int {
	bits, first := c.Packing()
	switch c.Width {
	case 1:
		return pack(dst, c.U8[from:until], bits, first)
	case 2:
		return pack(dst, c.U16[from:until], bits, first)
	case 4:
		return pack(dst, c.U32[from:until], bits, first)
	}
	return pack(dst, c.U64[from:until], bits, first)
}

func pack[T unsigned](dst []byte, offsets []T, bits int, first uint64) int {
	p := packer{dst: dst}
	// Offsets that fit a word are put together first, without a branch.
	n := uint(bits)
	switch {
	case bits <= 8:
		for ; len(offsets) >= 8; offsets = offsets[8:] {
			v := offsets[:8:8]
			p.put(four(v[:4:4], n, first)|four(v[4:8:8], n, first)<<(4*n&63), 8*bits)
		}
	case bits <= 16:
		for ; len(offsets) >= 4; offsets = offsets[4:] {
			p.put(four(offsets[:4:4], n, first), 4*bits)
		}
	case bits <= 32:
		for ; len(offsets) >= 2; offsets = offsets[2:] {
			v := offsets[:2:2]
			p.put(uint64(v[0])-first|(uint64(v[1])-first)<<(n&63), 2*bits)
		}
	}
	for _, v := range offsets {
		p.put(uint64(v)-first, bits)
	}
	if p.used > 0 {
		binary.LittleEndian.PutUint64(dst[p.at:], p.word)
		p.at += 8
	}
	return p.at
}

// four puts four offsets of at most 16 bits together.
func four[T unsigned](v []T, bits uint, first uint64) uint64 {
	return uint64(v[0]) - first | (uint64(v[1])-first)<<(bits&63) |
		((uint64(v[2])-first)|(uint64(v[3])-first)<<(bits&63))<<(2*bits&63)
}

// packer fills words from their lowest bits.
type packer struct {
	dst      []byte
	word     uint64
	used, at int // bits of word, bytes of dst
}

// put adds a number of bits, at most 64.
func (p *packer) put(v uint64, bits int) {
	p.word |= v << (p.used & 63)
	p.used += bits
	if p.used < 64 {
		return
	}
	binary.LittleEndian.PutUint64(p.dst[p.at:], p.word)
	p.at += 8
	p.used -= 64
	p.word = v >> (bits - p.used)
}
