package tables

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// tupleSet answers "was this tuple new?" for a table. It changes its form as
// the table grows:
//
//   - small: one open-addressing table, used by one worker, for relations that
//     stay below Sizes.SmallSet tuples;
//   - bitmap: a bit for each tuple that the columns' ranges allow, or of one
//     column only for the values that occur (see bitmap), where that is not
//     much more than a hash table would take. All workers set bits in it;
//   - sharded: shards chosen by the high bits of a bijective hash of the packed
//     tuple. A shard keeps only the other bits of the hash (quotienting, Knuth
//     TAOCP 6.4 exercise 13; Cleary 1984), 32 of them for tuples of up to 40
//     bits, so that a slot costs 4 bytes instead of 8. Workers collect
//     candidates for each shard and insert them many at a time under the
//     shard's lock;
//   - wide: like sharded, for tuples of several words: slots hold row numbers
//     and 16 bits of the hash.
type tupleSet struct {
	table *Table
	mode  setMode
	mix   mixer

	small     []uint64 // key + 1; 0 is empty
	smallLast bool     // the key with all bits set, of which key + 1 is 0
	smallN    int

	dense   bitmap
	plain   bitmapKey // of all tuples that the ranges allow
	ranges  []interval.Interval
	counted distinct // values of columns, when the table had so many rows
	spread  bool     // values came until a bitmap by numbers was too large

	shardBits uint
	narrow    []shard[uint32]
	broad     []shard[uint64]
}

type setMode uint8

const (
	smallMode setMode = iota
	denseMode
	narrowMode
	broadMode
	wideMode
)

const (
	// smallDense is the size in bytes up to which a bitmap is always better
	// than a hash table that has outgrown the small form. Up to eagerDense it
	// is better if no more than clearBytes have to be cleared for each tuple
	// that has come, and each row that tuples are about to be made of.
	smallDense = 4 << 20
	eagerDense = 64 << 20
	clearBytes = 1 << 10
	// minShardBits and maxShardBits bound the number of shards. A worker writes
	// to all of them in turn, so their write positions should stay in the
	// first-level cache.
	minShardBits = 6
	maxShardBits = 8
)

func newTupleSet(t *Table, ranges []interval.Interval) *tupleSet {
	s := &tupleSet{table: t}
	if t.Layout.Words > 1 {
		s.mode, s.shardBits = wideMode, minShardBits
		s.broad = make([]shard[uint64], 1<<s.shardBits)
		return s
	}
	s.mix = newMixer(uint(t.Layout.Bits))
	s.plain, s.ranges = newBitmapKey(&t.Layout, ranges), ranges
	return s
}

// reset empties the set and frees what it holds.
func (s *tupleSet) reset() {
	mem := s.table.mem
	work.Free(mem, s.small)
	s.dense.free(mem)
	for i := range s.narrow {
		work.Free(mem, s.narrow[i].slots)
	}
	for i := range s.broad {
		work.Free(mem, s.broad[i].slots)
	}
	s.small, s.narrow, s.broad = nil, nil, nil
	s.smallN, s.smallLast, s.counted = 0, false, distinct{}
	if s.mode == wideMode {
		s.broad = make([]shard[uint64], 1<<s.shardBits)
	} else {
		s.mode = smallMode
	}
}

// grow leaves the small form, and later the sharded one if a bitmap has become
// smaller. Tuples made of more rows are about to come. One worker calls it
// while no others use the set.
func (s *tupleSet) grow(r *work.Run, rows int) {
	if s.mode == wideMode {
		return
	}
	s.table.flush()
	if s.mode == denseMode {
		if touched := s.dense.touched(); touched > eagerDense && !s.prefersBitmap(touched) {
			s.spread = true
			s.becomeSharded()
		}
		return
	}
	mem := s.table.mem
	if room := mem.Room(); s.plain.bytes > 0 && !r.Sizes.NoBitmaps && s.plain.bytes < room/2 {
		key, bytes := s.plain, s.plain.bytes
		if bytes > smallDense && bytes < room/8 && !s.spread {
			key, bytes = s.numbered()
		}
		if bytes <= smallDense || s.mode != smallMode && s.prefersBitmap(bytes) ||
			bytes <= min(eagerDense, clearBytes*int64(s.tries()+rows)) {
			s.becomeDense(key)
			return
		}
	}
	if s.mode == smallMode {
		s.becomeSharded()
	}
}

func (s *tupleSet) becomeDense(key bitmapKey) {
	s.reset()
	s.mode = denseMode
	s.dense.alloc(s.table.mem, s.table.Name, key)
	s.refill(func(keys []uint64) {
		for _, k := range keys {
			at := s.dense.place(k)
			s.dense.words[at>>6] |= 1 << (at & 63)
		}
	})
}

