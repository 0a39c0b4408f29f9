package tables

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// bitmap has a bit for each tuple that may come. The tuples that agree in one
// column, the major one, have neighbouring bits.
//
// If few of the major column's values occur, they are numbered as they come.
// The bits of value number n are then the n-th ones, and the memory behind the
// last of them is never touched: the system does not provide it.
type bitmap struct {
	bitmapKey
	words []uint64

	numbers []uint32 // of the major column's values, from 1; nil if not numbered
	mu      sync.Mutex
	n       uint32 // values with a number
}

// bitmapKey is how a packed tuple becomes the place of its bit.
type bitmapKey struct {
	bytes int64 // of the bitmap; 0 if it would be huge
	// The major column's value, and the rest of the tuple, in a packed tuple.
	major, minor part
	unit         uint64 // values of the rest
	numbered     bool
}

// part is some neighbouring bits of a packed tuple.
type part struct {
	shift uint
	mask  uint64
}

func (p part) of(k uint64) uint64 { return k >> (p.shift & 63) & p.mask }

const (
	// maxDense is the largest bitmap considered, in bytes.
	maxDense = 1 << 33
	// maxNumbered is the most bits of a column whose values are numbered.
	maxNumbered = 22
)

// newBitmapKey returns the key of all tuples that ranges allow. The major part
// is all columns but the last, which keep their packed form; the last is
// counted in units of its range, so that a relation over 17,000 nodes takes 36
// MB and not 128.
func newBitmapKey(l *interval.Layout, ranges []interval.Interval) bitmapKey {
	if len(ranges) == 0 || l.Bits > 48 {
		return bitmapKey{}
	}
	last := l.Fields[len(ranges)-1]
	d := bitmapKey{major: part{uint(last.Bits), 1<<l.Bits - 1}, minor: part{0, last.Mask()},
		unit: valuesOf(ranges[len(ranges)-1])}
	d.fit(valuesAbove(l, ranges))
	return d
}

// fit sets bytes for the given number of values of the major part.
func (d *bitmapKey) fit(values uint64) {
	d.bytes = 0
	if high, low := bits.Mul64(values, d.unit); high == 0 && low <= 8*maxDense {
		d.bytes = max(int64(low+63)/64*8, 8)
	}
}

// valuesOf returns the number of values of a range.
func valuesOf(r interval.Interval) uint64 {
	if r.Empty() {
		return 1
	}
	return uint64(r.Hi-r.Lo) + 1
}

// valuesAbove returns a bound of all columns but the last, in their packed
// form: the first column's own values, each above full lower ones.
func valuesAbove(l *interval.Layout, ranges []interval.Interval) uint64 {
	last := uint(l.Fields[len(ranges)-1].Bits)
	above := uint64(1) << (uint(l.Bits) - last)
	if len(ranges) > 1 && !ranges[0].Empty() {
		above = min(above, valuesOf(ranges[0])<<((uint(l.Fields[0].Shift)-last)&63))
	}
	return above
}

// numberedKey returns the key whose major column is the first or the last of
// several, with numbers for its values.
func numberedKey(l *interval.Layout, ranges []interval.Interval, last bool) bitmapKey {
	n := len(ranges)
	d := bitmapKey{numbered: true}
	field, values := l.Fields[0], valuesOf(ranges[0])
	if last {
		field, values = l.Fields[n-1], valuesOf(ranges[n-1])
		rest := uint(field.Bits)
		d.minor = part{rest, 1<<(uint(l.Bits)-rest) - 1}
		d.unit = valuesAbove(l, ranges)
	} else {
		d.minor = part{0, 1<<field.Shift - 1}
		d.unit = 1 << field.Shift
		if n == 2 {
			d.unit = valuesOf(ranges[1])
		}
	}
	d.major = part{uint(field.Shift), field.Mask()}
	if field.Bits > 0 && field.Bits <= maxNumbered {
		d.fit(values)
	}
	return d
}

// distinct are the numbers of different values in the first and in the last
// column of a table with the given number of rows.
type distinct struct{ rows, first, last int }

