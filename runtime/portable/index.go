package portable

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/interval"
)

// index finds the rows of a join's build side by key. Rows with equal keys, a
// run, are neighbours in the payload (compressed sparse rows), so that a skewed
// key costs no chain. Keys of a small domain address their run directly; others
// go through an open-addressing table. Distinct keys that lead to no payload may be
// a bitmap, which often stays in the cache where a table would not.
type index struct {
	name string
	mem  *memory
	key  interval.Layout
	pay  interval.Layout

	rows   int
	unique bool // no run is longer than one

	// Of dense keys: run k is offsets[k]..offsets[k+1]-1, for packed keys minus
	// least below domain. Two more entries make every other key an empty run.
	offsets []uint32
	least   uint64
	domain  uint64

	// Of distinct dense keys without payload: bit k of packed keys minus least.
	present []uint64

	// Of other keys: pairs of the key, or its hash if it has several words, and
	// start<<32 | length of its run; a length of 0 marks an empty slot.
	slots []uint64
	mask  uint64
	// keys of rows in run order, for keys of several words.
	keys []uint64
	// filter has a bit for each key of one word, at its hash shifted by shift: most
	// keys that are not there are found out without a look at the slots.
	filter []uint64
	shift  uint

	// The payload: one of the two, the first for payloads of up to 32 bits.
	narrow []uint32
	broad  []uint64
}

// runs are ranges of an index's rows, one for each row that probes it.
type runs struct {
	start, count []uint32

	// maybe are the rows that an index's filter lets pass. It is tried for a few of many
	// batches, and used for all while it stops half of their rows.
	maybe         []uint32
	batches       int
	tried, passed int
}

const (
	filterBatches = 64
	filterTrials  = 2
)

// filtered reports whether to use the filter for a batch.
func (r *runs) filtered() bool {
	phase := r.batches % filterBatches
	r.batches++
	if phase == 0 {
		r.tried, r.passed = 0, 0
	}
	return phase < filterTrials || 2*r.passed <= r.tried
}

// keyed is packed rows of a build side, in the pieces that workers made.
type keyed struct {
	keys, pays []uint64
	n          int
}

func (x *index) free() {
	free(x.mem, x.offsets)
	free(x.mem, x.present)
	free(x.mem, x.slots)
	free(x.mem, x.keys)
	free(x.mem, x.filter)
	free(x.mem, x.narrow)
	free(x.mem, x.broad)
	x.offsets, x.present, x.slots, x.keys, x.filter, x.narrow, x.broad, x.rows = nil, nil, nil, nil, nil, nil, nil, 0
}

// build makes the index of the rows in parts, and empties them.
func (x *index) build(r *run, parts []*keyed) {
	for _, p := range parts {
		x.rows += p.n
	}
	if x.rows >= math.MaxUint32 {
		abort(errIndexRows{x.name})
	}
	switch {
	case x.rows == 0:
	case x.key.Words == 0:
		x.buildProduct(parts)
	case x.key.Words == 1:
		x.measure(parts)
		switch {
		case x.pay.Words == 0 && x.buildBitmap(r, parts):
		case x.domain-1 < uint64(8*x.rows+256):
			// An array over the keys' range is no bigger than a hash table.
			x.buildDense(r, parts)
		default:
			x.buildHashed(r, parts)
			x.buildFilter(parts)
		}
	default:
		x.buildHashed(r, parts)
	}
	for _, p := range parts {
		free(x.mem, p.keys)
		free(x.mem, p.pays)
		*p = keyed{}
	}
}

func (x *index) allocPayload() {
	switch {
	case x.pay.Words == 0:
	case x.pay.Words == 1 && x.pay.Bits <= 32:
		x.narrow = alloc[uint32](x.mem, x.name, x.rows)
	default:
		x.broad = alloc[uint64](x.mem, x.name, x.rows*x.pay.Words)
	}
}

func (x *index) putPayload(at uint32, p *keyed, i int) {
	switch k := x.pay.Words; {
	case k == 0:
	case x.narrow != nil:
		x.narrow[at] = uint32(p.pays[i])
	case k == 1:
		x.broad[at] = p.pays[i]
	default:
		copy(x.broad[int(at)*k:int(at)*k+k], p.pays[i*k:i*k+k])
	}
}

// buildProduct puts all rows into one run.
func (x *index) buildProduct(parts []*keyed) {
	x.allocPayload()
	at := uint32(0)
	for _, p := range parts {
		for i := range p.n {
			x.putPayload(at, p, i)
			at++
		}
	}
	x.unique = x.rows == 1
}

