package tables

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Grouping is what tables of groups are made for.
type Grouping struct {
	Name string // for messages
	Key  interval.Layout
	Accs []AccSpec
	// Counts says that the rows of each group are counted.
	Counts bool
	// Ordered says that rows come in the order of their keys.
	Ordered bool
}

// Groups is a hash table of groups: their packed keys, and the accumulators by
// the group's number.
type Groups struct {
	agg    *Grouping
	mem    *work.Memory
	N      int
	Keys   []uint64
	direct []uint32 // 1 + the number of a group, by key
	slots  []groupSlot
	mask   uint64
	Counts []int64
	Accs   []accumulator
	room   int   // of the accumulators, in groups
	held   int64 // bytes accounted for them
	limit  int   // of groups, see full
	Taken  []int // groups that another table has taken over, ascending
	rows   int   // that were added
	kept   bool  // by a Fold, whose memory it is
}

// groupSlot is a place of the hash table: a key of one word or the hash of a
// longer one, and 1 + the group's number, or 0.
type groupSlot [2]uint64

const (
	slotWord = iota
	slotNumber
)

// MaxDirectGroups is the largest key domain, in bits, that is addressed
// directly.
const MaxDirectGroups = 16

// mostDirectGroups is the largest key domain, in bits, that is addressed
// directly if there are enough groups.
const mostDirectGroups = 24

// IsDense reports whether a number of groups is a large part of the domain of
// their keys, so that a table that addresses keys directly is small for them.
func (a *Grouping) IsDense(groups int) bool {
	return !a.Ordered && a.Key.Words == 1 && a.Key.Bits <= mostDirectGroups &&
		groups >= 1<<a.Key.Bits/8
}

// FewKeys reports whether there are many more rows than keys can be, so that a
// table that addresses keys directly costs little, however many groups it has.
func (a *Grouping) FewKeys(rows int) bool {
	return !a.Ordered && a.Key.Words == 1 && a.Key.Bits <= mostDirectGroups &&
		rows >= 4<<a.Key.Bits
}

// NewGroups returns a table with room for the expected number of groups. It
// grows if there are more. Dense says that it addresses keys directly.
func NewGroups(a *Grouping, r *work.Run, expected int, dense bool) *Groups {
	mem := r.Mem
	t := &Groups{agg: a, mem: mem, limit: r.Sizes.Groups}
	if dense || a.Key.Words == 1 && a.Key.Bits <= MaxDirectGroups {
		t.direct = work.Alloc[uint32](mem, a.Name, 1<<a.Key.Bits)
	}
	for _, s := range a.Accs {
		t.Accs = append(t.Accs, newAccumulator(s))
	}
	if expected > 0 {
		t.Keys = work.Regrow(mem, a.Name, t.Keys, expected*a.Key.Words)
		t.reserve(expected)
		if t.direct == nil && !a.Ordered {
			t.makeSlots(1 << bits.Len(uint(2*expected)))
		}
	}
	return t
}

// reduction is how many rows a group must have taken on average for a table to
// grow past its limit.
const reduction = 4

// Full reports whether the table has outgrown the cache without making much
// fewer groups out of its rows. Its worker then leaves it as it is and begins
// another one (Müller et al., SIGMOD 2015).
func (t *Groups) Full() bool {
	if t.direct != nil || t.agg.Ordered || t.N < t.limit {
		return false
	}
	if t.rows >= reduction*t.N {
		t.limit *= 2
		return false
	}
	return true
}

// Free gives back the memory of the keys and the hash table, if it is the
// table's own.
func (t *Groups) Free() {
	if t.kept {
		return
	}
	work.Free(t.mem, t.Keys)
	work.Free(t.mem, t.direct)
	work.Free(t.mem, t.slots)
	t.mem.Release(t.held)
	t.Keys, t.direct, t.slots, t.held = nil, nil, nil, 0
}

// accBytes is what a group takes in an accumulator, about: their slices grow by
// doubling.
const accBytes = 24

// reserve makes room for the accumulators of n groups.
func (t *Groups) reserve(n int) {
	if n <= t.room {
		return
	}
	room := max(n, 2*t.room, 16)
	bytes := accBytes * len(t.Accs)
	if t.agg.Counts {
		bytes += 8
		t.Counts = growTo(t.Counts, room)
	}
	more := int64(room-t.room) * int64(bytes)
	t.mem.MustReserve(t.agg.Name, more)
	t.held += more
	for _, a := range t.Accs {
		a.grow(room)
	}
	t.room = room
}