func (s *tupleSet) becomeSharded() {
	s.reset()
	b := uint(s.table.Layout.Bits)
	s.shardBits = min(max(minShardBits, b-min(b, 32)), maxShardBits, b)
	if b-s.shardBits <= 32 {
		s.mode = narrowMode
		s.narrow = make([]shard[uint32], 1<<s.shardBits)
		refillShards(s, s.narrow)
	} else {
		s.mode = broadMode
		s.broad = make([]shard[uint64], 1<<s.shardBits)
		refillShards(s, s.broad)
	}
}

// prefersBitmap reports whether a bitmap is smaller than the shards, or worth
// its memory: nearly all tuples that come are there already, and many more have
// come than clearing the bitmap takes.
func (s *tupleSet) prefersBitmap(bitmap int64) bool {
	rows := s.table.rows()
	bytes := s.hashBytes()
	if s.mode == denseMode {
		bytes = 4 * shardRoom * int64(rows)
	}
	tries := s.tries()
	return 2*bytes > bitmap ||
		repeatedBitmap*bytes > bitmap && tries > repeated*rows && int64(tries) > bitmap/4
}

// tries is how many tuples have come.
func (s *tupleSet) tries() (n int) {
	for _, w := range s.table.writers {
		n += w.tries
	}
	return n
}

// extended is how many tuples have come by extending, in all columns and in the
// one at a shift.
func (s *tupleSet) extended(shift uint8) (all, one int) {
	for _, w := range s.table.writers {
		for _, n := range w.extended {
			all += n
		}
		one += w.extended[shift&63]
	}
	return all, one
}

const (
	// repeated is how often each tuple comes if nearly all are there already.
	repeated = 4
	// repeatedBitmap is how many times as big as the shards the bitmap may be
	// then.
	repeatedBitmap = 16
	// shardRoom is how many slots of a shard a tuple takes, about.
	shardRoom = 2
)

func (s *tupleSet) hashBytes() int64 {
	var n int64
	for i := range s.narrow {
		n += 4 * int64(len(s.narrow[i].slots))
	}
	for i := range s.broad {
		n += 8 * int64(len(s.broad[i].slots))
	}
	return n
}

// refill calls add with the tuples that the table has already.
func (s *tupleSet) refill(add func(keys []uint64)) {
	for _, list := range [][]Span{s.table.old.list, s.table.delta.list, s.table.fresh.list} {
		for _, p := range list {
			add(p.chunk.words[p.from:p.to])
		}
	}
}

func refillShards[T uint32 | uint64](s *tupleSet, shards []shard[T]) {
	rest := s.mix.bits - s.shardBits
	s.refill(func(keys []uint64) {
		for _, k := range keys {
			h := s.mix.hash(k)
			one := [1]T{T(h & (1<<rest - 1))}
			shards[h>>rest].insert(s.table, rest, one[:], nil)
		}
	})
}

// insertSmall adds keys in the small form and appends the new ones to dst. It
// stops when the form holds limit tuples and returns the other keys.
func (s *tupleSet) insertSmall(limit int, keys, dst []uint64) (fresh, rest []uint64) {
	for n, k := range keys {
		if 2*(s.smallN+1) > len(s.small) {
			if s.smallN >= limit {
				return dst, keys[n:]
			}
			s.growSmall()
		}
		if k+1 == 0 {
			if !s.smallLast {
				s.smallLast = true
				dst = append(dst, k)
			}
			continue
		}
		mask := uint64(len(s.small) - 1)
		at := work.HashWord(k) & mask
		for s.small[at] != 0 && s.small[at] != k+1 {
			at = (at + 1) & mask
		}
		if s.small[at] == 0 {
			s.small[at] = k + 1
			s.smallN++
			dst = append(dst, k)
		}
	}
	return dst, nil
}

func (s *tupleSet) growSmall() {
	had := s.small
	s.small = work.Alloc[uint64](s.table.mem, s.table.Name, max(64, 2*len(had)))
	mask := uint64(len(s.small) - 1)
	for _, k := range had {
		if k != 0 {
			at := work.HashWord(k-1) & mask
			for s.small[at] != 0 {
				at = (at + 1) & mask
			}
			s.small[at] = k
		}
	}
	work.Free(s.table.mem, had)
}

// mixer is a bijective hash of numbers below 2^bits: multiplication by an odd
// number and a shifted exclusive or, twice. Being bijective it can be undone,
// so a set that keeps the hash keeps the tuple.
type mixer struct {
	bits, half uint
	mask       uint64
}

// The inverses of the multipliers modulo 2^64, by Newton's iteration.
var mixAInverse, mixBInverse = inverse(work.MixA), inverse(work.MixB)

func inverse(a uint64) uint64 {
	x := a
	for range 6 {
		x *= 2 - a*x
	}
	return x
}

func newMixer(b uint) mixer {
	m := mixer{bits: b, half: (b + 1) / 2}
	m.mask = 1<<b - 1
	return m
}

