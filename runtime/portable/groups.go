package portable

import "math"

// groups is a hash table of groups: their packed keys, and the accumulators by
// the group's number.
type groups struct {
	agg    *aggregation
	mem    *memory
	n      int
	keys   []uint64
	direct []uint32 // 1 + the number of a group, by key
	slots  []uint64 // pairs of key or hash, and 1 + the number
	mask   uint64
	counts []int64
	accs   []accumulator
	held   int64 // bytes accounted for accumulators
	limit  int   // of groups, see full
	rows   int   // that were added
}

// groupLimit is where a worker's table begins to outgrow the second-level cache.
const groupLimit = 1 << 16

// maxDirectGroups is the largest key domain, in bits, that is addressed
// directly.
const maxDirectGroups = 16

func newGroups(a *aggregation, r *run) *groups {
	mem := r.mem
	t := &groups{agg: a, mem: mem, limit: r.opts.groups}
	if a.key.Words == 1 && a.key.Bits <= maxDirectGroups {
		t.direct = alloc[uint32](mem, a.name, 1<<a.key.Bits)
	}
	for _, s := range a.accs {
		t.accs = append(t.accs, newAccumulator(s))
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
	if t.direct != nil || t.n < t.limit {
		return false
	}
	if t.rows >= reduction*t.n {
		t.limit *= 2
		return false
	}
	return true
}

// spill makes the accumulators ready to be read by several workers.
func (t *groups) spill() {
	for _, a := range t.accs {
		if w, ok := a.(*wholeAcc); ok {
			w.spill()
		}
	}
}

func (t *groups) free() {
	free(t.mem, t.keys)
	free(t.mem, t.direct)
	free(t.mem, t.slots)
	t.mem.Release(t.held)
	t.keys, t.direct, t.slots, t.held = nil, nil, nil, 0
}

// accBytes is what a group takes in the accumulators, about: their slices grow
// by doubling.
const accBytes = 24

// reserveGroups makes room for the accumulators of n groups.
func (t *groups) reserveGroups(n int) {
	if n <= len(t.counts) && n > 0 && len(t.counts) > 0 {
		return
	}
	room := max(n, 2*len(t.counts), 16)
	more := int64(room-len(t.counts)) * (8 + accBytes*int64(len(t.accs)))
	t.mem.reserve(t.agg.name, more)
	t.held += more
	t.counts = growTo(t.counts, room)
	for _, a := range t.accs {
		a.grow(room)
	}
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
	if 4*(t.n+1) > len(t.slots) {
		t.rehash()
	}
	word, h := key[0], hashKey(key)
	if kw > 1 {
		word = h
	}
	at := h & t.mask
	for {
		g := t.slots[2*at+1]
		if g == 0 {
			t.slots[2*at] = word
			n := t.newGroup(key)
			t.slots[2*at+1] = uint64(n)
			return n - 1
		}
		if t.slots[2*at] == word && (kw == 1 || equalWords(t.keys[int(g-1)*kw:int(g)*kw], key)) {
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
	t.reserveGroups(t.n)
	return uint32(t.n)
}

func (t *groups) rehash() {
	had := t.slots
	size := max(64, len(had))
	t.slots = alloc[uint64](t.mem, t.agg.name, 2*size)
	t.mask = uint64(size - 1)
	kw := t.agg.key.Words
	for i := 0; i < len(had); i += 2 {
		if had[i+1] == 0 {
			continue
		}
		h := had[i]
		if kw == 1 {
			h = hashWord(h)
		}
		at := h & t.mask
		for t.slots[2*at+1] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[2*at], t.slots[2*at+1] = had[i], had[i+1]
	}
	free(t.mem, had)
}

// hashKey hashes a packed key of at least one word.
func hashKey(key []uint64) uint64 {
	if len(key) == 1 {
		return hashWord(key[0])
	}
	return hashWords(key)
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
	case kw == 1:
		for i, k := range keys[:len(ids)] {
			ids[i] = t.numberWord(k)
		}
	default:
		for i := range ids {
			ids[i] = t.number(keys[i*kw : i*kw+kw])
		}
	}
}

// numberWord is number for keys of one word that mostly are there.
func (t *groups) numberWord(k uint64) uint32 {
	if len(t.slots) > 0 {
		for at := hashWord(k) & t.mask; t.slots[2*at+1] != 0; at = (at + 1) & t.mask {
			if t.slots[2*at] == k {
				return uint32(t.slots[2*at+1] - 1)
			}
		}
	}
	key := [1]uint64{k}
	return t.number(key[:])
}

// merge adds groups of another table, as accumulator's merge does.
func (t *groups) merge(from *groups, numbers []uint32, n int) {
	kw := t.agg.key.Words
	ids := make([]uint32, n)
	for k := range ids {
		g := int(numberAt(numbers, k))
		ids[k] = t.number(from.keys[g*kw : g*kw+kw])
		t.counts[ids[k]] += from.counts[g]
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
		t.spill()
	}
	if len(tables) <= 1 {
		return tables
	}
	agg := tables[0].agg
	if total <= r.opts.groups/4 || agg.key.Words == 0 {
		for _, t := range tables[1:] {
			tables[0].merge(t, nil, t.n)
			t.free()
		}
		return tables[:1]
	}
	bits := uint(1)
	for 1<<bits < maxPartitions && total>>bits > r.opts.groups/2 {
		bits++
	}
	sorted := make([]partitioned, len(tables))
	r.tasks(len(tables), func(i int) { sorted[i] = partition(tables[i], bits) })
	merged := make([]*groups, 1<<bits)
	r.tasks(len(merged), func(p int) {
		merged[p] = newGroups(agg, r)
		for i, t := range tables {
			numbers := sorted[i].numbers[sorted[i].starts[p]:sorted[i].starts[p+1]]
			merged[p].merge(t, numbers, len(numbers))
		}
		merged[p].spill()
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

func partition(t *groups, bits uint) partitioned {
	kw := t.agg.key.Words
	out := partitioned{numbers: make([]uint32, t.n), starts: make([]int, 1<<bits+2)}
	of := make([]uint16, t.n)
	for g := range of {
		p := hashKey(t.keys[g*kw:g*kw+kw]) >> (64 - bits)
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
	out.starts = out.starts[:1<<bits+1]
	return out
}