// numbered returns the key of the bitmap that is expected to be smallest, and
// its size without the memory that is not touched. A column that runs extend
// stays a minor one: the bits of a run are then neighbours. Before anything was
// extended, numbers are only for a bitmap that is large without.
func (s *tupleSet) numbered() (key bitmapKey, bytes int64) {
	key, bytes = s.plain, s.plain.bytes
	l := &s.table.Layout
	rows := s.table.rows()
	if len(s.ranges) < 2 || rows == 0 {
		return key, bytes
	}
	if rows >= 2*s.counted.rows {
		s.counted = distinct{rows, s.countValues(l.Fields[0]),
			s.countValues(l.Fields[len(s.ranges)-1])}
	}
	for _, last := range []bool{false, true} {
		k, n := numberedKey(l, s.ranges, last), s.counted.first
		if last {
			n = s.counted.last
		}
		all, one := s.extended(uint8(k.major.shift))
		if 2*one > all || all == 0 && s.plain.bytes <= eagerDense {
			continue
		}
		// A number is looked up for each tuple, which must be worth it.
		if size := k.size(uint64(n)); k.bytes > 0 && size < bytes && 2*size <= s.plain.bytes {
			key, bytes = k, size
		}
	}
	return key, bytes
}

// size is that of the bits of n values.
func (d *bitmapKey) size(n uint64) int64 { return int64(n*d.unit+63) / 64 * 8 }

