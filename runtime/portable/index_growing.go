package portable

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// growingIndex is an index on the full and old versions of a table that is
// still growing. Each Merge adds the new delta. The rows of a key are one run,
// which moves to a place of twice the size when it is full, so that probing
// stays sequential.
type growingIndex struct {
	name     string
	table    *table
	key, pay interval.Layout
	keyCols  []int // of the table
	payCols  []int

	// groups by packed key: direct if the keys' domain is small, else by open
	// addressing with slots of 1 + the group's number.
	direct []uint32
	slots  []uint32
	mask   uint64
	keys   []uint64 // of the groups
	groups []uint32 // groupWords each
	n      int      // groups

	// The payload of the groups' runs: one of the two, the first for payloads of
	// up to 32 bits.
	narrow *arena[uint32]
	broad  *arena[uint64]
	round  uint32

	size             int // rows that are added at a time
	keyBuf, payBuf   []uint64
	keyVecs, payVecs [][]int64
}

// The words of a group: where its run starts, its length and room, and the
// length that it had before the given round.
const (
	groupStart = iota
	groupLen
	groupRoom
	groupOldLen
	groupRound
	groupWords
)

// maxDirect is the largest key domain that is addressed directly, in bits.
const maxDirect = 22

func newGrowingIndex(t *table, ranges []interval.Interval, keyCols, payCols []int, size int) *growingIndex {
	pick := func(cols []int) []interval.Interval {
		out := make([]interval.Interval, len(cols))
		for i, c := range cols {
			out[i] = ranges[c]
		}
		return out
	}
	x := &growingIndex{name: "the index on " + t.name, table: t, keyCols: keyCols, payCols: payCols,
		key: interval.NewLayout(pick(keyCols)), pay: interval.NewLayout(pick(payCols))}
	x.size = size
	x.keyVecs, x.payVecs = vectors(len(keyCols), size), vectors(len(payCols), size)
	if x.key.Words <= 1 && x.key.Bits <= maxDirect {
		x.direct = alloc[uint32](t.mem, x.name, 1<<x.key.Bits)
	}
	switch {
	case x.pay.Words == 0:
	case x.pay.Words == 1 && x.pay.Bits <= 32:
		x.narrow = &arena[uint32]{mem: t.mem, name: x.name, stride: 1}
	default:
		x.broad = &arena[uint64]{mem: t.mem, name: x.name, stride: x.pay.Words}
	}
	x.keyBuf = make([]uint64, size*x.key.Words)
	x.payBuf = make([]uint64, size*x.pay.Words)
	x.add(t.old.list)
	x.extend()
	return x
}

func (x *growingIndex) free() {
	mem := x.table.mem
	free(mem, x.direct)
	free(mem, x.slots)
	free(mem, x.keys)
	free(mem, x.groups)
	x.direct, x.slots, x.keys, x.groups, x.n = nil, nil, nil, nil, 0
	if x.narrow != nil {
		x.narrow.reset()
	}
	if x.broad != nil {
		x.broad.reset()
	}
}

// freed reports whether the index has lost its contents, as with its table's.
func (x *growingIndex) freed() bool { return x.groups == nil }

// extend adds the table's delta.
func (x *growingIndex) extend() {
	x.round++
	x.add(x.table.delta.list)
}

func (x *growingIndex) add(list []span) {
	lay := &x.table.lay
	for _, s := range list {
		for from := 0; from < s.rows(); {
			n := min(s.rows()-from, x.size)
			rows := s.packed(lay.Words, from, n)
			for i, c := range x.keyCols {
				lay.Unpack(x.keyVecs[i], rows, c, n)
			}
			for i, c := range x.payCols {
				lay.Unpack(x.payVecs[i], rows, c, n)
			}
			x.key.Pack(x.keyBuf, x.keyVecs, n)
			x.pay.Pack(x.payBuf, x.payVecs, n)
			x.addRows(n)
			from += n
		}
	}
}

func (x *growingIndex) addRows(n int) {
	kw, pw := x.key.Words, x.pay.Words
	for i := range n {
		g := x.group(x.keyBuf[i*kw : i*kw+kw])
		w := x.groups[g*groupWords:][:groupWords]
		if w[groupRound] != x.round {
			w[groupRound], w[groupOldLen] = x.round, w[groupLen]
		}
		if pw > 0 && w[groupLen] == w[groupRoom] {
			x.move(w)
		}
		switch at := int(w[groupStart]) + int(w[groupLen]); {
		case x.narrow != nil:
			x.narrow.words[at] = uint32(x.payBuf[i])
		case pw == 1:
			x.broad.words[at] = x.payBuf[i]
		case pw > 1:
			copy(x.broad.words[at*pw:], x.payBuf[i*pw:i*pw+pw])
		}
		w[groupLen]++
	}
}

