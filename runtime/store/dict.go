package store

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Dict maps strings to dense codes from 0. The first Sorted() codes are in byte
// order, so they compare as their strings do; codes interned later, by running
// programs, are in no order. Reading and interning are safe for concurrent use,
// and reading takes no lock.
type Dict struct {
	sorted stringArena

	mu    sync.Mutex
	added atomic.Int64
	// segments hold the interned strings: segment s has room for
	// firstSegment<<s of them and is never moved, so that readers need no lock.
	segments [32]atomic.Pointer[[]string]
	codes    sync.Map // interned string -> uint32
}

const firstSegment = 256

// NewDict returns a dictionary of the given strings, which must be in strictly
// ascending byte order.
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
func (d *Dict) Len() int { return d.sorted.len() + int(d.added.Load()) }

// Sorted returns how many leading codes are in byte order.
func (d *Dict) Sorted() int { return d.sorted.len() }

// Bytes returns the memory of the sorted strings.
func (d *Dict) Bytes() int64 { return d.sorted.bytes() }

// String returns the string of a code.
func (d *Dict) String(code uint32) string {
	if int(code) < d.sorted.len() {
		return d.sorted.at(int(code))
	}
	s, i := segmentOf(int(code) - d.sorted.len())
	return (*d.segments[s].Load())[i]
}

func segmentOf(i int) (segment, index int) {
	segment = bits.Len(uint(i/firstSegment+1)) - 1
	return segment, i - firstSegment*(1<<segment-1)
}

// Lookup returns the code of a string that is there.
func (d *Dict) Lookup(s string) (uint32, bool) {
	n := d.sorted.len()
	if i := sort.Search(n, func(i int) bool { return d.sorted.at(i) >= s }); i < n && d.sorted.at(i) == s {
		return uint32(i), true
	}
	if d.added.Load() > 0 {
		if code, ok := d.codes.Load(s); ok {
			return code.(uint32), true
		}
	}
	return 0, false
}

// LowerBound returns the first code whose string is at least s, among those in
// byte order.
func (d *Dict) LowerBound(s string) int {
	return sort.Search(d.sorted.len(), func(i int) bool { return d.sorted.at(i) >= s })
}

// Intern returns the code of a string, adding it when it is new.
func (d *Dict) Intern(s string) uint32 {
	if code, ok := d.Lookup(s); ok {
		return code
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if code, ok := d.codes.Load(s); ok {
		return code.(uint32)
	}
	s = strings.Clone(s)
	n := int(d.added.Load())
	code := uint32(d.sorted.len() + n)
	seg, i := segmentOf(n)
	if i == 0 {
		room := make([]string, firstSegment<<seg)
		d.segments[seg].Store(&room)
	}
	(*d.segments[seg].Load())[i] = s
	d.codes.Store(s, code)
	d.added.Store(int64(n + 1))
	return code
}

// Compare orders two codes by their strings' bytes.
func (d *Dict) Compare(a, b uint32) int {
	if n := d.Sorted(); int(a) < n && int(b) < n {
		return int(a) - int(b)
	}
	return strings.Compare(d.String(a), d.String(b))
}

// Ranks returns the position of each code's string in byte order, or nil when
// codes are positions themselves. Strings that are interned later have no rank.
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
	// ends[i] is where string i ends; once data passes 4 GiB, the ends of all
	// strings are in wide.
	ends []uint32
	wide []uint64
}

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
	a.data = make([]byte, 0, size)
	if size < 1<<32 {
		a.ends = make([]uint32, 0, n)
	} else {
		a.wide = make([]uint64, 0, n)
	}
}

func (a *stringArena) add(s string) {
	if cap(a.data)-len(a.data) < len(s) {
		// append would grow long slices by a quarter and copy them often.
		a.data = slices.Grow(a.data, max(len(s), len(a.data)))
	}
	a.data = append(a.data, s...)
	if a.wide == nil && len(a.data) >= 1<<32 {
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

// at returns string i. It shares the arena's memory, which is never overwritten.
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