// measure finds the range of one-word keys; a range of all words has domain 0.
func (x *index) measure(parts []*keyed) {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for _, p := range parts {
		for _, k := range p.keys[:p.n] {
			lo, hi = min(lo, k), max(hi, k)
		}
	}
	x.least, x.domain = lo, hi-lo+1
}

// A bitmap of so many bits stays in the cache, and is worth it from so many rows on.
const (
	cachedBitmap = 1 << 19
	bitmapRows   = 64
)

// buildBitmap marks the keys if a bitmap of them is no bigger than a hash table
// would be, or small, and no key occurs twice.
func (x *index) buildBitmap(r *run, parts []*keyed) bool {
	if x.domain-1 >= uint64(256*x.rows) && (x.domain-1 >= cachedBitmap || x.rows < bitmapRows) {
		return false
	}
	x.present = alloc[uint64](x.mem, x.name, int(x.domain/64)+1)
	for _, p := range parts {
		r.stop.check()
		for _, k := range p.keys[:p.n] {
			k -= x.least
			word, bit := &x.present[k/64], uint64(1)<<(k%64)
			if *word&bit != 0 {
				free(x.mem, x.present)
				x.present = nil
				return false
			}
			*word |= bit
		}
	}
	x.unique = true
	return true
}

func (x *index) buildDense(r *run, parts []*keyed) {
	x.allocPayload()
	x.offsets = alloc[uint32](x.mem, x.name, int(x.domain)+2)
	off, least := x.offsets, x.least
	for _, p := range parts {
		r.stop.check()
		for _, k := range p.keys[:p.n] {
			off[k-least]++
		}
	}
	longest, sum := uint32(0), uint32(0)
	for i, c := range off {
		longest = max(longest, c)
		sum += c
		off[i] = sum
	}
	x.unique = longest <= 1
	// Filling each run from its end turns the ends into starts.
	for i := len(parts) - 1; i >= 0; i-- {
		r.stop.check()
		p := parts[i]
		switch {
		case x.pay.Words == 0:
			for j := p.n - 1; j >= 0; j-- {
				off[p.keys[j]-least]--
			}
		case x.narrow != nil:
			for j := p.n - 1; j >= 0; j-- {
				o := &off[p.keys[j]-least]
				*o--
				x.narrow[*o] = uint32(p.pays[j])
			}
		default:
			for j := p.n - 1; j >= 0; j-- {
				o := &off[p.keys[j]-least]
				*o--
				x.putPayload(*o, p, j)
			}
		}
	}
}

// buildHashed counts the rows of each key, lays out the runs and fills them.
func (x *index) buildHashed(r *run, parts []*keyed) {
	x.allocPayload()
	size := 16
	for size < 2*x.rows {
		size *= 2
	}
	x.slots = alloc[uint64](x.mem, x.name, 2*size)
	x.mask = uint64(size - 1)
	kw := x.key.Words
	places := alloc[uint32](x.mem, x.name, x.rows)
	defer free(x.mem, places)
	// While counting, the high half of a slot holds one of the key's rows, to
	// compare keys of several words with.
	rowOf := func(n uint32) []uint64 {
		for _, p := range parts {
			if int(n) < p.n {
				return p.keys[int(n)*kw : int(n)*kw+kw]
			}
			n -= uint32(p.n)
		}
		return nil
	}
	row := 0
	for _, p := range parts {
		r.stop.check()
		for i := range p.n {
			var key, h uint64
			if kw == 1 {
				key = p.keys[i]
				h = hashWord(key)
			} else {
				key = hashWords(p.keys[i*kw : i*kw+kw])
				h = key
			}
			at := h & x.mask
			for ; ; at = (at + 1) & x.mask {
				run := x.slots[2*at+1]
				if run == 0 {
					x.slots[2*at] = key
					x.slots[2*at+1] = uint64(row) << 32
					break
				}
				if x.slots[2*at] == key && (kw == 1 || equalWords(rowOf(uint32(run>>32)), p.keys[i*kw:i*kw+kw])) {
					break
				}
			}
			x.slots[2*at+1]++
			places[row] = uint32(at)
			row++
		}
	}
	start := uint64(0)
	x.unique = true
	for at := 1; at < len(x.slots); at += 2 {
		if n := x.slots[at] & math.MaxUint32; n > 0 {
			x.unique = x.unique && n == 1
			start += n
			x.slots[at] = start<<32 | n
		}
	}
	if kw > 1 {
		x.keys = alloc[uint64](x.mem, x.name, x.rows*kw)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		r.stop.check()
		p := parts[i]
		for j := p.n - 1; j >= 0; j-- {
			row--
			slot := &x.slots[2*uint64(places[row])+1]
			*slot -= 1 << 32
			at := uint32(*slot >> 32)
			x.putPayload(at, p, j)
			if kw > 1 {
				copy(x.keys[int(at)*kw:], p.keys[j*kw:j*kw+kw])
			}
		}
	}
}

