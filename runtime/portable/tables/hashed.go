package tables

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// hashSlots is an open-addressing table in partitions, a power of two of them:
// the highest bits of a hash choose the partition and the lowest a slot, and
// probing stays in the partition. So each partition is filled while it is in
// the cache, by one worker.
//
// A slot is a pair of words: the key, or its hash if it has several words, and
// start<<32 | length of its run. A length of 0 marks an empty slot.
type hashSlots struct {
	words []uint64
	part  uint   // what shifts a hash to the number of its partition
	room  uint   // slots of a partition, as a power of two
	mask  uint64 // 1<<room - 1
}

func (s *hashSlots) first(h uint64) uint64 { return h>>s.part<<s.room | h&s.mask }

func (s *hashSlots) next(at uint64) uint64 { return at&^s.mask | (at+1)&s.mask }

const (
	// partitionRows is about how many rows a partition has.
	partitionRows = 1 << 13
	// partitionDigits bounds the number of partitions, as a power of two.
	partitionDigits = 10
	// partitionSkew is how many times as many rows as the average a partition
	// may have. If one has more, which are those of few keys, there is only
	// one: all partitions are of the size of the largest.
	partitionSkew = 4
	// partitionChunk is how many rows one task of partitioning looks at.
	partitionChunk = 1 << 16
)

// hashOf returns the hash of row i of p.
func (x *Index) hashOf(p *Keyed, i int) uint64 {
	if kw := x.Key.Words; kw > 1 {
		return work.HashWords(p.Keys[i*kw : i*kw+kw])
	}
	return work.HashWord(p.Keys[i])
}

// buildHashed makes an index of slots.
func (x *Index) buildHashed(r *work.Run, parts []*Keyed) {
	digits := uint(0)
	for x.Rows>>digits > partitionRows && digits < partitionDigits {
		digits++
	}
	rows, starts := x.partition(r, parts, digits)
	if rows == nil {
		digits = 0
		rows, starts = x.partition(r, parts, digits)
	}
	for _, p := range parts {
		work.Free(x.Mem, p.Keys)
		work.Free(x.Mem, p.Pays)
		*p = Keyed{}
	}
	x.allocPayload()
	if x.Key.Words > 1 {
		x.keys = work.Alloc[uint64](x.Mem, x.Name, x.Rows*x.Key.Words)
	}
	most := 0
	for p, from := range starts[:len(starts)-1] {
		most = max(most, starts[p+1]-from)
	}
	// At most two thirds of the slots are taken.
	room := uint(bits.Len(uint(max(most*3/2, 15))))
	x.slots = hashSlots{part: 64 - digits, room: room, mask: 1<<room - 1,
		words: work.Alloc[uint64](x.Mem, x.Name, 2<<(digits+room))}
	places := work.Alloc[uint32](x.Mem, x.Name, x.Rows)
	unique := make([]bool, 1<<digits)
	r.Tasks(len(unique), func(p int) {
		words := x.slots.words[2*p<<room:][:2<<room]
		unique[p] = x.fill(r, rows, words, places, starts[p], starts[p+1])
	})
	x.unique = true
	for _, u := range unique {
		x.unique = x.unique && u
	}
	if x.Key.Words == 1 {
		x.buildFilter(rows.Keys)
	}
	work.Free(x.Mem, places)
	work.Free(x.Mem, rows.Keys)
	work.Free(x.Mem, rows.Pays)
}

// partition returns the rows of parts, those of a partition next to each other
// and in order, and where each partition starts, of 1<<digits. It returns nil
// if one has far more rows than others.
func (x *Index) partition(r *work.Run, parts []*Keyed, digits uint) (*Keyed, []int) {
	type piece struct {
		part     *Keyed
		from, to int
		next     []int // for each partition: its rows, then where the next one goes
	}
	var pieces []*piece
	for _, p := range parts {
		for from := 0; from < p.N; from += partitionChunk {
			pieces = append(pieces, &piece{part: p, from: from,
				to: min(from+partitionChunk, p.N), next: make([]int, 1<<digits)})
		}
	}
	shift := 64 - digits
	r.Tasks(len(pieces), func(i int) {
		s := pieces[i]
		for row := s.from; row < s.to; row++ {
			s.next[x.hashOf(s.part, row)>>shift]++
		}
	})
	starts := make([]int, 1<<digits+1)
	at := 0
	for p := range 1 << digits {
		starts[p] = at
		for _, s := range pieces {
			n := s.next[p]
			s.next[p] = at
			at += n
		}
		if digits > 0 && at-starts[p] > partitionSkew*x.Rows>>digits {
			return nil, nil
		}
	}
	starts[1<<digits] = at
	kw, pw := x.Key.Words, x.Pay.Words
	rows := &Keyed{Keys: work.Alloc[uint64](x.Mem, x.Name, x.Rows*kw),
		Pays: work.Alloc[uint64](x.Mem, x.Name, x.Rows*pw), N: x.Rows}
	r.Tasks(len(pieces), func(i int) {
		s := pieces[i]
		for row := s.from; row < s.to; row++ {
			p := x.hashOf(s.part, row) >> shift
			to := s.next[p]
			s.next[p]++
			if kw == 1 {
				rows.Keys[to] = s.part.Keys[row]
			} else {
				copy(rows.Keys[to*kw:to*kw+kw], s.part.Keys[row*kw:])
			}
			if pw == 1 {
				rows.Pays[to] = s.part.Pays[row]
			} else {
				copy(rows.Pays[to*pw:to*pw+pw], s.part.Pays[row*pw:])
			}
		}
	})
	return rows, starts
}