// move gives a full run twice its room.
func (x *growingIndex) move(w []uint32) {
	if x.narrow != nil {
		w[groupStart] = x.narrow.move(w[groupStart], w[groupRoom])
	} else {
		w[groupStart] = x.broad.move(w[groupStart], w[groupRoom])
	}
	w[groupRoom] = max(leastRoom, 2*w[groupRoom])
}

// payload reads column i of the payload at the given places.
func (x *growingIndex) payload(dst []int64, places []uint32, i int) {
	if x.narrow != nil {
		unpackNarrow(dst, x.narrow.words, places, x.pay.Fields[i])
		return
	}
	var words []uint64
	if x.broad != nil {
		words = x.broad.words
	}
	x.pay.UnpackAt(dst, words, places, i)
}

// group returns the number of a key's group, a new one if there is none.
func (x *growingIndex) group(key []uint64) int {
	mem := x.table.mem
	var slot *uint32
	if x.direct != nil {
		slot = &x.direct[directKey(key)]
	} else {
		if 2*(x.n+1) > len(x.slots) {
			x.rehash()
		}
		at := hashKey(key) & x.mask
		for x.slots[at] != 0 && !equalWords(x.keyOf(x.slots[at]-1), key) {
			at = (at + 1) & x.mask
		}
		slot = &x.slots[at]
	}
	if *slot == 0 {
		kw := x.key.Words
		x.groups = regrow(mem, x.name, x.groups, (x.n+1)*groupWords)[:(x.n+1)*groupWords]
		x.keys = regrow(mem, x.name, x.keys, (x.n+1)*kw)[:(x.n+1)*kw]
		copy(x.keys[x.n*kw:], key)
		x.n++
		*slot = uint32(x.n)
	}
	return int(*slot) - 1
}

// directKey returns the address of a key of at most one word.
func directKey(key []uint64) uint64 {
	if len(key) == 0 {
		return 0
	}
	return key[0]
}

func (x *growingIndex) keyOf(g uint32) []uint64 {
	kw := x.key.Words
	return x.keys[int(g)*kw : int(g)*kw+kw]
}

func (x *growingIndex) rehash() {
	mem := x.table.mem
	free(mem, x.slots)
	size := max(64, 2*len(x.slots))
	x.slots = alloc[uint32](mem, x.name, size)
	x.mask = uint64(size - 1)
	for g := range x.n {
		at := hashKey(x.keyOf(uint32(g))) & x.mask
		for x.slots[at] != 0 {
			at = (at + 1) & x.mask
		}
		x.slots[at] = uint32(g + 1)
	}
}

// find returns a key's group, or -1.
func (x *growingIndex) find(key []uint64) int {
	if x.direct != nil {
		return int(x.direct[directKey(key)]) - 1
	}
	if x.slots == nil {
		return -1
	}
	at := hashKey(key) & x.mask
	for x.slots[at] != 0 {
		if g := x.slots[at] - 1; equalWords(x.keyOf(g), key) {
			return int(g)
		}
		at = (at + 1) & x.mask
	}
	return -1
}

// lookup finds the runs of n packed keys in a version.
func (x *growingIndex) lookup(v queryplan.Version, keys []uint64, valid []bool, n int, out *runs) {
	kw := x.key.Words
	for i := range n {
		out.count[i] = 0
		if valid != nil && !valid[i] {
			continue
		}
		g := x.find(keys[i*kw : i*kw+kw])
		if g < 0 {
			continue
		}
		w := x.groups[g*groupWords:][:groupWords]
		out.start[i], out.count[i] = w[groupStart], w[groupLen]
		if v == queryplan.Old && w[groupRound] == x.round {
			out.count[i] = w[groupOldLen]
		}
	}
}

// growingIndex returns the table's index of those columns, making it if there
// is none.
func (t *table) growingIndex(ranges []interval.Interval, keyCols, payCols []int, size int) *growingIndex {
	for _, x := range t.growing {
		if slices.Equal(x.keyCols, keyCols) && slices.Equal(x.payCols, payCols) {
			return x
		}
	}
	x := newGrowingIndex(t, ranges, keyCols, payCols, size)
	t.growing = append(t.growing, x)
	return x
}
