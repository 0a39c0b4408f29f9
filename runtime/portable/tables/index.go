package tables

import (
	"math"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Index finds the rows of a join's build side by key. Rows with equal keys, a
// run, are neighbours in the payload (compressed sparse rows), so that a skewed
// key costs no chain. Keys of a small domain address their run directly; others
// go through an open-addressing table. Distinct keys that lead to no payload
// may be a bitmap, which often stays in the cache where a table would not.
type Index struct {
	Name string
	Mem  *work.Memory
	Key  interval.Layout
	Pay  interval.Layout

	Rows   int
	unique bool // no run is longer than one
	token  *Token

	// For dense keys: run k is offsets[k]..offsets[k+1]-1, for packed keys
	// minus least below domain. Two more entries make every other key an empty
	// run.
	offsets []uint32
	least   uint64
	domain  uint64

	// For distinct dense keys without payload: bit k of packed keys minus
	// least.
	present []uint64

	// For other keys.
	slots hashSlots
	// keys of rows in run order, for keys of several words.
	keys []uint64
	// filter has a bit for each key of one word, at its hash shifted by shift:
	// most keys that are not there are found out without a look at the slots.
	filter []uint64
	shift  uint

	// The payload: one of the two, the first for payloads of up to 32 bits.
	narrow []uint32
	broad  []uint64

	bits bitRows // the rows as bits

	isShared bool // the arrays belong to Kept
}

// Finder finds rows by key.
type Finder interface {
	KeyLayout() *interval.Layout
	// Lookup finds the runs of n packed keys. Keys that are not valid have
	// none.
	Lookup(keys []uint64, valid []bool, n int, out *Runs)
	// Payload reads column i of the payload of the rows at the given places.
	Payload(dst []int64, places []uint32, i int)
	// Run returns the payload of all rows, if it is one column of at most 32
	// bits, and what is to be added to its words; else nil.
	Run() (words []uint32, base int64)
	// Token stands for the contents; nil if runs do not only grow.
	Token() *Token
	// Distinct reports whether no key has two rows.
	Distinct() bool
	// Dense reports whether a key of one column outside its bounds finds
	// nothing.
	Dense() bool
}

// Runs are ranges of an index's rows, one for each row that probes it.
type Runs struct {
	Start, Count []uint32

	// maybe are the rows that an index's filter lets pass. It is tried for a
	// few of many batches, and used for all while it stops half of their rows.
	maybe         []uint32
	batches       int
	tried, passed int
}

const (
	filterBatches = 64
	filterTrials  = 2
)

// filtered reports whether to use the filter for a batch.
func (r *Runs) filtered() bool {
	phase := r.batches % filterBatches
	r.batches++
	if phase == 0 {
		r.tried, r.passed = 0, 0
	}
	return phase < filterTrials || 2*r.passed <= r.tried
}

// Keyed is packed rows of a build side, in the pieces that workers made.
type Keyed struct {
	Keys, Pays []uint64
	N          int
}

// Free gives back the memory of the index, which is then empty.
func (x *Index) Free() {
	x.release()
	x.bits.free(x.Mem)
	*x = Index{Name: x.Name, Mem: x.Mem, Key: x.Key, Pay: x.Pay}
}

// Build makes the index of the rows in parts, and empties them.
func (x *Index) Build(r *work.Run, parts []*Keyed) {
	x.token = &Token{}
	for _, p := range parts {
		x.Rows += p.N
	}
	if x.Rows >= math.MaxUint32 {
		work.Abort(work.TooManyRows(x.Name))
	}
	switch {
	case x.Rows == 0:
	case x.Key.Words == 0:
		x.buildProduct(parts)
	case x.Key.Words == 1:
		x.measure(parts)
		switch {
		case x.Pay.Words == 0 && x.buildBitmap(r, parts):
		case x.domain-1 < uint64(8*x.Rows+256):
			// An array over the keys' range is no bigger than a hash table.
			x.buildDense(r, parts)
		default:
			x.buildHashed(r, parts)
		}
	default:
		x.buildHashed(r, parts)
	}
	for _, p := range parts {
		work.Free(x.Mem, p.Keys)
		work.Free(x.Mem, p.Pays)
		*p = Keyed{}
	}
}

func (x *Index) allocPayload() {
	switch {
	case x.Pay.Words == 0:
	case x.Pay.Words == 1 && x.Pay.Bits <= 32:
		x.narrow = work.Alloc[uint32](x.Mem, x.Name, x.Rows)
	default:
		x.broad = work.Alloc[uint64](x.Mem, x.Name, x.Rows*x.Pay.Words)
	}
}

func (x *Index) putPayload(at uint32, p *Keyed, i int) {
	switch k := x.Pay.Words; {
	case k == 0:
	case x.narrow != nil:
		x.narrow[at] = uint32(p.Pays[i])
	case k == 1:
		x.broad[at] = p.Pays[i]
	default:
		copy(x.broad[int(at)*k:int(at)*k+k], p.Pays[i*k:i*k+k])
	}
}

// buildProduct puts all rows into one run.
func (x *Index) buildProduct(parts []*Keyed) {
	x.allocPayload()
	at := uint32(0)
	for _, p := range parts {
		for i := range p.N {
			x.putPayload(at, p, i)
			at++
		}
	}
	x.unique = x.Rows == 1
}

// measure finds the range of one-word keys; a range of all words has domain 0.
func (x *Index) measure(parts []*Keyed) {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for _, p := range parts {
		for _, k := range p.Keys[:p.N] {
			lo, hi = min(lo, k), max(hi, k)
		}
	}
	x.least, x.domain = lo, hi-lo+1
}

// A bitmap of cachedBitmap bits stays in the cache, and pays from bitmapRows
// rows on.
const (
	cachedBitmap = 1 << 19
	bitmapRows   = 64
)

// buildBitmap marks the keys if a bitmap of them is no bigger than a hash table
// would be, or small, and no key occurs twice.
func (x *Index) buildBitmap(r *work.Run, parts []*Keyed) bool {
	if x.domain-1 >= uint64(256*x.Rows) && (x.domain-1 >= cachedBitmap || x.Rows < bitmapRows) {
		return false
	}
	x.present = work.Alloc[uint64](x.Mem, x.Name, int(x.domain/64)+1)
	for _, p := range parts {
		r.Stop.Check()
		for _, k := range p.Keys[:p.N] {
			k -= x.least
			word, bit := &x.present[k/64], uint64(1)<<(k%64)
			if *word&bit != 0 {
				work.Free(x.Mem, x.present)
				x.present = nil
				return false
			}
			*word |= bit
		}
	}
	x.unique = true
	return true
}

func (x *Index) buildDense(r *work.Run, parts []*Keyed) {
	x.allocPayload()
	x.offsets = work.Alloc[uint32](x.Mem, x.Name, int(x.domain)+2)
	off, least := x.offsets, x.least
	for _, p := range parts {
		r.Stop.Check()
		for _, k := range p.Keys[:p.N] {
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
		r.Stop.Check()
		p := parts[i]
		switch {
		case x.Pay.Words == 0:
			for j := p.N - 1; j >= 0; j-- {
				off[p.Keys[j]-least]--
			}
		case x.narrow != nil:
			for j := p.N - 1; j >= 0; j-- {
				o := &off[p.Keys[j]-least]
				*o--
				x.narrow[*o] = uint32(p.Pays[j])
			}
		default:
			for j := p.N - 1; j >= 0; j-- {
				o := &off[p.Keys[j]-least]
				*o--
				x.putPayload(*o, p, j)
			}
		}
	}
}

// KeyLayout returns the layout of keys.
func (x *Index) KeyLayout() *interval.Layout { return &x.Key }

// Distinct reports whether no run is longer than one row.
func (x *Index) Distinct() bool { return x.unique }

// Dense reports whether keys address their runs directly.
func (x *Index) Dense() bool { return x.offsets != nil }

// Lookup finds the runs of n packed keys; keys that are not valid have none.
func (x *Index) Lookup(keys []uint64, valid []bool, n int, out *Runs) {
	start, count := out.Start[:n], out.Count[:n]
	switch {
	case x.Rows == 0:
		clear(count)
	case x.Key.Words == 0:
		// There is no key, or all columns of it have one value here.
		for i := range start {
			start[i], count[i] = 0, uint32(x.Rows)
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
func (x *Index) exclude(keys []uint64, valid []bool) []uint64 {
	if valid != nil {
		for i, ok := range valid[:len(keys)] {
			if !ok {
				keys[i] = x.least - 1 // outside, whatever the domain
			}
		}
	}
	return keys
}

// Payload reads column i of the payload at the given places.
func (x *Index) Payload(dst []int64, places []uint32, i int) {
	if x.narrow == nil {
		x.Pay.UnpackAt(dst, x.broad, places, i)
		return
	}
	unpackNarrow(dst, x.narrow, places, x.Pay.Fields[i])
}

// Run returns the payload, if it is one narrow column.
func (x *Index) Run() (words []uint32, base int64) { return runOf(x.narrow, &x.Pay) }

// Token changes with each Build.
func (x *Index) Token() *Token { return x.token }

func runOf(narrow []uint32, pay *interval.Layout) (words []uint32, base int64) {
	if len(pay.Fields) != 1 {
		return nil, 0
	}
	return narrow, pay.Fields[0].Base
}

// unpackNarrow reads a field of tuples of 32 bits at the given places.
func unpackNarrow(dst []int64, tuples, places []uint32, f interval.Field) {
	dst = dst[:len(places)]
	mask := uint32(f.Mask())
	for i, p := range places {
		dst[i] = int64(tuples[p]>>(f.Shift&31)&mask) + f.Base
	}
}