// countValues counts the different values in a column of few bits.
func (s *tupleSet) countValues(f interval.Field) (n int) {
	if f.Bits > maxNumbered {
		return 0
	}
	seen := work.Alloc[uint64](s.table.mem, s.table.Name, 1<<f.Bits/64+1)
	defer work.Free(s.table.mem, seen)
	s.refill(func(keys []uint64) {
		for _, k := range keys {
			v := k >> (f.Shift & 63) & f.Mask()
			seen[v/64] |= 1 << (v % 64)
		}
	})
	for _, w := range seen {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b *bitmap) alloc(mem *work.Memory, name string, key bitmapKey) {
	b.bitmapKey, b.n = key, 0
	b.words = work.Alloc[uint64](mem, name, int(key.bytes/8))
	if key.numbered {
		b.numbers = work.Alloc[uint32](mem, name, int(key.major.mask)+1)
	}
}

func (b *bitmap) free(mem *work.Memory) {
	work.Free(mem, b.words)
	work.Free(mem, b.numbers)
	b.words, b.numbers = nil, nil
}

// touched returns how much of the bitmap can have been touched, if its values
// are numbered.
func (b *bitmap) touched() int64 {
	if b.numbers == nil {
		return 0
	}
	return b.size(uint64(b.n))
}

// place returns the place of a tuple's bit. Workers may ask at the same time.
func (b *bitmap) place(k uint64) uint64 {
	v := b.major.of(k)
	if b.numbers != nil {
		v = b.number(v)
	}
	return v*b.unit + b.minor.of(k)
}

// number returns the number of a value of the major column, from 0, which it
// gets now if it has none.
func (b *bitmap) number(v uint64) uint64 {
	if n := atomic.LoadUint32(&b.numbers[v]); n > 0 {
		return uint64(n) - 1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.numbers[v] == 0 {
		b.n++
		atomic.StoreUint32(&b.numbers[v], b.n)
	}
	return uint64(b.numbers[v]) - 1
}

// step returns how much the place grows with the column at a shift, unless that
// is the major one.
func (b *bitmap) step(shift uint8) (step uint64, major bool) {
	switch s := uint(shift); {
	case b.numbers != nil && s == b.major.shift:
		return 0, true
	case b.numbers == nil && s >= b.major.shift:
		return b.unit << ((s - b.major.shift) & 63), false
	default:
		return 1 << ((s - b.minor.shift) & 63), false
	}
}

// insert sets the keys' bits and appends the new ones to dst; workers may do so
// at the same time, unless one is alone. Most tries of a recursive rule find
// their bit set, so it is read before the costlier atomic update.
func (b *bitmap) insert(keys, dst []uint64, alone bool) []uint64 {
	switch {
	case b.numbers != nil:
		for _, k := range keys {
			at := b.place(k)
			p, bit := &b.words[at>>6], uint64(1)<<(at&63)
			if atomic.LoadUint64(p)&bit == 0 && atomic.OrUint64(p, bit)&bit == 0 {
				dst = append(dst, k)
			}
		}
		return dst
	case alone:
		return b.insertAlone(keys, dst)
	}
	words, shift, unit, mask := b.words, b.major.shift&63, b.unit, b.minor.mask
	for _, k := range keys {
		at := k>>shift*unit + k&mask
		p, bit := &words[at>>6], uint64(1)<<(at&63)
		if atomic.LoadUint64(p)&bit == 0 && atomic.OrUint64(p, bit)&bit == 0 {
			dst = append(dst, k)
		}
	}
	return dst
}

// insertAlone is insert for one worker, of values without numbers.
func (b *bitmap) insertAlone(keys, dst []uint64) []uint64 {
	n := len(dst)
	dst = slices.Grow(dst, len(keys))[:n+len(keys)]
	words, shift, unit, mask := b.words, b.major.shift&63, b.unit, b.minor.mask
	for _, k := range keys {
		at := k>>shift*unit + k&mask
		p, bit := &words[at>>6], uint64(1)<<(at&63)
		if *p&bit == 0 {
			*p |= bit
			dst[n] = k
			n++
		}
	}
	return dst[:n]
}

// extend is insert of the tuples that a run makes of a key.
func (b *bitmap) extend(e *Extension, key uint64, words []uint32, alone bool,
	dst []uint64) []uint64 {
	found := e.absent[:len(words)]
	var n int
	offset, shift := e.Offset, e.Shift&63
	step, major := b.step(e.Shift)
	var first uint64
	if !major {
		first = b.place(key) + offset*step
	}
	switch {
	case major:
		n = b.absentMajor(found, words, offset, b.minor.of(key))
	case step == 1:
		n = absent(found, b.words, words, first)
	default:
		n = absentApart(found, b.words, words, first, step)
	}
	bitmap := b.words
	for _, word := range found[:n] {
		k, at := key+(offset+uint64(word))<<shift, first+uint64(word)*step
		if major {
			at = b.place(k)
		}
		p, bit := &bitmap[at>>6], uint64(1)<<(at&63)
		if alone {
			had := *p
			*p = had | bit
			if had&bit != 0 {
				continue // twice in the run
			}
		} else if atomic.OrUint64(p, bit)&bit != 0 {
			continue
		}
		dst = append(dst, k)
	}
	return dst
}

// absent writes the words whose bits at first + word are not set to dst, and
// returns their number. Inlined into a larger function, the loop would keep
// half of its variables in memory.
//
//go:noinline
func absent(dst []uint32, bitmap []uint64, words []uint32, first uint64) int {
	n := 0
	for _, word := range words {
		at := first + uint64(word)
		if atomic.LoadUint64(&bitmap[at>>6])&(1<<(at&63)) == 0 {
			dst[n] = word
			n++
		}
	}
	return n
}

// absentApart is absent for bits at first + word*step.
//
//go:noinline
func absentApart(dst []uint32, bitmap []uint64, words []uint32, first, step uint64) int {
	n := 0
	for _, word := range words {
		at := first + uint64(word)*step
		if atomic.LoadUint64(&bitmap[at>>6])&(1<<(at&63)) == 0 {
			dst[n] = word
			n++
		}
	}
	return n
}

// absentMajor is absent for words that, with an offset, are values of the major
// column. Those without a number are absent.
func (b *bitmap) absentMajor(dst, words []uint32, offset, minor uint64) int {
	n := 0
	bitmap, numbers, unit := b.words, b.numbers, b.unit
	for _, word := range words {
		v := uint64(atomic.LoadUint32(&numbers[uint64(word)+offset]))
		if v > 0 {
			at := (v-1)*unit + minor
			if atomic.LoadUint64(&bitmap[at>>6])&(1<<(at&63)) != 0 {
				continue
			}
		}
		dst[n] = word
		n++
	}
	return n
}