func (m *mixer) hash(k uint64) uint64 {
	k = k * work.MixA & m.mask
	k ^= k >> (m.half & 63)
	return k * work.MixB & m.mask
}

func (m *mixer) key(h uint64) uint64 {
	h = h * mixBInverse & m.mask
	h ^= h >> (m.half & 63)
	return h * mixAInverse & m.mask
}

// shard is one part of a sharded or wide set, with linear probing. A slot of a
// sharded set holds the low bits of a hash. Positions follow the order of the
// slots' high bits, whatever the capacity, so growing moves slots in order.
type shard[T uint32 | uint64] struct {
	mu    sync.Mutex
	slots []T
	n     int
	zero  bool // the hash 0 is in the set; 0 marks an empty slot
	// touched keeps the loop that fetches slots ahead from being optimised
	// away.
	touched T
	_       [64]byte
}

// probeBlock is how many candidates are looked up together: their first slots
// are touched in one loop without branches, so that the cache misses overlap.
const probeBlock = 128

// insert adds candidates of rest bits and appends the new ones to dst.
func (s *shard[T]) insert(t *Table, rest uint, candidates, dst []T) []T {
	var at [probeBlock]uint64
	up := (64 - rest) & 63
	for len(candidates) > 0 {
		block := candidates[:min(probeBlock, len(candidates))]
		candidates = candidates[len(block):]
		if 4*(s.n+len(block)) > 3*len(s.slots) {
			s.grow(t, up, s.n+len(block))
		}
		slots := s.slots
		size := uint64(len(slots))
		var touched T
		for i, r := range block {
			p, _ := bits.Mul64(uint64(r)<<up, size)
			at[i&(probeBlock-1)] = p
			touched |= slots[p]
		}
		s.touched = touched
		for i, r := range block {
			p := at[i&(probeBlock-1)]
			if r == 0 {
				if !s.zero {
					s.zero = true
					dst = append(dst, r)
				}
				continue
			}
			for {
				v := slots[p]
				if v == r {
					break
				}
				if v == 0 {
					slots[p] = r
					s.n++
					dst = append(dst, r)
					break
				}
				if p++; p == size {
					p = 0
				}
			}
		}
	}
	return dst
}

// hugeRoom is the unit in bytes in which large shards grow.
const hugeRoom = 2 << 20

// grow makes room for n entries. Slots of four bytes double; those of eight
// grow by less, which keeps the load above 0.53 and a tuple of 64 bits within
// 24 bytes, its row included. Only one shard of a worker at a time has two
// copies.
func (s *shard[T]) grow(t *Table, up uint, n int) {
	had := s.slots
	size := max(probeBlock*2, 2*len(had), n*3/2)
	if unsafe.Sizeof(T(0)) == 8 && len(had) >= 1<<14 {
		size = max(len(had)*7/5, n*3/2)
	}
	if bytes := size * int(unsafe.Sizeof(T(0))); bytes > 2*hugeRoom {
		// Fill whole huge pages.
		size = (bytes + hugeRoom - 1) / hugeRoom * hugeRoom / int(unsafe.Sizeof(T(0)))
	}
	s.slots = work.Alloc[T](t.mem, t.Name, size)
	for _, r := range had {
		if r == 0 {
			continue
		}
		p, _ := bits.Mul64(uint64(r)<<up, uint64(size))
		for s.slots[p] != 0 {
			if p++; p == uint64(size) {
				p = 0
			}
		}
		s.slots[p] = r
	}
	work.Free(t.mem, had)
}

// A slot of a wide set: 16 bits of the hash above a row number plus one.
const wideTag = 48

// insertWide adds rows of k words with their hashes; new rows are appended.
func (s *shard[T]) insertWide(a *Writer, rows, hashes []uint64) {
	t := a.table
	k := t.Layout.Words
	for i, h := range hashes {
		row := rows[i*k : i*k+k]
		if 4*(s.n+1) > 3*len(s.slots) {
			s.growWide(t)
		}
		mask := uint64(len(s.slots) - 1)
		tag := h >> 32 & 0xffff
		for p := h & mask; ; p = (p + 1) & mask {
			v := uint64(s.slots[p])
			if v == 0 {
				s.slots[p] = T(tag<<wideTag | (a.addRow(row) + 1))
				s.n++
				break
			}
			if v>>wideTag == tag && work.EqualWords(t.row(v&(1<<wideTag-1)-1), row) {
				break
			}
		}
	}
}

func (s *shard[T]) growWide(t *Table) {
	had := s.slots
	s.slots = work.Alloc[T](t.mem, t.Name, max(16, 2*len(had)))
	mask := uint64(len(s.slots) - 1)
	for _, v := range had {
		if v == 0 {
			continue
		}
		p := work.HashWords(t.row(uint64(v)&(1<<wideTag-1)-1)) & mask
		for s.slots[p] != 0 {
			p = (p + 1) & mask
		}
		s.slots[p] = v
	}
	work.Free(t.mem, had)
}
