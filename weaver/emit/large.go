package emit

import (
	"slices"

	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

const (
	// mostPlaces bounds tables with a place for each of many groups: it has 16 bits.
	mostPlaces = 1 << 16
	// largeThreads are as many threads of a multiprocessor as keep its memory busy, in
	// the few blocks that such tables leave room for, and mostThreads as many as a block has.
	largeThreads, mostThreads = 1024, 1024
	// mostSharing is how many blocks have shares of the groups at most: with more, atomics
	// of all blocks are as fast.
	mostSharing = 8
)

// layLarge lays out a table with a place for each of many groups with numbers, without words
// that tell them, if a multiprocessor's shared memory has room for one. Atomics there are
// ten times as fast as those of all blocks on cells in the second-level cache, which come
// once for a place and block then, and for no more places than there are rows.
//
// It is for rows that are all read where they stand: what looks rows up needs that memory as
// a cache, and more threads that wait. The few blocks that there is room for are to have
// more threads than others, for which the kernel is emitted again.
//
// Of more groups than one table has places for, several blocks that work on the same rows
// have a share each: what they read comes from the second-level cache for all but one of
// them. That is for rows that are all grouped, hundreds for each group: a share costs about
// what reading the rows and asking for their groups does, whether or not they are its own.
func (o *own) layLarge() bool {
	size, known := o.fixed(abi.GroupSize, o.sink.To.Name, 0)
	if !known || size > mostPlaces*mostSharing || o.cut > 0 || o.probes() || o.entry.Expansions > 0 || len(o.k.Sinks) > 1 {
		return false
	}
	if o.layShare(size) {
		return true
	}
	plain := !slices.ContainsFunc(o.k.Stages, func(s harmony.Stage) bool {
		_, loads := s.(*harmony.Load)
		_, maps := s.(*harmony.Map)
		return !loads && !maps
	})
	if !plain || o.dropped != nil { // what is dropped would be counted by all
		return false
	}
	if crowded, known := o.fixed(abi.GroupCrowded, o.sink.To.Name, 0); !known || crowded == 0 {
		return false
	}
	for sharing := int64(2); sharing <= mostSharing; sharing++ {
		if o.layShare((size + sharing - 1) / sharing) {
			o.entry.Sharing = int(sharing)
			return true
		}
	}
	return false
}

// layShare lays out a table with so many places, if there is room for it.
func (o *own) layShare(size int64) bool {
	if size > mostPlaces {
		return false
	}
	large := &own{kernel: o.kernel, accs: o.accs, sink: o.sink, digits: o.digits, fits: true, places: int(size+3) / 4 * 4}
	if large.place(); large.witness == nil {
		large.count = part{large.size, o.countDigits()}
		large.size += 4 * large.count.digits * large.places
		large.witness = &large.count
	}
	blocks := o.target.MostShared() / (large.size + scratchReserve + blockShared)
	if blocks == 0 || large.size > o.sharedRoom() {
		return false
	}
	*o = *large
	// The witness may be a part of the table itself.
	if large.witness == &large.count {
		o.witness = &o.count
	}
	w := o.kernel
	w.large, w.largeThreads = true, o.target.Threads
	for w.largeThreads < mostThreads && w.largeThreads*blocks < largeThreads {
		w.largeThreads *= 2
	}
	return true
}

// share returns what is live of the block's share, and the numbers that groups have there.
func (o *own) share(live, key *array) (own, numbers *array) {
	if o.entry.Sharing == 0 {
		return live, key
	}
	own, numbers = o.array(types.I8), o.array(types.I64)
	o.eachItem(func(i value.Value) {
		number := o.Cur.NewSub(o.get(key, i), o.first)
		in := o.Cur.NewICmp(enum.IPredULT, number, i64(int64(o.places)))
		o.set(numbers, i, number)
		o.setFlag(own, i, o.Cur.NewAnd(o.flag(live, i), in))
	})
	return own, numbers
}

// shareOf returns where the block's share begins of memory with so many words for each
// group.
func (o *own) shareOf(p value.Value, words int) value.Value {
	if o.entry.Sharing == 0 {
		return p
	}
	return o.at(types.I64, p, o.Cur.NewMul(o.first, i64(int64(words))))
}
