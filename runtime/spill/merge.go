package spill

import (
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
)

// rangesOf returns the bounds of the columns of the tuples in blocks.
func rangesOf(blocks []block, width int) []interval.Interval {
	out := make([]interval.Interval, width)
	for c := range out {
		out[c] = interval.None
		for i := range blocks {
			f := blocks[i].cols[c]
			out[c] = out[c].Union(interval.Interval{Lo: f.lo, Hi: f.hi})
		}
	}
	return out
}

// hashKey is the hash of a packed tuple.
func hashKey(key []uint64) (h uint64) {
	for _, k := range key {
		h = hash(int64(h ^ k))
	}
	return h
}

// keySet is a set of packed tuples with a fixed capacity: a hash table with
// linear probing.
type keySet struct {
	interval.Layout
	ranges []interval.Interval // of the columns
	slots  []uint64            // packed tuples
	taken  []uint64            // a bit for each slot that was ever taken
	gone   []uint64            // a bit for each tuple that was removed
	room   int
	rows   int
	mask   int
	keys   []uint64 // packed tuples that are looked up
}

// mostSlots bounds the slots, so that their numbers have 32 bits.
const mostSlots = 1 << 32

// slotsOf returns the number of slots of a set of rows.
func slotsOf(rows int64) int64 { return 1 << bits.Len64(uint64(max(rows*3/2, 63))) }

// keySetBytes returns the memory of a set, given its slots and the words of a
// tuple.
func keySetBytes(words int, slots int64) int64 { return slots*int64(8*words) + slots/4 }

func newKeySet(ranges []interval.Interval, slots int64) *keySet {
	l := interval.NewLayout(ranges)
	return &keySet{Layout: l, ranges: ranges, slots: make([]uint64, slots*int64(l.Words)),
		taken: make([]uint64, slots/64), gone: make([]uint64, slots/64),
		room: int(slots) * 3 / 4, mask: int(slots) - 1}
}

// pack packs n tuples for key, until the next call.
func (s *keySet) pack(cols [][]int64, n int) {
	s.keys = slices.Grow(s.keys[:0], n*s.Words)[:n*s.Words]
	s.Pack(s.keys, cols, n)
}

func (s *keySet) key(i int) []uint64 { return s.keys[i*s.Words:][:s.Words] }

// find returns the slot of a packed tuple, and whether the set has it.
func (s *keySet) find(key []uint64) (slot int, has bool) {
	slot = int(hashKey(key)) & s.mask
	for ; s.taken[slot>>6]>>(slot&63)&1 == 1; slot = (slot + 1) & s.mask {
		if slices.Equal(s.slots[slot*s.Words:][:s.Words], key) {
			return slot, true
		}
	}
	return slot, false
}

// insert adds a packed tuple. It returns false if the set is full.
func (s *keySet) insert(key []uint64) bool {
	slot, has := s.find(key)
	if has {
		return true
	}
	if s.rows == s.room {
		return false
	}
	s.rows++
	copy(s.slots[slot*s.Words:], key)
	s.taken[slot>>6] |= 1 << (slot & 63)
	return true
}

// remove removes those of some tuples that the set contains. No insertion may
// follow.
func (s *keySet) remove(cols [][]int64, n int) {
	s.pack(cols, n) // a tuple that covers refuses becomes some other key
	for i := range n {
		if !s.covers(cols, i) {
			continue
		}
		if slot, has := s.find(s.key(i)); has {
			s.gone[slot>>6] |= 1 << (slot & 63)
		}
	}
}

// covers reports whether row i lies within the ranges.
func (s *keySet) covers(cols [][]int64, i int) bool {
	for c, r := range s.ranges {
		if !r.Contains(cols[c][i]) {
			return false
		}
	}
	return true
}

