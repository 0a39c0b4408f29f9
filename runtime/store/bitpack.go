package store

import (
	"encoding/binary"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// PackedBits returns the number of bits that hold every offset of the column,
// at least 1, as far as its statistics bound the words. It is 0 if they bound
// no offsets: those of floats, or of words that wrap.
func (c *Column) PackedBits() int {
	if c.Width == 0 || c.n == 0 || c.Type.Kind == scalar.Float {
		return 0
	}
	flip := orderKeyOf(c.Type.Kind, 0)
	base, lo, hi := uint64(c.Base)^flip, uint64(c.Stats.Min)^flip, uint64(c.Stats.Max)^flip
	if base > lo || lo > hi {
		return 0
	}
	if c.Step != 1 {
		// Unless the words of all offsets ascend, two may be equal.
		over, span := bits.Mul64(uint64(c.Step), 1<<(8*c.Width)-1)
		if c.Width == 8 || over > 0 || base+span < base {
			return 0
		}
	}
	return max(bits.Len64((hi-base)/uint64(c.Step)), 1)
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
// as packed offsets of at most 63 bits: offset i begins at bit i*bits of
// little-endian words. It fills whole words, and returns the number of bytes.
func (c *Column) Pack(dst []byte, from, until, bits int) int {
	switch c.Width {
	case 1:
		return pack(dst, c.U8[from:until], bits)
	case 2:
		return pack(dst, c.U16[from:until], bits)
	case 4:
		return pack(dst, c.U32[from:until], bits)
	}
	return pack(dst, c.U64[from:until], bits)
}

func pack[T unsigned](dst []byte, offsets []T, bits int) int {
	var word uint64
	used, at := 0, 0
	for _, v := range offsets {
		word |= uint64(v) << used
		used += bits
		if used >= 64 {
			binary.LittleEndian.PutUint64(dst[at:], word)
			at += 8
			used -= 64
			word = uint64(v) >> (bits - used)
		}
	}
	if used > 0 {
		binary.LittleEndian.PutUint64(dst[at:], word)
		at += 8
	}
	return at
}