// fill counts the rows of each key of a partition, lays out the runs and fills
// them. It reports whether all keys are different.
func (x *Index) fill(r *work.Run, rows *Keyed, slots []uint64, places []uint32,
	from, until int) (unique bool) {
	kw, mask := x.Key.Words, x.slots.mask
	for row := from; row < until; row++ {
		if row%partitionChunk == 0 {
			r.Stop.Check()
		}
		h := x.hashOf(rows, row)
		key := h
		if kw == 1 {
			key = rows.Keys[row]
		}
		// While counting, the high half of a slot holds one of the key's rows,
		// to compare keys of several words with.
		at := h & mask
		for ; ; at = (at + 1) & mask {
			run := slots[2*at+1]
			if run == 0 {
				slots[2*at] = key
				slots[2*at+1] = uint64(row) << 32
				break
			}
			if first := int(run >> 32); slots[2*at] == key && (kw == 1 ||
				work.EqualWords(rows.Keys[first*kw:first*kw+kw], rows.Keys[row*kw:row*kw+kw])) {
				break
			}
		}
		slots[2*at+1]++
		places[row] = uint32(at)
	}
	start := uint64(from)
	unique = true
	for at := 1; at < len(slots); at += 2 {
		if n := slots[at] & math.MaxUint32; n > 0 {
			unique = unique && n == 1
			start += n
			slots[at] = start<<32 | n
		}
	}
	for row := until - 1; row >= from; row-- {
		if row%partitionChunk == 0 {
			r.Stop.Check()
		}
		slot := &slots[2*uint64(places[row])+1]
		*slot -= 1 << 32
		at := uint32(*slot >> 32)
		x.putPayload(at, rows, row)
		if kw > 1 {
			copy(x.keys[int(at)*kw:], rows.Keys[row*kw:row*kw+kw])
		}
	}
	return unique
}

const (
	// filterBits is the least number of bits of a filter for a key. About one
	// of filterBits absent keys passes it.
	filterBits = 16
	// maxFiltered is the number of keys for which a filter may be of use: that
	// of more is no faster to look at than the slots.
	maxFiltered = 1 << 22
)

// buildFilter makes the filter of keys of one word.
func (x *Index) buildFilter(keys []uint64) {
	if x.Rows > maxFiltered {
		return
	}
	digits := uint(bits.Len(uint(max(64, filterBits*x.Rows-1))))
	x.filter, x.shift = work.Alloc[uint64](x.Mem, x.Name, 1<<digits/64), 64-digits
	for _, k := range keys {
		h := k * work.MixA >> x.shift
		x.filter[h/64] |= 1 << (h % 64)
	}
}

func (x *Index) lookupHashed(keys []uint64, valid []bool, n int, out *Runs) {
	kw := x.Key.Words
	if kw == 1 {
		x.lookupWords(keys[:n], valid, out)
		return
	}
	for i := range n {
		out.Count[i] = 0
		if valid != nil && !valid[i] {
			continue
		}
		key := keys[i*kw : i*kw+kw]
		h := work.HashWords(key)
		for at := x.slots.first(h); ; at = x.slots.next(at) {
			run := x.slots.words[2*at+1]
			if run == 0 {
				break
			}
			start := int(run >> 32)
			if x.slots.words[2*at] == h && work.EqualWords(x.keys[start*kw:start*kw+kw], key) {
				out.Start[i], out.Count[i] = uint32(start), uint32(run)
				break
			}
		}
	}
}

// lookupWords is lookupHashed of keys of one word.
func (x *Index) lookupWords(keys []uint64, valid []bool, out *Runs) {
	start, count := out.Start[:len(keys)], out.Count[:len(keys)]
	clear(count)
	table := x.slots
	slots := table.words
	find := func(i int, key uint64) {
		for at := table.first(work.HashWord(key)); ; at = table.next(at) {
			run := slots[2*at+1]
			if run == 0 {
				return
			}
			if slots[2*at] == key {
				start[i], count[i] = uint32(run>>32), uint32(run)
				return
			}
		}
	}
	if x.filter == nil || !out.filtered() {
		for i, key := range keys {
			if valid == nil || valid[i] {
				find(i, key)
			}
		}
		return
	}
	if len(out.maybe) < len(keys) {
		out.maybe = make([]uint32, len(keys))
	}
	maybe, filter, shift := out.maybe[:len(keys)], x.filter, x.shift&63
	n := 0
	for i, key := range keys {
		maybe[n] = uint32(i)
		h := key * work.MixA >> shift
		n += int(filter[h/64] >> (h % 64) & 1)
	}
	out.tried, out.passed = out.tried+len(keys), out.passed+n
	for _, i := range maybe[:n] {
		if valid == nil || valid[i] {
			find(int(i), keys[i])
		}
	}
}
