package emit

import "github.com/redfoxdb/redfox/harmony/abi"

const (
	// mostPlaces bounds tables with a place for each of many groups: it has 16 bits.
	mostPlaces = 1 << 16
	// largeThreads are as many threads of a multiprocessor as keep its memory busy, in
	// the few blocks that such tables leave room for, and mostThreads as many as a block has.
	largeThreads, mostThreads = 1024, 1024
)

// layLarge lays out a table with a place for each of many groups with numbers, without words
// that tell them, if a multiprocessor's shared memory has room for one. Atomics there are
// ten times as fast as those of all blocks on cells in the second-level cache, which come
// once for a place and block then, and for no more places than there are rows.
//
// It is for rows that are all read where they stand: what looks rows up needs that memory as
// a cache, and more threads that wait. The few blocks that there is room for are to have
// more threads than others, for which the kernel is emitted again.
func (o *own) layLarge() bool {
	size, known := o.fixed(abi.GroupSize, o.sink.To.Name, 0)
	if !known || size > mostPlaces || o.cut > 0 || o.probes() || o.entry.Expansions > 0 || len(o.k.Sinks) > 1 {
		return false
	}
	large := &own{kernel: o.kernel, accs: o.accs, sink: o.sink, digits: o.digits, fits: true, places: int(size+3) / 4 * 4}
	if large.place(); large.witness == nil {
		large.count = part{large.size, o.countDigits()}
		large.size += 4 * large.count.digits * large.places
		large.witness = &large.count
	}
	blocks := o.target.mostShared() / (large.size + scratchReserve + blockShared)
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
