package store

import (
	"hash/maphash"
	"math/bits"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/hugepage"
)

// Dict maps strings to dense codes from 0. The first Sorted() codes are in byte
// order, so they compare as their strings do; codes interned later, by running
// programs, are in no order. Reading and interning are safe for concurrent use,
// and reading takes no lock.
type Dict struct {
	// OnDisk means that the sorted strings are pages of a file, as the entries
	// of a Column may be.
	OnDisk bool

	sorted stringArena
	packed *packedStrings // replaces sorted if it is not nil
	index  dictIndex      // finds sorted strings by hash; built at the first Intern

	mu    sync.Mutex // guards additions
	added atomic.Int64
	text  atomic.Int64 // memory of additions, in bytes
	// charge accounts for these bytes, about chargeBytes at a time. owed is
	// what it has not been called for yet.
	charge func(bytes int64)
	owed   atomic.Int64
	// segments hold the interned strings. Segment s has room for
	// firstSegment<<s strings and never moves, so that readers need no lock.
	segments [32]atomic.Pointer[[]string]
	shards   [32]dictShard

	derived derivedCache
}

// dictShard holds the codes of the interned strings whose hashes end alike.
type dictShard struct {
	mu    sync.RWMutex
	codes map[string]uint32
}

// dictIndex is an open-addressing hash table of the sorted strings' codes. It
// is built when the first string is interned, because bisection is enough for
// the few look-ups before that.
type dictIndex struct {
	once  sync.Once
	ready atomic.Bool
	table []internSlot
}

const firstSegment = 256

// NewDict returns a dictionary of strings, which must be in strictly ascending
// byte order.
func NewDict(sorted []string) *Dict {
	d := &Dict{}
	size := 0
	for _, s := range sorted {
		size += len(s)
	}
	d.sorted.grow(len(sorted), size)
	for i, s := range sorted {
		if i > 0 && sorted[i-1] >= s {
			panic("store: NewDict needs strictly ascending strings")
		}
		d.sorted.add(s)
	}
	return d
}

// Len returns the number of strings.
func (d *Dict) Len() int { return d.Sorted() + int(d.added.Load()) }

// Sorted returns how many leading codes are in byte order.
func (d *Dict) Sorted() int {
	if d.packed != nil {
		return d.packed.Strings
	}
	return d.sorted.len()
}

// Bytes returns the memory of the sorted strings. For packed strings, it is the
// memory that they take when all are unpacked.
func (d *Dict) Bytes() int64 {
	if d.packed != nil {
		return d.packed.Bytes + 4*int64(d.packed.Strings)
	}
	return d.sorted.bytes()
}

// AddedBytes returns about how much memory interned strings take, in bytes.
func (d *Dict) AddedBytes() int64 { return d.text.Load() }

// Charge makes the dictionary call charge with the memory of interned strings,
// a part at a time. charge panics to refuse, and the panic passes through
// Intern. No string may be interned yet.
func (d *Dict) Charge(charge func(bytes int64)) { d.charge = charge }

// The bytes of an interned string beside its text, and how many are charged at
// once.
const (
	internedBytes = 64
	chargeBytes   = 256 << 10
)

// take accounts for the memory of an addition.
func (d *Dict) take(bytes int64) {
	d.text.Add(bytes)
	if d.charge == nil {
		return
	}
	if owed := d.owed.Add(bytes); owed >= chargeBytes && d.owed.CompareAndSwap(owed, 0) {
		d.charge(owed)
	}
}

// String returns the string of a code.
func (d *Dict) String(code uint32) string {
	n := d.Sorted()
	if int(code) < n {
		return d.sortedAt(int(code))
	}
	s, i := segmentOf(int(code) - n)
	return (*d.segments[s].Load())[i]
}

func segmentOf(i int) (segment, index int) {
	segment = bits.Len(uint(i/firstSegment+1)) - 1
	return segment, i - firstSegment*(1<<segment-1)
}

// Lookup returns the code of a string, if the dictionary has it.
func (d *Dict) Lookup(s string) (uint32, bool) {
	if !d.index.ready.Load() {
		i := d.LowerBound(s)
		return uint32(i), i < d.Sorted() && d.sortedAt(i) == s
	}
	return d.find(s, maphash.String(hashSeed, s))
}

// find is Lookup by hash.
func (d *Dict) find(s string, hash uint64) (uint32, bool) {
	if table := d.index.table; len(table) > 0 {
		mask := uint32(len(table) - 1)
		for i := uint32(hash) & mask; table[i].code != 0; i = (i + 1) & mask {
			if code := table[i].code - 1; table[i].hash == uint32(hash) &&
				d.sortedAt(int(code)) == s {
				return code, true
			}
		}
	}
	shard := d.shard(hash)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	code, ok := shard.codes[s]
	return code, ok
}

func (d *Dict) shard(hash uint64) *dictShard { return &d.shards[hash>>59] }

// buildIndex fills the table of the sorted strings.
func (d *Dict) buildIndex() {
	n := d.Sorted()
	if n > 0 {
		slots := 1 << bits.Len(uint(2*n-1))
		d.take(slotBytes * int64(slots))
		table := hugepage.Advise(make([]internSlot, slots))
		mask := uint32(len(table) - 1)
		for code := range n {
			h := uint32(maphash.String(hashSeed, d.sortedAt(code)))
			i := h & mask
			for table[i].code != 0 {
				i = (i + 1) & mask
			}
			table[i] = internSlot{code: uint32(code) + 1, hash: h}
		}
		d.index.table = table
	}
	d.index.ready.Store(true)
}