// number returns the group of a key, which it adds if necessary.
func (t *Groups) number(key []uint64) uint32 {
	kw := len(key)
	if kw == 0 {
		if t.N == 0 {
			t.newGroup(key)
		}
		return 0
	}
	if t.direct != nil {
		p := &t.direct[key[0]]
		if *p == 0 {
			*p = t.newGroup(key)
		}
		return *p - 1
	}
	if 2*(t.N+1) > len(t.slots) {
		t.rehash()
	}
	word, h := key[0], work.HashKey(key)
	if kw > 1 {
		word = h
	}
	at := h & t.mask
	for {
		slot := &t.slots[at]
		if slot[slotNumber] == 0 {
			n := t.newGroup(key)
			*slot = groupSlot{word, uint64(n)}
			return n - 1
		}
		if g := int(slot[slotNumber]); slot[slotWord] == word &&
			(kw == 1 || work.EqualWords(t.Keys[(g-1)*kw:g*kw], key)) {
			return uint32(g - 1)
		}
		at = (at + 1) & t.mask
	}
}

func (t *Groups) newGroup(key []uint64) uint32 {
	if t.N == math.MaxUint32-1 {
		work.Abort(work.TooManyRows(t.agg.Name))
	}
	t.Keys = append(work.Regrow(t.mem, t.agg.Name, t.Keys, (t.N+1)*len(key)), key...)
	t.N++
	t.reserve(t.N)
	return uint32(t.N)
}

func (t *Groups) makeSlots(n int) {
	t.slots = work.Alloc[groupSlot](t.mem, t.agg.Name, n)
	t.mask = uint64(n - 1)
}

// leastSlots is the size of the smallest table.
const leastSlots = 64

func (t *Groups) rehash() {
	had := t.slots
	t.makeSlots(max(leastSlots, 2*len(had)))
	long := t.agg.Key.Words > 1
	for _, slot := range had {
		if slot[slotNumber] == 0 {
			continue
		}
		h := slot[slotWord]
		if !long {
			h = work.HashWord(h)
		}
		at := h & t.mask
		for t.slots[at][slotNumber] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[at] = slot
	}
	work.Free(t.mem, had)
}

// numberAll finds the groups of packed keys, a row each.
func (t *Groups) numberAll(keys []uint64, ids []uint32) {
	kw := t.agg.Key.Words
	switch {
	case t.direct != nil:
		for i, k := range keys[:len(ids)] {
			g := t.direct[k]
			if g == 0 {
				g = t.number(keys[i:i+1]) + 1
			}
			ids[i] = g - 1
		}
	case t.agg.Ordered:
		t.numberOrdered(keys, ids)
	case kw == 1:
		t.numberWords(keys, ids)
	default:
		for i := range ids {
			ids[i] = t.number(keys[i*kw : i*kw+kw])
		}
	}
}

// numberWords is numberAll for keys of one word, most of which are there. In
// rows that are sorted by the key, or nearly, many keys are that of the row
// before.
func (t *Groups) numberWords(keys []uint64, ids []uint32) {
	if len(ids) == 0 {
		return
	}
	last, id := ^keys[0], uint32(0)
	slots, mask := t.slots, t.mask
	for i, k := range keys[:len(ids)] {
		if k == last {
			ids[i] = id
			continue
		}
		last = k
		at := work.HashWord(k) & mask
		for {
			if at >= uint64(len(slots)) || slots[at][slotNumber] == 0 {
				id = t.number(keys[i : i+1])
				slots, mask = t.slots, t.mask
				break
			}
			if slots[at][slotWord] == k {
				id = uint32(slots[at][slotNumber] - 1)
				break
			}
			at = (at + 1) & mask
		}
		ids[i] = id
	}
}

