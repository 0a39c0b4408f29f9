package shape

import (
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/target"
)

const (
	// ownMemory is what the tables of a block's own groups may take of its
	// shared memory: four or five such blocks are enough to keep the memory
	// busy.
	ownMemory = 46 << 10
	// mostOwnBits bounds the places. With a few thousand groups, the atomics of
	// all blocks seldom meet in one cell and do not wait for each other.
	mostOwnBits = 11
	// slotBits is the logarithm of the slots of a hash table for each place.
	// With four slots, a warp finds nearly all keys at once.
	slotBits = 2
	// leastOwnBits bounds the places of a useful table.
	leastOwnBits = 5
	// copyBits are spare places of groups with numbers, for the lanes of a
	// warp.
	copyBits = 5
	// copyMemory bounds a table with spare places: it leaves room for as many
	// blocks as there are registers for.
	copyMemory = 26 << 10
	// queuedMemory bounds tables behind a queue, which few rows reach: the rest
	// of the memory caches what is looked up ahead of it.
	queuedMemory = 12 << 10
	// queuedShare is the share of a source's rows up to which rows behind a
	// queue go to the groups of all blocks at once, if the block's own would
	// need a search.
	queuedShare = 0.02
	// mostPlaces bounds tables with a place for each of many groups: it has 16
	// bits.
	mostPlaces = 1 << 16
	// largeThreads is how many threads of a multiprocessor keep its memory
	// busy, in the few blocks that such tables leave room for; mostThreads
	// bounds a block's.
	largeThreads, mostThreads = 1024, 1024
	// mostSharing bounds the blocks that share the groups: with more, atomics
	// of all blocks are as fast.
	mostSharing = 8
)

// Table is the layout of a block's own table of groups (primitives/src/own.h).
type Table struct {
	Bits     int // the logarithm of Places; 0 in a large table
	SlotBits int // of the table's words: more than Bits if keys are searched
	// Places is how many groups the table holds, and Slots how many words tell
	// them, 0 in a large table, whose places are the groups' numbers.
	Places, Slots int
	Fits          bool // every group has a place
	// Sharing is how many blocks each hold a share of the groups; 0 for all in
	// each.
	Sharing int
	Accs    []TableCells
	Count   TablePart  // the rows of a place, if an accumulator asks for them
	Witness *TablePart // digits that are not all 0 once a place has had a row; nil if unknown
	Size    int        // bytes

	sink   *harmony.Group
	digits []int
}

// TablePart is a part of the table: digits of 32 bits, or words if there are
// none. None begins at 0 in a table with words of its own.
type TablePart struct{ At, Digits int }

// TableCells are the cells of an accumulator. Accumulators of the same operand
// share those of its sum.
type TableCells struct {
	TablePart
	Like int // the accumulator whose cells they are
}

// take makes room for the table.
func (t *Table) take(m *Memory) {
	if t.IsLarge() {
		take(&m.Dynamic, t.Size)
	} else {
		take(&m.Shared, t.Size)
	}
}

// IsLarge reports whether the table has a place for each of many groups,
// without words that tell them. The launch then provides its memory.
func (t *Table) IsLarge() bool { return t.Slots == 0 }

// countDigits is the number of digits that count the rows of a group.
func (f *Function) countDigits() int {
	if f.expands() {
		return 2
	}
	return 1
}

// sumDigits is the number of digits of an operand's sum in a block. Blocks add
// less than 2^32 rows, unless expansions make them.
func (f *Function) sumDigits(o harmony.Operand) int {
	switch {
	case f.expands():
		return 4
	case f.sumFits(o, rowsAtMost):
		return 2
	}
	return 3
}

// chooseTable lays out a table for the groups of a sink; nil if there is no
// room for a useful one.
func (f *Function) chooseTable(s *harmony.Group) *Table {
	tables := 0
	for _, s := range f.Kernel.Sinks {
		if s, ok := s.(*harmony.Group); ok && len(s.Key) > 0 {
			tables++
		}
	}
	room := min(ownMemory/tables, target.StaticShared-f.Memory.Shared-scratchReserve)
	if f.Queue != nil {
		room = min(room, queuedMemory)
	}
	t := &Table{}
	f.setSink(t, s)
	most, numbered := f.numbers(GroupKey, s.To.Name, len(s.Key))
	switch {
	case numbered && most <= mostOwnBits &&
		f.fill(t, min(most+copyBits, mostOwnBits), 0, min(room, copyMemory)) && most <= t.Bits,
		numbered && most <= mostOwnBits && f.fill(t, most, 0, room) && most == t.Bits:
		t.Fits = true
	case numbered && f.layLarge(t):
	case f.Queue != nil && f.Queue.Left < queuedShare, !f.fill(t, mostOwnBits-1, slotBits, room):
		return nil
	}
	return t
}

// setSink says which accumulators a table is for.
func (f *Function) setSink(t *Table, s *harmony.Group) {
	t.sink, t.digits = s, nil
	for _, v := range s.Vals {
		t.digits = append(t.digits, f.sumDigits(v))
	}
}

