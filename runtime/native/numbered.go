package native

import (
	"math/bits"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
)

// numberedBits is a bit set of form Numbered as native code reads it: struct
// Set of namespace numbered in primitives/src/tables.h.
type numberedBits struct {
	words, numbers uintptr
	shift          uint64
	rests          uint64
	given, held    uint32
}

// place returns the position of the bit for a number and the other columns.
func (b *numberedBits) place(number, rest uint64) uint64 {
	return (number>>abi.LineBits*b.rests+rest)<<abi.LineBits | number&(1<<abi.LineBits-1)
}

// numberedBytes returns the size, in bytes, of a set of form Numbered whose
// lowest column has that many distinct values.
func numberedBytes(values, rests uint64) uint64 {
	return (values>>abi.LineBits + 1) * rests << abi.LineBits / 8
}

// lowest returns the field whose values are numbered: the lowest one. ok is
// false unless there are several fields.
func lowest(lay *layout.Key) (f interval.Field, rests uint64, ok bool) {
	for _, f := range lay.Fields {
		if f.Shift == 0 && f.Bits > 0 && f.Bits <= maxNumberedBits && !lay.Parted {
			rests = (lay.Size-1)>>f.Bits + 1
			return f, rests, rests > 1
		}
	}
	return f, 0, false
}

// maxNumberedBits bounds the table of the numbers, which has to stay in the
// cache.
const maxNumberedBits = 22

// distinct is the set of distinct words in a column, as a bit set.
type distinct []uint64

func newDistinct(fieldBits uint8) distinct { return make(distinct, 1<<fieldBits/64+1) }

func (d distinct) add(v uint64) { d[v/64] |= 1 << (v % 64) }

func (d distinct) count() (n int) {
	for _, w := range d {
		n += bits.OnesCount64(w)
	}
	return n
}

// toNumbered turns a hash table into a bit set of form Numbered. The bits of
// unused numbers lie at the end and take no memory.
func (s *tupleSet) toNumbered(r *relation) error {
	low, rests, _ := lowest(s.lay)
	if err := s.numbers.Alloc(s.mem, s.what, 4<<low.Bits); err != nil {
		return err
	}
	if err := s.bits.Grow(s.what, int(numberedBytes(1<<low.Bits, rests))); err != nil {
		return err
	}
	s.numbered = numberedBits{words: uintptr(s.bits.Data), numbers: uintptr(s.numbers.Data),
		shift: uint64(low.Bits), rests: rests}
	s.keys.Free()
	s.form = abi.Numbered
	s.enter(r)
	return nil
}

// enterNumbered is enter for form Numbered.
func (s *tupleSet) enterNumbered(r *relation) {
	words, by := account.Words(&s.bits), &s.numbered
	numbers := unsafe.Slice((*uint32)(s.numbers.Data), s.numbers.Bytes/4)
	mask := uint64(1)<<by.shift - 1
	s.pack(r, func(key uint64) {
		number := &numbers[key&mask]
		if *number == 0 {
			by.given++
			*number = by.given
		}
		at := by.place(uint64(*number), key>>by.shift)
		words[at/64] |= 1 << (at % 64)
	})
}

// freeBits frees a bit set, and the numbers of form Numbered.
func (s *tupleSet) freeBits() {
	s.bits.Free()
	s.numbers.Free()
	s.numbered = numberedBits{}
}
