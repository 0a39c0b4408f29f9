package tables

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// GrowingIndex is an index on the full and old versions of a table that is
// still growing. Each Merge adds the new delta. The rows of a key are one run,
// which moves to a place of twice the size when it is full, so that probing
// stays sequential.
type GrowingIndex struct {
	name     string
	table    *Table
	Key, Pay interval.Layout
	keyCols  []int // of the table
	payCols  []int
	rows     int // of the table that are in the index
	// last says that a later row of a key takes the place of an earlier one.
	last bool
	// unused says that nothing has used the index since MarkUnused.
	unused bool

	// groups by packed key: direct if the keys' domain is small, else by open
	// addressing with slots of 1 + the group's number.
	direct []uint32
	slots  []uint32
	mask   uint64
	keys   []uint64 // of the groups
	groups []uint32 // groupWords each
	n      int      // groups

	// The payload of the groups' runs: one of the two, the first for payloads
	// of up to 32 bits.
	narrow *arena[uint32]
	broad  *arena[uint64]
	round  uint32
	token  *Token
	// The rows of the versions as bits.
	fullBits, oldBits bitRows
	keyDomain         uint64 // packed keys that can be

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

func newGrowingIndex(t *Table, ranges []interval.Interval, keyCols, payCols []int, last bool,
	size int) *GrowingIndex {
	pick := func(cols []int) []interval.Interval {
		out := make([]interval.Interval, len(cols))
		for i, c := range cols {
			out[i] = ranges[c]
		}
		return out
	}
	x := &GrowingIndex{name: "the index on " + t.Name, table: t, keyCols: keyCols, payCols: payCols,
		last: last, token: &Token{},
		Key: interval.NewLayout(pick(keyCols)), Pay: interval.NewLayout(pick(payCols))}
	if x.Key.Words == 1 && x.Key.Bits <= maxDirectBits {
		x.keyDomain = valuesOf(ranges[keyCols[0]]) << x.Key.Fields[0].Shift
	}
	x.size = size
	x.keyVecs, x.payVecs = work.Vectors(len(keyCols), size), work.Vectors(len(payCols), size)
	if x.Key.Words <= 1 && x.Key.Bits <= maxDirect {
		x.direct = work.Alloc[uint32](t.mem, x.name, 1<<x.Key.Bits)
	}
	switch {
	case x.Pay.Words == 0:
	case x.Pay.Words == 1 && x.Pay.Bits <= 32:
		x.narrow = &arena[uint32]{mem: t.mem, name: x.name, stride: 1}
	default:
		x.broad = &arena[uint64]{mem: t.mem, name: x.name, stride: x.Pay.Words}
	}
	x.keyBuf = make([]uint64, size*x.Key.Words)
	x.payBuf = make([]uint64, size*x.Pay.Words)
	x.add(t.old.list)
	x.extend()
	return x
}

func (x *GrowingIndex) free() {
	mem := x.table.mem
	work.Free(mem, x.direct)
	work.Free(mem, x.slots)
	work.Free(mem, x.keys)
	work.Free(mem, x.groups)
	x.fullBits.free(mem)
	x.oldBits.free(mem)
	x.direct, x.slots, x.keys, x.groups, x.n, x.rows = nil, nil, nil, nil, 0, 0
	if x.narrow != nil {
		x.narrow.reset()
	}
	if x.broad != nil {
		x.broad.reset()
	}
}

// Freed reports whether the index has lost its contents, as with its table's.
func (x *GrowingIndex) Freed() bool { return x.groups == nil }

// Use notes that the index is used.
func (x *GrowingIndex) Use() { x.unused = false }

// MarkUnused takes the growing indexes of a table to be unused from now on.
func (t *Table) MarkUnused() {
	for _, x := range t.growing {
		x.unused = true
	}
}

// DropUnused frees the growing indexes that nothing has used since MarkUnused.
// Each Merge would extend them.
func (t *Table) DropUnused() {
	t.growing = slices.DeleteFunc(t.growing, func(x *GrowingIndex) bool {
		if x.unused {
			x.free()
		}
		return x.unused
	})
}

// extend adds the table's delta.
func (x *GrowingIndex) extend() {
	x.round++
	x.add(x.table.delta.list)
}

func (x *GrowingIndex) add(list []Span) {
	x.blocks(list, x.rows, func(n int) {
		x.Pay.Pack(x.payBuf, x.payVecs, n)
		x.addRows(n)
		x.rows += n
	})
}

// blocks reads rows of the table, of which the first has the given position. It
// calls f with the number of rows whose packed keys are in keyBuf, and their
// payload in payVecs.
func (x *GrowingIndex) blocks(list []Span, first int, f func(n int)) {
	t := x.table
	for _, s := range list {
		if slices.Contains(x.keyCols, t.Position()) || slices.Contains(x.payCols, t.Position()) {
			t.CheckPositions(first + s.Rows())
		}
		for from := 0; from < s.Rows(); {
			n := min(s.Rows()-from, x.size)
			rows := s.Packed(t.Layout.Words, from, n)
			for i, c := range x.keyCols {
				t.Unpack(x.keyVecs[i], rows, c, n, first)
			}
			for i, c := range x.payCols {
				t.Unpack(x.payVecs[i], rows, c, n, first)
			}
			x.Key.Pack(x.keyBuf, x.keyVecs, n)
			f(n)
			from += n
			first += n
		}
	}
}

func (x *GrowingIndex) addRows(n int) {
	kw, pw := x.Key.Words, x.Pay.Words
	for i := range n {
		g := x.group(x.keyBuf[i*kw : i*kw+kw])
		w := x.groups[g*groupWords:][:groupWords]
		if x.last {
			w[groupLen] = 0
		}
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
func (x *GrowingIndex) move(w []uint32) {
	if x.narrow != nil {
		w[groupStart] = x.narrow.move(w[groupStart], w[groupRoom])
	} else {
		w[groupStart] = x.broad.move(w[groupStart], w[groupRoom])
	}
	w[groupRoom] = max(leastRoom, 2*w[groupRoom])
}

// Payload reads column i of the payload at the given places.
func (x *GrowingIndex) Payload(dst []int64, places []uint32, i int) {
	if x.narrow != nil {
		unpackNarrow(dst, x.narrow.words, places, x.Pay.Fields[i])
		return
	}
	var words []uint64
	if x.broad != nil {
		words = x.broad.words
	}
	x.Pay.UnpackAt(dst, words, places, i)
}

// Run returns the payload, if it is one narrow column.
func (x *GrowingIndex) Run() (words []uint32, base int64) {
	if x.narrow == nil {
		return nil, 0
	}
	return runOf(x.narrow.words, &x.Pay)
}

// Token stands for the index until it is freed.
func (x *GrowingIndex) Token() *Token { return x.token }

// group returns the number of a key's group, which it adds if necessary.
func (x *GrowingIndex) group(key []uint64) int {
	mem := x.table.mem
	var slot *uint32
	if x.direct != nil {
		slot = &x.direct[directKey(key)]
	} else {
		if 2*(x.n+1) > len(x.slots) {
			x.rehash()
		}
		at := work.HashKey(key) & x.mask
		for x.slots[at] != 0 && !work.EqualWords(x.keyOf(x.slots[at]-1), key) {
			at = (at + 1) & x.mask
		}
		slot = &x.slots[at]
	}
	if *slot == 0 {
		kw := x.Key.Words
		x.groups = work.Regrow(mem, x.name, x.groups, (x.n+1)*groupWords)[:(x.n+1)*groupWords]
		x.keys = work.Regrow(mem, x.name, x.keys, (x.n+1)*kw)[:(x.n+1)*kw]
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

func (x *GrowingIndex) keyOf(g uint32) []uint64 {
	kw := x.Key.Words
	return x.keys[int(g)*kw : int(g)*kw+kw]
}

func (x *GrowingIndex) rehash() {
	mem := x.table.mem
	work.Free(mem, x.slots)
	size := max(64, 2*len(x.slots))
	x.slots = work.Alloc[uint32](mem, x.name, size)
	x.mask = uint64(size - 1)
	for g := range x.n {
		at := work.HashKey(x.keyOf(uint32(g))) & x.mask
		for x.slots[at] != 0 {
			at = (at + 1) & x.mask
		}
		x.slots[at] = uint32(g + 1)
	}
}

// find returns a key's group, or -1.
func (x *GrowingIndex) find(key []uint64) int {
	if x.direct != nil {
		return int(x.direct[directKey(key)]) - 1
	}
	if x.slots == nil {
		return -1
	}
	at := work.HashKey(key) & x.mask
	for x.slots[at] != 0 {
		if g := x.slots[at] - 1; work.EqualWords(x.keyOf(g), key) {
			return int(g)
		}
		at = (at + 1) & x.mask
	}
	return -1
}

// growingVersion is a GrowingIndex as it finds the rows of a version.
type growingVersion struct {
	*GrowingIndex
	version queryplan.Version
}

// Of returns the index of a version.
func (x *GrowingIndex) Of(v queryplan.Version) Finder { return growingVersion{x, v} }

// KeyLayout returns the layout of keys.
func (x *GrowingIndex) KeyLayout() *interval.Layout { return &x.Key }

// Distinct is false, as rows are still to come.
func (x *GrowingIndex) Distinct() bool { return false }

// Dense is false: a key outside its bounds cannot be packed.
func (x *GrowingIndex) Dense() bool { return false }

// Lookup finds the runs of n packed keys; keys that are not valid have none.
func (v growingVersion) Lookup(keys []uint64, valid []bool, n int, out *Runs) {
	x, old := v.GrowingIndex, v.version == queryplan.Old
	kw := x.Key.Words
	for i := range n {
		out.Count[i] = 0
		if valid != nil && !valid[i] {
			continue
		}
		g := x.find(keys[i*kw : i*kw+kw])
		if g < 0 {
			continue
		}
		w := x.groups[g*groupWords:][:groupWords]
		out.Start[i], out.Count[i] = w[groupStart], w[groupLen]
		if old && w[groupRound] == x.round {
			out.Count[i] = w[groupOldLen]
		}
	}
}

// Growing returns the table's index of the columns, which it makes on the first
// call. It has all rows of a key, or the last one of them.
func (t *Table) Growing(ranges []interval.Interval, keyCols, payCols []int, last bool,
	size int) *GrowingIndex {
	for _, x := range t.growing {
		if x.last == last && slices.Equal(x.keyCols, keyCols) && slices.Equal(x.payCols, payCols) {
			return x
		}
	}
	x := newGrowingIndex(t, ranges, keyCols, payCols, last, size)
	t.growing = append(t.growing, x)
	return x
}
