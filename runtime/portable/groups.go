package portable

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/interval"
)

// grouping is what tables of groups are made for.
type grouping struct {
	name string // for messages
	key  interval.Layout
	accs []accSpec
	// counts says that the rows of each group are counted.
	counts bool
	// ordered says that rows come in the order of their keys.
	ordered bool
}

// groups is a hash table of groups: their packed keys, and the accumulators by
// the group's number.
type groups struct {
	agg    *grouping
	mem    *memory
	n      int
	keys   []uint64
	direct []uint32 // 1 + the number of a group, by key
	slots  []groupSlot
	mask   uint64
	counts []int64
	accs   []accumulator
	room   int   // of the accumulators, in groups
	held   int64 // bytes accounted for them
	limit  int   // of groups, see full
	taken  []int // groups that another table has taken over, ascending
	rows   int   // that were added
}

// groupSlot is a place of the hash table: a key of one word or the hash of a longer
// one, and 1 + the group's number, 0 where there is none.
type groupSlot [2]uint64

const (
	slotWord = iota
	slotNumber
)

// maxDirectGroups is the largest key domain, in bits, that is addressed
// directly.
const maxDirectGroups = 16

// newGroups returns a table with places for so many groups. More may come.
func newGroups(a *grouping, r *run, expected int) *groups {
	mem := r.mem
	t := &groups{agg: a, mem: mem, limit: r.opts.groups}
	if a.key.Words == 1 && a.key.Bits <= maxDirectGroups {
		t.direct = alloc[uint32](mem, a.name, 1<<a.key.Bits)
	}
	for _, s := range a.accs {
		t.accs = append(t.accs, newAccumulator(s))
	}
	if expected > 0 {
		t.keys = regrow(mem, a.name, t.keys, expected*a.key.Words)
		t.reserve(expected)
		if t.direct == nil && !a.ordered {
			t.makeSlots(1 << bits.Len(uint(2*expected)))
		}
	}
	return t
}

// reduction is how many rows a group must have taken on average for a table to
// grow past its limit.
const reduction = 4

// full reports whether the table has outgrown the cache without making much
// fewer groups out of its rows. Its worker then leaves it as it is and begins
// another one (Müller et al., SIGMOD 2015).
func (t *groups) full() bool {
	if t.direct != nil || t.agg.ordered || t.n < t.limit {
		return false
	}
	if t.rows >= reduction*t.n {
		t.limit *= 2
		return false
	}
	return true
}

func (t *groups) free() {
	free(t.mem, t.keys)
	free(t.mem, t.direct)
	free(t.mem, t.slots)
	t.mem.Release(t.held)
	t.keys, t.direct, t.slots, t.held = nil, nil, nil, 0
}

// accBytes is what a group takes in an accumulator, about: their slices grow by
// doubling.
const accBytes = 24

// reserve makes room for the accumulators of n groups.
func (t *groups) reserve(n int) {
	if n <= t.room {
		return
	}
	room := max(n, 2*t.room, 16)
	bytes := accBytes * len(t.accs)
	if t.agg.counts {
		bytes += 8
		t.counts = growTo(t.counts, room)
	}
	more := int64(room-t.room) * int64(bytes)
	t.mem.reserve(t.agg.name, more)
	t.held += more
	for _, a := range t.accs {
		a.grow(room)
	}
	t.room = room
}

