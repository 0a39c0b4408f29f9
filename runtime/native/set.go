package native

import (
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// tupleSet is the set of the tuples of a derived relation.
type tupleSet struct {
	lay  *layout.Key
	mem  *account.Memory
	what string
	form abi.Form
	keys keyTable       // for form Hash
	bits account.Region // for forms Direct and Numbered
	rows rowTable       // for form Wide
	// numbered and numbers are what form Numbered has besides bits.
	numbered numberedBits
	numbers  account.Region
	until    int // the number of tuples up to which form Numbered pays
	// convert is the size of a hash table, in bytes, from which a bit set may
	// replace it.
	convert int64
}

func newTupleSet(m *account.Memory, what string, lay *layout.Key, convert int64) *tupleSet {
	s := &tupleSet{lay: lay, mem: m, what: what, form: lay.Form, convert: convert}
	s.keys.Memory, s.bits.Memory, s.rows.Memory, s.numbers.Memory = m, m, m, m
	return s
}

// room returns the number of tuples that the table has room for.
func (s *tupleSet) room() int {
	switch s.form {
	case abi.Hash:
		return roomOf(&s.keys.Region, s.keys.mask)
	case abi.Wide:
		return roomOf(&s.rows.Region, s.rows.mask)
	case abi.Numbered:
		return s.until
	}
	return machine.MaxRows
}

// roomOf returns the capacity of a hash table: two thirds of its slots.
func roomOf(r *account.Region, mask uint64) int {
	if r.Data == nil {
		return 0
	}
	return int(machine.RoomOf(mask))
}

// makeRoom makes room for need tuples in all.
func (s *tupleSet) makeRoom(r *relation, need int) error {
	switch {
	case s.form == abi.Direct && s.bits.Data == nil:
		return s.bits.Alloc(s.mem, s.what, s.lay.BitmapBytes())
	case need <= s.room():
		return nil
	case s.form == abi.Numbered:
		s.freeBits()
		return s.toBits(r, s.lay.BitmapBytes())
	case s.form == abi.Wide:
		return s.rows.build(s.mem, s.what, slotsFor(need+need/2), r.wideColumns(), r.rows())
	}
	slots := slotsFor(need)
	if s.keys.Data == nil {
		return s.keys.make(s.mem, s.what, slots)
	}
	slots = max(slots, 2*int(s.keys.mask+1))
	if s.lay.Open {
		switch s.preferred(r, 8*slots) {
		case abi.Direct:
			return s.toBits(r, s.lay.BitmapBytes())
		case abi.Numbered:
			return s.toNumbered(r)
		}
	}
	return s.keys.resize(s.what, slots, nil)
}

// A hash table gives way to a bit set when the pages that the tuples touch take
// at most touchedFactor times the memory of the table, or clusteredFactor times
// if tuples that follow each other are near each other: then most inserts find
// their word in the cache, where each one misses it in the hash table. A bit
// set of numbered values may take numberedFactor times the memory, all of it:
// its pages cost less than filling tables that double twice more.
const (
	touchedFactor   = 2
	clusteredFactor = 16
	numberedFactor  = 12
	// clustered is the smallest average number of successive new tuples that
	// share a page.
	clustered = 8
	// bitsOfPage is the number of tuples in a page of a bit set.
	bitsOfPage = 8 * pageBytes
	pageBytes  = 4096
)

// numberedGrowth is the growth, in tuples, after which a set of form Numbered
// gives up its numbers if they save less than half of the pages, because each
// tuple needs a lookup of its number.
const numberedGrowth = 8

// preferred returns the best form of a set that is now a hash table of table
// bytes.
func (s *tupleSet) preferred(r *relation, table int) abi.Form {
	bytes := int64(s.lay.BitmapBytes())
	if bytes == 0 || int64(table) < s.convert || bytes > min(s.mem.Room()/2, s.mem.Spare()) {
		return abi.Hash
	}
	if bytes <= touchedFactor*int64(table) {
		return abi.Direct
	}
	seen := make([]uint64, (s.lay.Size/bitsOfPage+64)/64)
	touched := 0
	low, rests, numbered := lowest(s.lay)
	values, mask := newDistinct(low.Bits), low.Mask()
	s.pack(r, func(key uint64) {
		page := key / bitsOfPage
		if seen[page/64]>>(page%64)&1 == 0 {
			seen[page/64] |= 1 << (page % 64)
			touched++
		}
		values.add(key & mask)
	})
	touched *= pageBytes
	factor := touchedFactor
	if s.clusters(r) {
		factor = clusteredFactor
	}
	size := int(numberedBytes(uint64(values.count()), rests))
	half := 2*size <= touched
	switch {
	case numbered && size <= numberedFactor*table && (half || 4*size <= 3*touched &&
		touched > factor*table):
		s.until = machine.MaxRows
		if !half {
			s.until = numberedGrowth * r.rows()
		}
		return abi.Numbered
	case touched <= factor*table:
		return abi.Direct
	}
	return abi.Hash
}

// clusters reports whether the newest tuples, in order, are near each other.
func (s *tupleSet) clusters(r *relation) bool {
	const sample = 1 << 14
	until := r.rows()
	from := max(0, until-sample)
	keys, block := make([]uint64, until-from), make([]int64, until-from)
	for i, f := range s.lay.Fields {
		r.cols[i].Read(block, from)
		for k, w := range block {
			keys[k] |= uint64(w-f.Base) << (f.Shift & 63)
		}
	}
	pages := map[uint64]bool{}
	for _, k := range keys {
		pages[k/bitsOfPage] = true
	}
	return len(keys) >= clustered*len(pages)
}

// toBits turns the set into a bit set of bytes bytes. It inserts the tuples in
// row order, because successive rows are more often near each other than keys
// of the hash table are.
func (s *tupleSet) toBits(r *relation, bytes int) error {
	s.bits.Sparse = true
	if err := s.bits.Grow(s.what, bytes); err != nil {
		return err
	}
	s.keys.Free()
	s.form = abi.Direct
	s.enter(r)
	return nil
}

// clear empties the set. A small one keeps its memory.
func (s *tupleSet) clear() error {
	for _, r := range []*account.Region{&s.keys.Region, &s.bits, &s.rows.Region} {
		if r.IsMapped() {
			r.Free()
		} else {
			r.Zero(r.Bytes)
		}
	}
	if s.form == abi.Numbered {
		s.freeBits()
	}
	if s.lay.Open && s.keys.Data == nil {
		s.form = s.lay.Form
	}
	return nil
}

func (s *tupleSet) free() {
	s.keys.Free()
	s.freeBits()
	s.rows.Free()
	s.form = s.lay.Form
}

// table returns the address and the mask of the set, for code.
func (s *tupleSet) table() (address int64, mask uint64) {
	switch s.form {
	case abi.Hash:
		return s.keys.Address(), s.keys.mask
	case abi.Wide:
		return s.rows.Address(), s.rows.mask
	case abi.Numbered:
		return int64(uintptr(unsafe.Pointer(&s.numbered))), s.lay.Size
	}
	return s.bits.Address(), 0
}