// Add adds rows: their packed keys, and the vector of each accumulator. ids has
// room for the number of each row's group.
func (t *Groups) Add(keys []uint64, ids []uint32, cols [][]int64) {
	t.rows += len(ids)
	if t.agg.Key.Words == 0 {
		t.number(nil)
		if t.agg.Counts {
			t.Counts[0] += int64(len(ids))
		}
		ids = nil
	} else {
		t.numberAll(keys, ids)
		if counts := t.Counts; t.agg.Counts {
			for _, g := range ids {
				counts[g]++
			}
		}
	}
	for i, a := range t.Accs {
		a.add(ids, cols[i])
	}
}

// AddCopies is Add for rows that stand for several, of which the groups keep
// counts only.
func (t *Groups) AddCopies(keys []uint64, ids []uint32, copies []uint64) {
	t.rows += len(ids)
	if t.agg.Key.Words == 0 {
		t.number(nil)
		clear(ids)
	} else {
		t.numberAll(keys, ids)
	}
	for i, g := range ids {
		t.Counts[g] += int64(copies[i])
	}
}

// merge adds groups of another table, as accumulator's merge does.
func (t *Groups) merge(from *Groups, numbers []uint32, n int) {
	kw := t.agg.Key.Words
	keys, ids := from.Keys, make([]uint32, n)
	if numbers != nil {
		keys = make([]uint64, 0, n*kw)
		for _, g := range numbers {
			keys = append(keys, from.Keys[int(g)*kw:int(g)*kw+kw]...)
		}
	}
	if kw == 0 && n > 0 {
		t.number(nil)
	} else {
		t.numberAll(keys, ids)
	}
	if t.agg.Counts {
		for k, id := range ids {
			t.Counts[id] += from.Counts[numberAt(numbers, k)]
		}
	}
	for i, a := range t.Accs {
		a.merge(from.Accs[i], numbers, ids)
	}
}

// maxPartitions bounds the parts that groups are merged in.
const maxPartitions = 1 << 10

// MergeGroups returns tables with each group once. Few groups, and those of
// tables that address keys directly, are merged into one table; many others in
// partitions by hash, each small enough for the cache and merged by one worker.
func MergeGroups(r *work.Run, tables []*Groups) []*Groups {
	total := 0
	for _, t := range tables {
		total += t.N
	}
	if len(tables) <= 1 {
		return tables
	}
	agg := tables[0].agg
	if agg.Ordered {
		settle(tables)
		return tables
	}
	if total <= r.Sizes.Groups/4 || agg.Key.Words == 0 || tables[0].direct != nil {
		for _, t := range tables[1:] {
			tables[0].merge(t, nil, t.N)
			t.Free()
		}
		return tables[:1]
	}
	digits := uint(1)
	for 1<<digits < maxPartitions && total>>digits > r.Sizes.Groups/2 {
		digits++
	}
	sorted := make([]partitioned, len(tables))
	r.Tasks(len(tables), func(i int) { sorted[i] = partition(tables[i], digits) })
	merged := make([]*Groups, 1<<digits)
	r.Tasks(len(merged), func(p int) {
		most := 0
		for _, s := range sorted {
			most += len(s.part(p))
		}
		merged[p] = NewGroups(agg, r, most, false)
		for i, t := range tables {
			numbers := sorted[i].part(p)
			merged[p].merge(t, numbers, len(numbers))
		}
	})
	for _, t := range tables {
		t.Free()
	}
	return merged
}

// partitioned is the numbers of a table's groups, sorted by partition.
type partitioned struct {
	numbers []uint32
	starts  []int // of each partition, and the end
}

func (s *partitioned) part(p int) []uint32 { return s.numbers[s.starts[p]:s.starts[p+1]] }

func partition(t *Groups, digits uint) partitioned {
	kw := t.agg.Key.Words
	out := partitioned{numbers: make([]uint32, t.N), starts: make([]int, 1<<digits+2)}
	of := make([]uint16, t.N)
	for g := range of {
		p := work.HashKey(t.Keys[g*kw:g*kw+kw]) >> (64 - digits)
		of[g] = uint16(p)
		out.starts[p+2]++
	}
	for p := 2; p < len(out.starts); p++ {
		out.starts[p] += out.starts[p-1]
	}
	// Filling a partition moves its start, one entry on, to its end.
	for g, p := range of {
		out.numbers[out.starts[p+1]] = uint32(g)
		out.starts[p+1]++
	}
	out.starts = out.starts[:1<<digits+1]
	return out
}
