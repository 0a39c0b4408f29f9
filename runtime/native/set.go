package native

import (
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
	keys keyTable       // of form Hash
	bits account.Region // of form Direct
	rows rowTable       // of form Wide
	// convert is the size in bytes from which a bit set may replace a hash
	// table.
	convert int64
}

func newTupleSet(m *account.Memory, what string, lay *layout.Key, convert int64) *tupleSet {
	s := &tupleSet{lay: lay, mem: m, what: what, form: lay.Form, convert: convert}
	s.keys.Memory, s.bits.Memory, s.rows.Memory = m, m, m
	return s
}

// room returns the number of tuples that the present table holds.
func (s *tupleSet) room() int {
	switch s.form {
	case abi.Hash:
		return roomOf(&s.keys.Region, s.keys.mask)
	case abi.Wide:
		return roomOf(&s.rows.Region, s.rows.mask)
	}
	return machine.MaxRows
}

// roomOf is two thirds of a table's slots.
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
	case s.form == abi.Wide:
		return s.rows.build(s.mem, s.what, slotsFor(need+need/2), r.wideColumns(), r.rows())
	}
	slots := slotsFor(need)
	if s.keys.Data == nil {
		return s.keys.make(s.mem, s.what, slots)
	}
	slots = max(slots, 2*int(s.keys.mask+1))
	if s.lay.Open && s.prefersBits(r, 8*slots) {
		return s.toBits(r, s.lay.BitmapBytes())
	}
	return s.keys.resize(s.what, slots, nil)
}

// A hash table gives way to a bit set when the pages that the tuples touch take
// at most touchedFactor times the memory of the table, or clusteredFactor times
// if tuples that follow each other are near each other: then most inserts find
// their word in the cache, where each one misses it in the hash table.
const (
	touchedFactor   = 2
	clusteredFactor = 16
	// clustered is how many new tuples in succession share a page at least.
	clustered = 8
	// bitsOfPage is the number of tuples that a page of a bit set tells apart.
	bitsOfPage = 8 * 4096
)

// prefersBits reports whether a bit set is better than a hash table of table
// bytes.
func (s *tupleSet) prefersBits(r *relation, table int) bool {
	bytes := int64(s.lay.BitmapBytes())
	if bytes == 0 || int64(table) < s.convert || bytes > min(s.mem.Room()/2, s.mem.Spare()) {
		return false
	}
	if bytes <= touchedFactor*int64(table) {
		return true
	}
	seen := make([]uint64, (s.lay.Size/bitsOfPage+64)/64)
	touched := 0
	s.pack(r, func(key uint64) {
		page := key / bitsOfPage
		if seen[page/64]>>(page%64)&1 == 0 {
			seen[page/64] |= 1 << (page % 64)
			touched++
		}
	})
	factor := touchedFactor
	if s.clusters(r) {
		factor = clusteredFactor
	}
	return touched*4096 <= factor*table
}

// clusters looks at the newest tuples.
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

// toBits turns a hash table into a bit set. Rows that follow each other are
// near each other in the bit set more often than keys of the hash table are.
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
	if s.lay.Open && s.keys.Data == nil {
		s.form = s.lay.Form
	}
	return nil
}

func (s *tupleSet) free() {
	s.keys.Free()
	s.bits.Free()
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
	}
	return s.bits.Address(), 0
}