// number returns a key's group, a new one if there is none.
func (t *groups) number(key []uint64) uint32 {
	kw := len(key)
	if kw == 0 {
		if t.n == 0 {
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
	if 2*(t.n+1) > len(t.slots) {
		t.rehash()
	}
	word, h := key[0], hashKey(key)
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
		if g := int(slot[slotNumber]); slot[slotWord] == word && (kw == 1 || equalWords(t.keys[(g-1)*kw:g*kw], key)) {
			return uint32(g - 1)
		}
		at = (at + 1) & t.mask
	}
}

func (t *groups) newGroup(key []uint64) uint32 {
	if t.n == math.MaxUint32-1 {
		abort(errIndexRows{t.agg.name})
	}
	t.keys = append(regrow(t.mem, t.agg.name, t.keys, (t.n+1)*len(key)), key...)
	t.n++
	t.reserve(t.n)
	return uint32(t.n)
}

func (t *groups) makeSlots(n int) {
	t.slots = alloc[groupSlot](t.mem, t.agg.name, n)
	t.mask = uint64(n - 1)
}

// leastSlots is the size of the smallest table.
const leastSlots = 64

func (t *groups) rehash() {
	had := t.slots
	t.makeSlots(max(leastSlots, 2*len(had)))
	long := t.agg.key.Words > 1
	for _, slot := range had {
		if slot[slotNumber] == 0 {
			continue
		}
		h := slot[slotWord]
		if !long {
			h = hashWord(h)
		}
		at := h & t.mask
		for t.slots[at][slotNumber] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[at] = slot
	}
	free(t.mem, had)
}

// numberAll finds the groups of packed keys, a row each.
func (t *groups) numberAll(keys []uint64, ids []uint32) {
	kw := t.agg.key.Words
	switch {
	case t.direct != nil:
		for i, k := range keys[:len(ids)] {
			g := t.direct[k]
			if g == 0 {
				g = t.number(keys[i:i+1]) + 1
			}
			ids[i] = g - 1
		}
	case t.agg.ordered:
		t.numberOrdered(keys, ids)
	case kw == 1:
		t.numberWords(keys, ids)
	default:
		for i := range ids {
			ids[i] = t.number(keys[i*kw : i*kw+kw])
		}
	}
}

// numberWords is numberAll for keys of one word, most of which are there. In rows that
// are sorted by the key, or nearly, many keys are that of the row before.
func (t *groups) numberWords(keys []uint64, ids []uint32) {
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
		at := hashWord(k) & mask
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

// add adds rows: their packed keys, and the vector of each accumulator. ids has
// room for the number of each row's group.
func (t *groups) add(keys []uint64, ids []uint32, cols [][]int64) {
	t.rows += len(ids)
	if t.agg.key.Words == 0 {
		t.number(nil)
		if t.agg.counts {
			t.counts[0] += int64(len(ids))
		}
		ids = nil
	} else {
		t.numberAll(keys, ids)
		if counts := t.counts; t.agg.counts {
			for _, g := range ids {
				counts[g]++
			}
		}
	}
	for i, a := range t.accs {
		a.add(ids, cols[i])
	}
}

// merge adds groups of another table, as accumulator's merge does.
func (t *groups) merge(from *groups, numbers []uint32, n int) {
	kw := t.agg.key.Words
	keys, ids := from.keys, make([]uint32, n)
	if numbers != nil {
		keys = make([]uint64, 0, n*kw)
		for _, g := range numbers {
			keys = append(keys, from.keys[int(g)*kw:int(g)*kw+kw]...)
		}
	}
	if kw == 0 && n > 0 {
		t.number(nil)
	} else {
		t.numberAll(keys, ids)
	}
	if t.agg.counts {
		for k, id := range ids {
			t.counts[id] += from.counts[numberAt(numbers, k)]
		}
	}
	for i, a := range t.accs {
		a.merge(from.accs[i], numbers, ids)
	}
}

// maxPartitions bounds the parts that groups are merged in.
const maxPartitions = 1 << 10

// mergeGroups returns tables with each group once. Few groups are merged into one
// table; many in partitions by hash, each small enough for the cache and merged
// by one worker.
func mergeGroups(r *run, tables []*groups) []*groups {
	total := 0
	for _, t := range tables {
		total += t.n
	}
	if len(tables) <= 1 {
		return tables
	}
	agg := tables[0].agg
	if agg.ordered {
		settle(tables)
		return tables
	}
	if total <= r.opts.groups/4 || agg.key.Words == 0 {
		for _, t := range tables[1:] {
			tables[0].merge(t, nil, t.n)
			t.free()
		}
		return tables[:1]
	}
	digits := uint(1)
	for 1<<digits < maxPartitions && total>>digits > r.opts.groups/2 {
		digits++
	}
	sorted := make([]partitioned, len(tables))
	r.tasks(len(tables), func(i int) { sorted[i] = partition(tables[i], digits) })
	merged := make([]*groups, 1<<digits)
	r.tasks(len(merged), func(p int) {
		most := 0
		for _, s := range sorted {
			most += len(s.part(p))
		}
		merged[p] = newGroups(agg, r, most)
		for i, t := range tables {
			numbers := sorted[i].part(p)
			merged[p].merge(t, numbers, len(numbers))
		}
	})
	for _, t := range tables {
		t.free()
	}
	return merged
}

// partitioned is the numbers of a table's groups, sorted by partition.
type partitioned struct {
	numbers []uint32
	starts  []int // of each partition, and the end
}

func (s *partitioned) part(p int) []uint32 { return s.numbers[s.starts[p]:s.starts[p+1]] }

func partition(t *groups, digits uint) partitioned {
	kw := t.agg.key.Words
	out := partitioned{numbers: make([]uint32, t.n), starts: make([]int, 1<<digits+2)}
	of := make([]uint16, t.n)
	for g := range of {
		p := hashKey(t.keys[g*kw:g*kw+kw]) >> (64 - digits)
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
