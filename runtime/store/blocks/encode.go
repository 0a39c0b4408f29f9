package blocks

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/bitpack"
)

// mostEntries bounds the distinct entries in a block of form Dictionary.
const mostEntries = 256

// Encoder packs blocks. It has room for one at a time.
type Encoder[T bitpack.Unsigned] struct {
	// Floats means that entries are words of floats.
	Floats bool

	numbers []T // entries or differences, less a base
	rows    []uint16
	some    []T
	table   [4 * mostEntries]entry[T]
	used    []T // the different entries
}

// entry is a slot of a hash table.
type entry[T bitpack.Unsigned] struct {
	value  T
	number uint16 // from 1; 0 if the slot is free
}

// gain sets a threshold: a form must save 1/gain of a block over a simpler
// form, because that is faster to unpack.
const gain = 32

// Pack appends the block of 1 to Rows entries, and returns its header. The
// caller sets the checksum.
func (e *Encoder[T]) Pack(dst []byte, entries []T) (Header, []byte) {
	lo, hi := bitpack.Extremes(entries)
	h := Header{Least: uint64(lo), Greatest: uint64(hi), First: uint64(lo)}
	if lo == hi {
		return h, dst
	}
	best := h
	take := func(h Header) {
		h.Size = uint32(h.size(len(entries)))
		if best.Form == Constant || h.Size+h.Size/gain < best.Size {
			best = h
		}
	}
	h.Form = Packed
	h.Bits = uint8(bits.Len64(uint64(hi - lo)))
	take(h)
	e.subtract(entries, lo)
	take(e.patched(h))
	steps := e.steps(entries)
	for _, step := range steps {
		d := Header{Form: Delta, Least: h.Least, Greatest: h.Greatest, Step: uint64(step),
			First: uint64(entries[0] - step)}
		e.differences(entries, step)
		take(e.patched(d))
	}
	if int(best.Size) > bitpack.Bytes(len(entries), 2) && e.find(entries) {
		d := Header{Form: Dictionary, Least: h.Least, Greatest: h.Greatest, First: h.First,
			Count: uint32(len(e.used)), Bits: uint8(bits.Len(uint(len(e.used) - 1))),
			MoreBits: h.Bits}
		take(d)
	}
	if n, longest := runsOf(entries); n < len(entries)/2 {
		take(Header{Form: Runs, Least: h.Least, Greatest: h.Greatest, First: h.First,
			Count: uint32(n), Bits: uint8(bits.Len(uint(longest - 1))), MoreBits: h.Bits})
	}
	if e.Floats {
		if d, ok := e.decimals(wordsOf(entries), h); ok {
			take(d)
		}
	}
	at := len(dst)
	dst = append(dst, make([]byte, best.Size)...)
	e.write(dst[at:], entries, &best)
	return best, dst
}

// subtract sets the numbers for form Packed.
func (e *Encoder[T]) subtract(entries []T, lo T) {
	e.numbers = e.numbers[:0]
	for _, v := range entries {
		e.numbers = append(e.numbers, v-lo)
	}
}

// differences sets the numbers for form Delta.
func (e *Encoder[T]) differences(entries []T, step T) {
	e.numbers = append(e.numbers[:0], 0)
	for i, v := range entries[1:] {
		e.numbers = append(e.numbers, v-entries[i]-step)
	}
}

// steps returns the candidates for the step that form Delta subtracts from
// differences between entries: the least difference, and also 0 if some are
// negative.
func (e *Encoder[T]) steps(entries []T) []T {
	sign := T(1) << (8*unsafe.Sizeof(T(0)) - 1)
	lo, hi := ^T(0), T(0)
	for i, v := range entries[1:] {
		d := v - entries[i] + sign // in the order of signed numbers
		lo, hi = min(lo, d), max(hi, d)
	}
	if lo == hi || lo >= sign {
		return []T{lo - sign}
	}
	return []T{lo - sign, 0}
}

