package spill

import (
	"math/bits"
	"slices"
)

// packing makes a key of the words of a tuple: they are numbers from the least
// one of their columns on, side by side in as few words as hold all of them.
type packing struct {
	cols []packed
	keys int // words of a key
}

// packed is how a column is packed: words less lo, up to span.
type packed struct {
	lo    int64
	span  uint64
	key   int
	shift uint8
}

// packingOf returns the packing of the tuples in blocks.
func packingOf(blocks []block, width int) packing {
	p := packing{cols: make([]packed, width), keys: 1}
	used := 0
	for c := range p.cols {
		lo, hi := blocks[0].cols[c].lo, blocks[0].cols[c].hi
		for i := range blocks {
			lo, hi = min(lo, blocks[i].cols[c].lo), max(hi, blocks[i].cols[c].hi)
		}
		span := uint64(hi) - uint64(lo)
		n := bits.Len64(span)
		if used+n > 64 {
			p.keys, used = p.keys+1, 0
		}
		p.cols[c] = packed{lo: lo, span: span, key: p.keys - 1, shift: uint8(used)}
		used += n
	}
	return p
}

// pack sets a key to that of row i of columns. It is false if there is none: a
// word is out of bounds.
func (p *packing) pack(key []uint64, cols [][]int64, i int) bool {
	clear(key)
	for c := range p.cols {
		x := &p.cols[c]
		n := uint64(cols[c][i]) - uint64(x.lo)
		if n > x.span {
			return false
		}
		key[x.key] |= n << x.shift
	}
	return true
}

// word returns the word of a column in a key.
func (p *packing) word(key []uint64, col int) int64 {
	x := &p.cols[col]
	return int64(key[x.key]>>x.shift&(1<<bits.Len64(x.span)-1)) + x.lo
}

func hashKey(key []uint64) uint64 {
	h := hash(int64(key[0]))
	for _, k := range key[1:] {
		h = hash(int64(h ^ k))
	}
	return h
}

// keySet is a set of keys with room for a number of them. Slots are taken from
// the place of a key's hash on.
type keySet struct {
	packing
	slots []uint64 // keys
	taken []uint64 // a bit for each slot that was ever taken
	gone  []uint64 // a bit for each key that was removed
	room  int
	rows  int
	mask  int
	key   []uint64
}

// slotsOf returns how many slots a set of rows has.
func slotsOf(rows int64) int64 { return 1 << bits.Len64(uint64(max(rows*3/2, 63))) }

// keySetBytes is what a set with a number of slots takes.
func keySetBytes(keys int, slots int64) int64 { return slots*int64(8*keys) + slots/4 }

func newKeySet(p packing, slots int64) *keySet {
	return &keySet{packing: p, slots: make([]uint64, slots*int64(p.keys)),
		taken: make([]uint64, slots/64), gone: make([]uint64, slots/64),
		room: int(slots) * 3 / 4, mask: int(slots) - 1, key: make([]uint64, p.keys)}
}

// find returns the slot of the key that was packed last, and whether the set
// has it.
func (s *keySet) find(hash uint64) (slot int, has bool) {
	k := s.keys
	for slot = int(hash) & s.mask; s.taken[slot>>6]>>(slot&63)&1 == 1; slot = (slot + 1) & s.mask {
		if slices.Equal(s.slots[slot*k:][:k], s.key) {
			return slot, true
		}
	}
	return slot, false
}

// insert adds a tuple, unless the set has it. It is false if there is no room.
func (s *keySet) insert(cols [][]int64, i int) bool {
	s.pack(s.key, cols, i)
	slot, has := s.find(hashKey(s.key))
	if has {
		return true
	}
	if s.rows == s.room {
		return false
	}
	s.rows++
	copy(s.slots[slot*s.keys:], s.key)
	s.taken[slot>>6] |= 1 << (slot & 63)
	return true
}

// remove takes tuples out of the set that are there. Nothing is inserted
// afterwards.
func (s *keySet) remove(cols [][]int64, n int) {
	for i := range n {
		if !s.pack(s.key, cols, i) {
			continue
		}
		if slot, has := s.find(hashKey(s.key)); has {
			s.gone[slot>>6] |= 1 << (slot & 63)
		}
	}
}

// each calls f with the tuples that are left, as columns.
func (s *keySet) each(f func(cols [][]int64, n int) error) error {
	cols := make([][]int64, len(s.cols))
	for i := range cols {
		cols[i] = make([]int64, factRows)
	}
	n := 0
	for at, taken := range s.taken {
		for left := taken &^ s.gone[at]; left != 0; left &= left - 1 {
			slot := at<<6 + bits.TrailingZeros64(left)
			for c := range cols {
				cols[c][n] = s.word(s.slots[slot*s.keys:], c)
			}
			if n++; n == factRows {
				if err := f(cols, n); err != nil {
					return err
				}
				n = 0
			}
		}
	}
	if n == 0 {
		return nil
	}
	return f(cols, n)
}

// difference puts the candidates that a variable does not have into a bag, each
// once. Candidates are in memory a class of their hashes at a time; what the
// variable has is read beside them and not kept.
func (r *run) difference(name string, candidates, have, news *bag) error {
	f := r.filler(news)
	d := differ{run: r, name: name, candidates: candidates, have: have,
		packing: packingOf(candidates.blocks, candidates.tuple), to: f}
	d.most = 64
	for keySetBytes(d.packing.keys, 2*d.most) <= r.mem.Room()/2 {
		d.most *= 2
	}
	b := uint8(0)
	for slotsOf(candidates.rows>>b) > d.most && int(b) < r.mostParts(candidates.tuple) {
		b++
	}
	for class := range uint64(1) << b {
		if err := d.class(dim{wholeRow, b, class}); err != nil {
			return err
		}
	}
	return f.close()
}

// differ is the work of difference.
type differ struct {
	*run
	packing
	name             string
	candidates, have *bag
	most             int64 // slots of a set
	to               *filler
}

// class is difference for a class of tuples, by halves if they do not fit.
func (d *differ) class(class dim) error {
	fits, err := d.fit(class)
	if fits || err != nil {
		return err
	}
	for half := range uint64(2) {
		if err := d.class(dim{wholeRow, class.bits + 1, class.class<<1 | half}); err != nil {
			return err
		}
	}
	return nil
}

// fit is class, and false if the class does not fit.
func (d *differ) fit(class dim) (bool, error) {
	var dims []dim
	if class.bits > 0 {
		dims = []dim{class}
	}
	blocks, rest, err := d.within(d.candidates, dims)
	if err != nil {
		return false, err
	}
	rows := int64(0)
	for i := range blocks {
		rows += int64(blocks[i].rows)
	}
	slots := min(slotsOf(rows), d.most)
	held := keySetBytes(d.packing.keys, slots)
	if err := d.mem.Reserve(d.name, held); err != nil {
		return false, err
	}
	defer d.mem.Release(held)
	set, fits := newKeySet(d.packing, slots), true
	width := d.candidates.tuple
	all := firstColumns(width)
	err = d.each(d.candidates, blocks, all, func(cols [][]int64, n int) error {
		for i := 0; i < n && fits; i++ {
			if rest == nil || classOfHash(hashRow(cols, i), class.bits) == class.class {
				fits = set.insert(cols, i)
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

// near returns the blocks of what the variable has that can have tuples of a
// set.
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
