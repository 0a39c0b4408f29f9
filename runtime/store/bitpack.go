package store

import (
	mathbits "math/bits"

	"github.com/redfoxdb/redfox/internal/bitpack"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Packing returns how the offsets of the column are packed: minus first, in a
// number of bits of at least 1, as the statistics bound the words. It returns 0
// bits if the statistics bound no offsets, as for floats and for words that
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
		first = 0 // needs no further bit, and a base of 0 is cheaper
	}
	return bits, first
}

// PackedRows is a number of rows whose packed offsets fill whole words,
// whatever the number of bits.
const PackedRows = bitpack.Rows

// packedPadding is the number of bytes after packed offsets that readers may
// read.
const packedPadding = 16

// PackedBytes returns the size of n packed offsets of a number of bits,
// including padding.
func PackedBytes(n, bits int) int { return (n+PackedRows-1)/PackedRows*8*bits + packedPadding }

// Pack writes the offsets of the rows between from and until to dst as Packing
// describes, in at most 63 bits: offset i begins at bit i*bits of little-endian
// words. It fills whole words, and returns the number of bytes.
func (c *Column) Pack(dst []byte, from, until int) int {
	c.onHost()
	bits, first := c.Packing()
	switch c.Width {
	case 1:
		return bitpack.Pack(dst, c.U8[from:until], bits, first)
	case 2:
		return bitpack.Pack(dst, c.U16[from:until], bits, first)
	case 4:
		return bitpack.Pack(dst, c.U32[from:until], bits, first)
	}
	return bitpack.Pack(dst, c.U64[from:until], bits, first)
}