const (
	// filterBits is how many bits a filter has for a key, at least: one key of so many
	// that are not there passes it.
	filterBits = 16
	// maxFiltered is the number of keys for which a filter may be of use: that of more
	// is no faster to look at than the slots.
	maxFiltered = 1 << 22
)

// buildFilter makes the filter of keys of one word.
func (x *index) buildFilter(parts []*keyed) {
	if x.rows > maxFiltered {
		return
	}
	digits := uint(bits.Len(uint(max(64, filterBits*x.rows-1))))
	x.filter, x.shift = alloc[uint64](x.mem, x.name, 1<<digits/64), 64-digits
	for _, p := range parts {
		for _, k := range p.keys[:p.n] {
			h := k * mixA >> x.shift
			x.filter[h/64] |= 1 << (h % 64)
		}
	}
}

// lookup finds the runs of n packed keys; keys that are not valid have none.
func (x *index) lookup(keys []uint64, valid []bool, n int, out *runs) {
	start, count := out.start[:n], out.count[:n]
	switch {
	case x.rows == 0:
		clear(count)
	case x.key.Words == 0:
		// There is no key, or all columns of it have one value here.
		for i := range start {
			start[i], count[i] = 0, uint32(x.rows)
			if valid != nil && !valid[i] {
				count[i] = 0
			}
		}
	case x.present != nil:
		present, least, domain := x.present, x.least, x.domain
		for i, k := range x.exclude(keys[:n], valid) {
			start[i], count[i] = 0, 0
			if k -= least; k < domain {
				count[i] = uint32(present[k/64] >> (k % 64) & 1)
			}
		}
	case x.offsets != nil:
		off, least, domain := x.offsets, x.least, x.domain
		for i, k := range x.exclude(keys[:n], valid) {
			k = min(k-least, domain)
			start[i] = off[k]
			count[i] = off[k+1] - off[k]
		}
	default:
		x.lookupHashed(keys, valid, n, out)
	}
}

// exclude moves keys that are not valid out of the domain.
func (x *index) exclude(keys []uint64, valid []bool) []uint64 {
	if valid != nil {
		for i, ok := range valid[:len(keys)] {
			if !ok {
				keys[i] = x.least - 1 // outside, whatever the domain
			}
		}
	}
	return keys
}

func (x *index) lookupHashed(keys []uint64, valid []bool, n int, out *runs) {
	kw := x.key.Words
	if kw == 1 {
		x.lookupWords(keys[:n], valid, out)
		return
	}
	for i := range n {
		out.count[i] = 0
		if valid != nil && !valid[i] {
			continue
		}
		key := keys[i*kw : i*kw+kw]
		h := hashWords(key)
		for at := h & x.mask; ; at = (at + 1) & x.mask {
			run := x.slots[2*at+1]
			if run == 0 {
				break
			}
			start := int(run >> 32)
			if x.slots[2*at] == h && equalWords(x.keys[start*kw:start*kw+kw], key) {
				out.start[i], out.count[i] = uint32(start), uint32(run)
				break
			}
		}
	}
}

// lookupWords is lookupHashed of keys of one word.
func (x *index) lookupWords(keys []uint64, valid []bool, out *runs) {
	start, count := out.start[:len(keys)], out.count[:len(keys)]
	clear(count)
	slots, mask := x.slots, x.mask
	find := func(i int, key uint64) {
		for at := hashWord(key) & mask; ; at = (at + 1) & mask {
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
		h := key * mixA >> shift
		n += int(filter[h/64] >> (h % 64) & 1)
	}
	out.tried, out.passed = out.tried+len(keys), out.passed+n
	for _, i := range maybe[:n] {
		if valid == nil || valid[i] {
			find(int(i), keys[i])
		}
	}
}

// payload reads column i of the payload at the given places.
func (x *index) payload(dst []int64, places []uint32, i int) {
	if x.narrow == nil {
		x.pay.UnpackAt(dst, x.broad, places, i)
		return
	}
	unpackNarrow(dst, x.narrow, places, x.pay.Fields[i])
}

// unpackNarrow reads a field of tuples of 32 bits at the given places.
func unpackNarrow(dst []int64, tuples, places []uint32, f interval.Field) {
	dst = dst[:len(places)]
	mask := uint32(f.Mask())
	for i, p := range places {
		dst[i] = int64(tuples[p]>>(f.Shift&31)&mask) + f.Base
	}
}
