package tables

import (
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// insert adds candidates through a worker's writer. In the sharded forms they
// may stay in the writer's buffers until flush.
func (s *tupleSet) insert(w *Writer, r *work.Run, keys []uint64) {
	switch s.mode {
	case smallMode:
		fresh, rest := s.insertSmall(r.Sizes.SmallSet, keys, w.fresh[:0])
		w.add(fresh)
		w.fresh = fresh
		if len(rest) > 0 {
			s.grow(r, 0)
			s.insert(w, r, rest)
		}
	case denseMode:
		w.fresh = s.dense.insert(keys, w.fresh[:0], r.Threads == 1)
		w.add(w.fresh)
	case narrowMode:
		w.narrow.insert(w, r, s, s.narrow, keys)
	case broadMode:
		w.broad.insert(w, r, s, s.broad, keys)
	case wideMode:
		w.wide.insert(w, r, s, keys)
	}
}

// flush inserts the candidates in a writer's buffers. Workers begin at
// different shards, so that they do not wait for each other's locks.
func (s *tupleSet) flush(w *Writer, r *work.Run, id int) {
	eachFrom(len(w.narrow.fill), id, r.Threads, func(i int) {
		if w.narrow.fill[i] > 0 {
			w.narrow.flush(w, r, s, s.narrow, i)
		}
	})
	eachFrom(len(w.broad.fill), id, r.Threads, func(i int) {
		if w.broad.fill[i] > 0 {
			w.broad.flush(w, r, s, s.broad, i)
		}
	})
	eachFrom(len(w.wide.hashes), id, r.Threads, func(i int) {
		if len(w.wide.hashes[i]) > 0 {
			w.wide.flush(w, r, s, i)
		}
	})
}

// eachFrom calls f with 0 to n-1, beginning at worker id's share.
func eachFrom(n, id, workers int, f func(i int)) {
	from := n * id / workers
	for i := range n {
		f((from + i) % n)
	}
}

// exchange holds a worker's candidates for each shard. A shard is locked once
// for a buffer of thousands of candidates, and the cache and the translation
// buffer see one shard at a time.
type exchange[T uint32 | uint64] struct {
	room  int
	words []T // room of them for each shard
	fill  []int32
	fresh []T
}

// exchangeWords is how many candidates a worker's buffers hold for all shards
// together.
const exchangeWords = 1 << 19

func (x *exchange[T]) insert(w *Writer, r *work.Run, set *tupleSet, shards []shard[T],
	keys []uint64) {
	if x.fill == nil {
		t := set.table
		x.room = exchangeWords / len(shards)
		x.words = work.Alloc[T](t.mem, t.Name, exchangeWords)
		x.fill = make([]int32, len(shards))
		x.fresh = make([]T, 0, x.room)
	}
	rest := set.mix.bits - set.shardBits
	mask := uint64(1)<<rest - 1
	mix := set.mix
	words, fill, room := x.words, x.fill, x.room
	for _, k := range keys {
		h := mix.hash(k)
		s := int(h >> (rest & 63))
		n := int(fill[s])
		words[s*room+n] = T(h & mask)
		n++
		fill[s] = int32(n)
		if n == room {
			x.flush(w, r, set, shards, s)
		}
	}
}

// flush inserts a shard's candidates and appends the new tuples.
func (x *exchange[T]) flush(w *Writer, r *work.Run, set *tupleSet, shards []shard[T], s int) {
	r.Stop.Check()
	rest := set.mix.bits - set.shardBits
	candidates := x.words[s*x.room:][:x.fill[s]]
	x.fill[s] = 0
	fresh := shards[s].insertLocked(set.table, rest, candidates, x.fresh[:0])
	high := uint64(s) << rest
	for len(fresh) > 0 {
		c := w.reserve()
		n := min(len(fresh), c.room-c.rows)
		dst := c.words[c.rows:][:n]
		for i, r := range fresh[:n] {
			dst[i] = set.mix.key(high | uint64(r))
		}
		c.rows += n
		fresh = fresh[n:]
	}
}

func (s *shard[T]) insertLocked(t *Table, rest uint, candidates, dst []T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.insert(t, rest, candidates, dst)
}

// wideExchange holds a worker's candidates of several words for each shard.
type wideExchange struct {
	rows   [][]uint64
	hashes [][]uint64
}

// wideRoom is how many wide candidates a shard's buffer holds.
const wideRoom = 1 << 10

func (x *wideExchange) insert(w *Writer, r *work.Run, set *tupleSet, keys []uint64) {
	if x.rows == nil {
		x.rows = make([][]uint64, len(set.broad))
		x.hashes = make([][]uint64, len(set.broad))
	}
	k := set.table.Layout.Words
	for ; len(keys) > 0; keys = keys[k:] {
		h := work.HashWords(keys[:k])
		s := h >> (64 - set.shardBits)
		x.rows[s] = append(x.rows[s], keys[:k]...)
		x.hashes[s] = append(x.hashes[s], h)
		if len(x.hashes[s]) == wideRoom {
			x.flush(w, r, set, int(s))
		}
	}
}

func (x *wideExchange) flush(w *Writer, r *work.Run, set *tupleSet, s int) {
	r.Stop.Check()
	sh := &set.broad[s]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.insertWide(w, x.rows[s], x.hashes[s])
	x.rows[s], x.hashes[s] = x.rows[s][:0], x.hashes[s][:0]
}
