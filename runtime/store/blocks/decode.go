package blocks

import (
	"errors"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/bitpack"
)

// errEntries means that a block has entries that its header excludes.
var errEntries = errors.New("it has values outside of its bounds")

// Decoder unpacks blocks. It has room for one at a time.
type Decoder struct {
	// Unchecked means that the caller compares entries with the bounds of the
	// header.
	Unchecked bool

	positions [Rows]uint16
	words     [Rows]uint64
	bytes     [Rows]uint8
}

// Unpack fills dst, which is as long as the block has rows, with its entries.
// The caller has checked the header, and data has the header's size. If an
// entry is not between Least and Greatest, it returns an error, unless
// d.Unchecked is set.
func Unpack[T bitpack.Unsigned](d *Decoder, dst []T, h *Header, data []byte) error {
	first, parts := T(h.First), h.parts(len(dst))
	one, two, three := data[:parts[0]], data[parts[0]:parts[0]+parts[1]], data[parts[0]+parts[1]:]
	switch h.Form {
	case Constant:
		bitpack.Unpack(dst, nil, 0, first)
		return nil // the header has been checked
	case Packed:
		bitpack.Unpack(dst, one, int(h.Bits), first)
		if err := patch(d, dst, h, two, three); err != nil {
			return err
		}
		span := uint64(1)<<h.Bits - 1
		if h.Count == 0 && h.First == h.Least && span <= uint64(^T(0))-h.First {
			// No entry is less than First.
			if !d.Unchecked && span > h.Greatest-h.First && uint64(greatest(dst)) > h.Greatest {
				return errEntries
			}
			return nil
		}
	case Delta:
		bitpack.Unpack(dst, one, int(h.Bits), T(h.Step))
		if err := patch(d, dst, h, two, three); err != nil {
			return err
		}
		for i, delta := range dst {
			first += delta
			dst[i] = first
		}
		if h.ascends(len(dst), uint64(^T(0))) {
			dst = []T{dst[0], first} // all others are between these two
		}
	case Dictionary:
		var entries [mostEntries]T
		bitpack.Unpack(entries[:h.Count], one, int(h.MoreBits), first)
		numbers := d.bytes[:len(dst)]
		bitpack.Unpack(numbers, two, int(h.Bits), 0)
		most := uint8(0)
		for i, number := range numbers {
			dst[i] = entries[number]
			most = max(most, number)
		}
		if uint32(most) >= h.Count {
			return errEntries
		}
		dst = entries[:h.Count]
	case Decimal:
		bitpack.Unpack(dst, one, int(h.Bits), first)
		if err := undecimal(d, wordsOf(dst), h, two, three); err != nil {
			return err
		}
	case Runs:
		lengths := d.positions[:h.Count]
		bitpack.Unpack(lengths, two, int(h.Bits), 1)
		entries := entriesOf[T](d)[:h.Count]
		bitpack.Unpack(entries, one, int(h.MoreBits), first)
		for i, length := range lengths {
			if int(length) > len(dst) {
				return errEntries
			}
			run := dst[:length]
			for j := range run {
				run[j] = entries[i]
			}
			dst = dst[length:]
		}
		if len(dst) > 0 {
			return errEntries
		}
		dst = entries
	}
	if d.Unchecked {
		return nil
	}
	if lo, hi := bitpack.Extremes(dst); uint64(lo) < h.Least || uint64(hi) > h.Greatest {
		return errEntries
	}
	return nil
}

// entriesOf returns the decoder's buffer for numbers of a type.
func entriesOf[T bitpack.Unsigned](d *Decoder) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&d.words)), Rows)
}

// ascends reports whether the n entries of form Delta cannot exceed most, the
// greatest number of their type. Then they never decrease.
func (h *Header) ascends(n int, most uint64) bool {
	const few = 1 << 40 // that a product with the rows of a block fits
	more := h.Bits + h.MoreBits
	if h.First > most || h.Step >= few || more >= 40 {
		return false
	}
	return uint64(n)*(h.Step+1<<h.Bits)+uint64(h.Count)<<more <= most-h.First
}

// patch adds the high bits of exceptions to their low bits.
func patch[T bitpack.Unsigned](d *Decoder, dst []T, h *Header, positions, high []byte) error {
	if h.Count == 0 {
		return nil
	}
	rows, bits := d.positions[:h.Count], entriesOf[T](d)[:h.Count]
	bitpack.Unpack(rows, positions, PositionBits, 0)
	bitpack.Unpack(bits, high, int(h.MoreBits), 0)
	for i, row := range rows {
		if int(row) >= len(dst) {
			return errEntries
		}
		dst[row] += bits[i] << h.Bits
	}
	return nil
}

// greatest returns the greatest number, or 0 if there is none.
func greatest[T bitpack.Unsigned](numbers []T) T {
	var a, b, c, d T
	for ; len(numbers) >= 4; numbers = numbers[4:] {
		v := numbers[:4:4]
		a, b, c, d = max(a, v[0]), max(b, v[1]), max(c, v[2]), max(d, v[3])
	}
	for _, v := range numbers {
		a = max(a, v)
	}
	return max(a, b, c, d)
}