// fill gives the table as many places as there is room for, up to a number. It
// reports whether they are enough to be useful.
func (f *Function) fill(t *Table, most, slots, room int) bool {
	for ; most >= leastOwnBits; most-- {
		t.Bits, t.SlotBits = most, most+slots
		t.Places, t.Slots = 1<<t.Bits, 1<<t.SlotBits
		if f.place(t); t.Size <= room {
			return true
		}
	}
	return false
}

// place lays out the parts behind the table's words.
func (f *Function) place(t *Table) {
	accs := t.sink.To.Accs
	t.Size, t.Accs, t.Count, t.Witness = 0, make([]TableCells, len(accs)), TablePart{}, nil
	part := func(bytes int) int {
		at := t.Size
		t.Size += Aligned(bytes)
		return at
	}
	if t.Slots > 0 {
		part(8 * (t.Slots + 1))
	}
	for i, a := range accs {
		c := &t.Accs[i]
		if c.Like = i; a.Fn.IsTotal() {
			c.Like = SameSum(t.sink, i)
		}
		switch {
		case a.Fn == queryplan.Count, a.Shares > 0:
		case c.Like < i:
			c.TablePart = t.Accs[c.Like].TablePart
		case IsExtreme(a):
			c.At = part(8 * t.Places)
		case a.In.Kind == scalar.Float:
			c.At = part(8 * abi.FloatSumWords * t.Places)
		default:
			c.Digits = t.digits[i]
			c.At = part(4 * c.Digits * t.Places)
			if t.Witness == nil && f.isPositive(t.sink.Vals[i]) {
				t.Witness = &c.TablePart
			}
		}
		if Counts(a) && t.Count.Digits == 0 {
			t.Count.Digits = f.countDigits()
			t.Count.At = part(4 * t.Count.Digits * t.Places)
			t.Witness = &t.Count
		}
	}
	if t.IsLarge() && t.Witness == nil { // nothing else tells groups with rows
		t.Count.Digits = f.countDigits()
		t.Count.At = t.Size
		t.Size += 4 * t.Count.Digits * t.Places
		t.Witness = &t.Count
	}
}

// isPositive reports whether an operand is above 0, so that the sum of at least
// one is not 0 if its digits hold it.
func (f *Function) isPositive(o harmony.Operand) bool {
	lo, _, ok := f.boundsOf(o)
	return ok && lo > 0
}

// layLarge lays out a table with a place for each of many groups with numbers,
// if a multiprocessor's shared memory has room for one. Atomics there are ten
// times as fast as those of all blocks on cells in the second-level cache,
// which then come once for a place and block.
//
// It needs rows that are read in order: lookups need that memory as a cache,
// and more threads that wait. The few blocks that there is room for get more
// threads.
//
// If one table cannot hold all groups, several blocks that work on the same
// rows hold a share each: what they read comes from the second-level cache for
// all but one of them. Shares pay when all rows are grouped, hundreds for each
// group: a share costs about as much as reading the rows and finding their
// groups, whether or not they are its own.
func (f *Function) layLarge(t *Table) bool {
	name := t.sink.To.Name
	size, known := f.Fixed(abi.GroupSize, name, 0)
	if !known || size > mostPlaces*mostSharing || f.Queue != nil || f.probes() ||
		len(f.Kernel.Sinks) > 1 {
		return false
	}
	if f.layShare(t, size) {
		return true
	}
	// Dropped decimals would be counted by each of the blocks, so nothing may
	// drop rows.
	plain := !slices.ContainsFunc(f.Kernel.Stages, func(s harmony.Stage) bool {
		_, loads := s.(*harmony.Load)
		_, maps := s.(*harmony.Map)
		return !loads && !maps
	})
	if !plain {
		return false
	}
	if crowded, known := f.Fixed(abi.GroupCrowded, name, 0); !known || crowded == 0 {
		return false
	}
	for sharing := int64(2); sharing <= mostSharing; sharing++ {
		if f.layShare(t, (size+sharing-1)/sharing) {
			t.Sharing = int(sharing)
			return true
		}
	}
	return false
}

// layShare lays out a table with a number of places, if there is room for it.
func (f *Function) layShare(t *Table, size int64) bool {
	if size > mostPlaces {
		return false
	}
	large := &Table{sink: t.sink, digits: t.digits, Fits: true, Places: int(size+3) / 4 * 4}
	f.place(large)
	if f.blocksWith(large) == 0 || large.Size > f.dynamicRoom() {
		return false
	}
	*t = *large
	if large.Witness == &large.Count { // a part of the table itself
		t.Witness = &t.Count
	}
	return true
}

// blocksWith is how many blocks with such a table a multiprocessor has room
// for.
func (f *Function) blocksWith(t *Table) int {
	return f.options.Target.MostShared() / (t.Size + scratchReserve + blockShared)
}

// largeTable returns the large table of a function, or nil.
func (f *Function) largeTable() *Table {
	for _, g := range f.Groups {
		if g.Table != nil && g.Table.IsLarge() {
			return g.Table
		}
	}
	return nil
}

// bitsOf returns the logarithm of a power of two.
func bitsOf(n int) int { return bits.Len(uint(n)) - 1 }