// LowerBound returns the first code in byte order whose string is at least s.
func (d *Dict) LowerBound(s string) int {
	return sort.Search(d.Sorted(), func(i int) bool { return d.sortedAt(i) >= s })
}

// Intern returns the code of a string, and adds the string if it is new.
func (d *Dict) Intern(s string) uint32 {
	d.index.once.Do(d.buildIndex)
	hash := maphash.String(hashSeed, s)
	if code, ok := d.find(s, hash); ok {
		return code
	}
	shard := d.shard(hash)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if code, ok := shard.codes[s]; ok {
		return code
	}
	d.take(internedBytes + int64(len(s)))
	s = strings.Clone(s)
	code := d.append(s)
	if shard.codes == nil {
		shard.codes = map[string]uint32{}
	}
	shard.codes[s] = code
	return code
}

// append adds a new string and returns its code.
func (d *Dict) append(s string) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := int(d.added.Load())
	seg, i := segmentOf(n)
	if i == 0 {
		room := make([]string, firstSegment<<seg)
		d.segments[seg].Store(&room)
	}
	(*d.segments[seg].Load())[i] = s
	d.added.Store(int64(n + 1))
	return uint32(d.Sorted() + n)
}

// Compare orders two codes by their strings' bytes.
func (d *Dict) Compare(a, b uint32) int {
	if n := d.Sorted(); int(a) < n && int(b) < n {
		return int(a) - int(b)
	}
	return strings.Compare(d.String(a), d.String(b))
}

// Ranks returns the position of each code's string in byte order, or nil if
// codes equal positions. Strings that are interned later have no rank.
func (d *Dict) Ranks() []uint32 {
	if d.added.Load() == 0 {
		return nil
	}
	_, remaps := MergeDicts([]*Dict{d}, nil)
	return remaps[0]
}

// stringArena is an append-only list of strings in one byte slice.
type stringArena struct {
	data []byte
	// ends[i] is the end of string i. Once data is longer than shortArena, the
	// ends of all strings are in wide instead.
	ends []uint32
	wide []uint64
	// owner keeps data and ends alive if they are pages of a file that are
	// freed when nothing needs them. Otherwise it is nil.
	owner any
}

// shortArena is the size of data below which positions in it have 32 bits.
// Tests make it small.
var shortArena = 1 << 32

func (a *stringArena) len() int {
	if a.wide != nil {
		return len(a.wide)
	}
	return len(a.ends)
}

func (a *stringArena) bytes() int64 {
	return int64(cap(a.data)) + 4*int64(cap(a.ends)) + 8*int64(cap(a.wide))
}

func (a *stringArena) grow(n, size int) {
	a.data = hugepage.Advise(make([]byte, 0, size))
	if size < shortArena {
		a.ends = hugepage.Advise(make([]uint32, 0, n))
	} else {
		a.wide = hugepage.Advise(make([]uint64, 0, n))
	}
}

// growIn is grow in a space.
func (a *stringArena) growIn(in *space, n, size int) (err error) {
	if in == nil {
		a.grow(n, size)
		return nil
	}
	a.owner = in
	if a.data, err = newIn[byte](in, size); err != nil {
		return err
	}
	if size < shortArena {
		a.ends, err = newIn[uint32](in, n)
	} else {
		a.wide, err = newIn[uint64](in, n)
		a.wide = a.wide[:0:n]
	}
	a.data, a.ends = a.data[:0:size], a.ends[:0:len(a.ends)]
	return err
}

// wanted returns the capacity that the text needs to append s, or 0 if it has
// that. Long slices double, because append would grow them by a quarter and
// copy them often.
func (a *stringArena) wanted(s string) int {
	if cap(a.data)-len(a.data) >= len(s) {
		return 0
	}
	return len(a.data) + max(len(s), len(a.data))
}

// enlarge grows the text to a capacity.
func (a *stringArena) enlarge(size int) {
	a.data = append(hugepage.Advise(make([]byte, 0, size)), a.data...)
}

func (a *stringArena) add(s string) {
	if size := a.wanted(s); size > 0 {
		a.enlarge(size)
	}
	a.data = append(a.data, s...)
	if a.wide == nil && len(a.data) >= shortArena {
		a.wide = make([]uint64, len(a.ends), 2*len(a.ends)+1)
		for i, e := range a.ends {
			a.wide[i] = uint64(e)
		}
		a.ends = nil
	}
	if a.wide != nil {
		a.wide = append(a.wide, uint64(len(a.data)))
		return
	}
	a.ends = append(a.ends, uint32(len(a.data)))
}

// at returns string i. It shares the arena's memory, which is never
// overwritten.
func (a *stringArena) at(i int) string {
	var from, to uint64
	if a.wide != nil {
		to = a.wide[i]
		if i > 0 {
			from = a.wide[i-1]
		}
	} else {
		to = uint64(a.ends[i])
		if i > 0 {
			from = uint64(a.ends[i-1])
		}
	}
	return unsafe.String(unsafe.SliceData(a.data[from:to]), int(to-from))
}
