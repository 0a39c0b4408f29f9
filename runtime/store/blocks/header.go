package blocks

import (
	"encoding/binary"
	"fmt"

	"github.com/redfoxdb/redfox/internal/bitpack"
)

// Rows is the number of rows of a block. The last one of a column has fewer.
const Rows = 1 << PositionBits

// PositionBits is the number of bits of the number of a row in its block.
const PositionBits = 13

// Form is the way in which the entries of a block are packed.
type Form uint8

// The forms, as the package comment describes them.
const (
	Constant Form = iota
	Packed
	Delta
	Dictionary
	Runs
	Decimal
	forms
)

// String returns the name of the form.
func (f Form) String() string {
	if f < forms {
		return [...]string{"constant", "packed", "delta", "dictionary", "runs", "decimal"}[f]
	}
	return fmt.Sprintf("form %d", uint8(f))
}

// Header describes a block.
type Header struct {
	Form     Form
	Bits     uint8
	MoreBits uint8
	Count    uint32 // of exceptions, distinct entries or runs
	Size     uint32 // of the block, in bytes
	Sum      uint32 // a checksum of the block, which the caller sets and compares
	First    uint64
	Step     uint64 // of a delta; the decimal places of a decimal

	Least, Greatest uint64 // entry
}

// HeaderBytes is the size of a header in a file.
const HeaderBytes = 48

// Append appends the header in the form of a file: its fields in order, with a
// zero byte after MoreBits.
func (h *Header) Append(dst []byte) []byte {
	dst = append(dst, byte(h.Form), h.Bits, h.MoreBits, 0)
	for _, n := range []uint32{h.Count, h.Size, h.Sum} {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	for _, n := range []uint64{h.First, h.Step, h.Least, h.Greatest} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

// ReadHeader parses the header in the first HeaderBytes bytes.
func ReadHeader(src []byte) Header {
	n := func(at int) uint32 { return binary.LittleEndian.Uint32(src[at:]) }
	long := func(at int) uint64 { return binary.LittleEndian.Uint64(src[at:]) }
	return Header{Form: Form(src[0]), Bits: src[1], MoreBits: src[2], Count: n(4), Size: n(8),
		Sum: n(12), First: long(16), Step: long(24), Least: long(32), Greatest: long(40)}
}

// parts returns the sizes of the parts of a block of n rows.
func (h *Header) parts(n int) (sizes [3]int) {
	count, bits, more := int(h.Count), int(h.Bits), int(h.MoreBits)
	switch h.Form {
	case Packed, Delta, Decimal:
		return [3]int{bitpack.Bytes(n, bits), bitpack.Bytes(count, PositionBits),
			bitpack.Bytes(count, more)}
	case Dictionary:
		return [3]int{bitpack.Bytes(count, more), bitpack.Bytes(n, bits)}
	case Runs:
		return [3]int{bitpack.Bytes(count, more), bitpack.Bytes(count, bits)}
	}
	return sizes
}

// size returns the size of a block of n rows.
func (h *Header) size(n int) int {
	parts := h.parts(n)
	return parts[0] + parts[1] + parts[2]
}

// Check returns an error if no block can have the header. The block has n rows,
// and its entries have width bytes and are at most greatest.
func (h *Header) Check(n int, width uint8, greatest uint64) error {
	bits, count := 8*width, int(h.Count)
	isBad := h.Form >= forms || h.MoreBits > bits || count > n || h.Least > h.Greatest ||
		h.Greatest > greatest
	switch h.Form {
	case Packed, Delta:
		isBad = isBad || h.Bits > bits
	case Constant:
		isBad = isBad || h.First != h.Least || h.Least != h.Greatest
	case Dictionary:
		isBad = isBad || count == 0 || count > mostEntries || h.Bits > 8
	case Runs:
		isBad = isBad || count == 0 || h.Bits > PositionBits
	case Decimal:
		isBad = isBad || bits != wordBits || h.Bits > bits || h.Step > mostPlaces
	}
	if isBad || int(h.Size) != h.size(n) {
		return fmt.Errorf("a block of %d rows, %v in %d and %d bits with %d, of %d bytes, from %d to %d",
			n, h.Form, h.Bits, h.MoreBits, h.Count, h.Size, h.Least, h.Greatest)
	}
	return nil
}