// patched returns a header of form Packed or Delta for the numbers, with the
// number of bits for which the block is smallest.
func (e *Encoder[T]) patched(h Header) Header {
	var lengths [65]int
	for _, v := range e.numbers {
		lengths[bits.Len64(uint64(v))]++
	}
	most := 64
	for most > 0 && lengths[most] == 0 {
		most--
	}
	best, least, over := h, -1, 0
	for n := most; n >= 0; n-- {
		h.Bits, h.Count, h.MoreBits = uint8(n), uint32(over), uint8(most-n)
		if over == 0 {
			h.MoreBits = 0
		}
		if size := h.size(len(e.numbers)); least < 0 || size < least-least/gain {
			best, least = h, size
		}
		over += lengths[n]
	}
	return best
}

// find numbers the distinct entries in ascending order. It returns false if
// there are more than mostEntries.
func (e *Encoder[T]) find(entries []T) bool {
	clear(e.table[:])
	e.used = e.used[:0]
	for _, v := range entries {
		p := e.place(v)
		if p.number != 0 {
			continue
		}
		if len(e.used) == mostEntries {
			return false
		}
		e.used = append(e.used, v)
		*p = entry[T]{v, 1}
	}
	slices.SortFunc(e.used, cmp.Compare[T])
	for i, v := range e.used {
		e.place(v).number = uint16(i + 1)
	}
	return true
}

// place returns the slot of an entry in the table.
func (e *Encoder[T]) place(v T) *entry[T] {
	hash := uint64(v) * 0x9e3779b97f4a7c15 >> 54
	for ; ; hash++ {
		if p := &e.table[hash%uint64(len(e.table))]; p.number == 0 || p.value == v {
			return p
		}
	}
}

// runsOf returns the number of runs of equal entries, and the length of the
// longest.
func runsOf[T bitpack.Unsigned](entries []T) (n, longest int) {
	start := 0
	for i := 1; i <= len(entries); i++ {
		if i == len(entries) || entries[i] != entries[start] {
			n, longest, start = n+1, max(longest, i-start), i
		}
	}
	return n, longest
}

// write appends the block that a header describes.
func (e *Encoder[T]) write(dst []byte, entries []T, h *Header) {
	parts := h.parts(len(entries))
	one, two, three := dst[:parts[0]], dst[parts[0]:parts[0]+parts[1]], dst[parts[0]+parts[1]:]
	e.rows, e.some = e.rows[:0], e.some[:0]
	switch h.Form {
	case Packed, Delta:
		if h.Form == Packed {
			e.subtract(entries, T(h.First))
		} else {
			e.differences(entries, T(h.Step))
		}
		if h.Count > 0 {
			low := T(1)<<h.Bits - 1
			for i, v := range e.numbers {
				if v > low {
					e.rows, e.some = append(e.rows, uint16(i)), append(e.some, v>>h.Bits)
					e.numbers[i] = v & low
				}
			}
		}
		pack(one, e.numbers, h.Bits, 0)
		pack(two, e.rows, PositionBits, 0)
		pack(three, e.some, h.MoreBits, 0)
	case Decimal:
		e.split(wordsOf(entries), h)
		pack(one, e.numbers, h.Bits, 0)
		pack(two, e.rows, PositionBits, 0)
		pack(three, e.some, h.MoreBits, 0)
	case Dictionary:
		pack(one, e.used, h.MoreBits, h.First)
		for _, v := range entries {
			e.rows = append(e.rows, e.place(v).number-1)
		}
		pack(two, e.rows, h.Bits, 0)
	case Runs:
		start := 0
		for i := 1; i <= len(entries); i++ {
			if i == len(entries) || entries[i] != entries[start] {
				e.some = append(e.some, entries[start])
				e.rows = append(e.rows, uint16(i-start-1))
				start = i
			}
		}
		pack(one, e.some, h.MoreBits, h.First)
		pack(two, e.rows, h.Bits, 0)
	}
}

func pack[T bitpack.Unsigned](dst []byte, numbers []T, bits uint8, first uint64) {
	if bits > 0 && len(numbers) > 0 {
		bitpack.Pack(dst, numbers, int(bits), first)
	}
}