// each calls f with the tuples that are left, as columns.
func (s *keySet) each(f func(cols [][]int64, n int) error) error {
	cols := make([][]int64, len(s.ranges))
	for i := range cols {
		cols[i] = make([]int64, factRows)
	}
	var slots []uint32
	flush := func() error {
		for i := range cols {
			s.UnpackAt(cols[i], s.slots, slots, i)
		}
		n := len(slots)
		slots = slots[:0]
		return f(cols, n)
	}
	for at, taken := range s.taken {
		for left := taken &^ s.gone[at]; left != 0; left &= left - 1 {
			slots = append(slots, uint32(at<<6+bits.TrailingZeros64(left)))
			if len(slots) < factRows {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(slots) == 0 {
		return nil
	}
	return flush()
}

// difference adds the candidates that a variable does not contain to a bag,
// each once. One class of the candidates at a time is in memory; the contents
// of the variable stream past it.
func (r *run) difference(name string, candidates, have, news *bag) error {
	f := r.filler(news)
	d := differ{run: r, name: name, candidates: candidates, have: have,
		ranges: rangesOf(candidates.blocks, candidates.tuple), to: f}
	d.words = interval.NewLayout(d.ranges).Words
	d.most = 64
	for d.most < mostSlots && keySetBytes(d.words, 2*d.most) <= r.mem.Room()/2 {
		d.most *= 2
	}
	b := uint8(0)
	for slotsOf(candidates.rows>>b) > d.most && int(b) < r.mostParts(candidates.tuple) {
		b++
	}
	for class := range uint64(1) << b {
		if err := d.class(dim{col: wholeRow, bits: b, class: class}); err != nil {
			return err
		}
	}
	return f.close()
}

// differ is the work of difference.
type differ struct {
	*run
	ranges           []interval.Interval // of the candidates' columns
	words            int                 // of a packed tuple
	name             string
	candidates, have *bag
	most             int64 // slots of a set
	to               *filler
}

// class is difference for a class of tuples, or for its halves if it does not
// fit.
func (d *differ) class(class dim) error {
	fits, err := d.fit(class)
	if fits || err != nil {
		return err
	}
	for half := range uint64(2) {
		if err := d.class(dim{col: wholeRow, bits: class.bits + 1,
			class: class.class<<1 | half}); err != nil {
			return err
		}
	}
	return nil
}

// fit is class; it returns false if the class does not fit the memory.
func (d *differ) fit(class dim) (bool, error) {
	var dims []dim
	if class.bits > 0 {
		dims = []dim{class}
	}
	blocks, rest, err := d.within(d.candidates, dims)
	if err != nil {
		return false, err
	}
	slots := min(slotsOf(rowsOf(blocks)), d.most)
	held := keySetBytes(d.words, slots)
	if err := d.mem.Reserve(d.name, held); err != nil {
		return false, err
	}
	defer d.mem.Release(held)
	set, fits := newKeySet(d.ranges, slots), true
	width := d.candidates.tuple
	all := firstColumns(width)
	err = d.each(d.candidates, blocks, all, func(cols [][]int64, n int) error {
		set.pack(cols, n)
		for i := 0; i < n && fits; i++ {
			if rest == nil || classOfHash(hashRow(cols, i), class.bits) == class.class {
				fits = set.insert(set.key(i))
			}
		}
		return nil
	})
	if err != nil || !fits || set.rows == 0 {
		return fits, err
	}
	if blocks, err = d.near(set); err != nil {
		return true, err
	}
	err = d.each(d.have, blocks, all, func(cols [][]int64, n int) error {
		set.remove(cols, n)
		return nil
	})
	if err != nil {
		return true, err
	}
	return true, set.each(d.to.columns)
}

// near returns the blocks of the variable that may contain tuples of a set.
func (d *differ) near(set *keySet) ([]block, error) {
	bytes := d.have.bytes()
	if bytes <= d.bound/32 {
		return d.have.blocks, nil
	}
	want := min(bits.Len64(uint64(bytes/(d.bound/32))), d.mostParts(len(d.have.types)))
	c, err := d.cut(d.have, []dim{{col: wholeRow, bits: uint8(want)}})
	if err != nil {
		return nil, err
	}
	b := c.dims[0].bits
	wanted := make([]bool, 1<<b)
	err = set.each(func(cols [][]int64, n int) error {
		for i := range n {
			wanted[classOfHash(hashRow(cols, i), b)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	blocks := slices.Clone(d.have.blocks[c.done:])
	for class, is := range wanted {
		if is {
			blocks = append(blocks, c.parts[class]...)
		}
	}
	return blocks, nil
}
