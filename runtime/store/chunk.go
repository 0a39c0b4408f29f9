package store

import (
	"math"
	"math/bits"
	goruntime "runtime"
	"slices"

	"github.com/redfoxdb/redfox/internal/bitpack"
	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Chunk is a run of entries, stored like those of a column, with its own base,
// step and width. A loader narrows each block of a file to a chunk. Join makes
// the column when the ranges of all chunks are known.
type Chunk struct {
	n          int
	min, max   uint64 // order keys
	last       uint64 // order key of the last entry; first is that of the first
	first      uint64
	ascending  bool
	base, step int64 // step 0: all entries equal base
	width      uint8
	u8         []uint8
	u16        []uint16
	u32        []uint32
	u64        []uint64
	// table, if not nil, holds all words of the chunk. The entries are then
	// indexes into it, of one or two bytes, and step divides the distance of
	// each word from base.
	table []int64
	// owner keeps entries that lie in pages of a file alive. It is nil for
	// entries in memory.
	owner any
}

// Placed reports whether the entries are indexes into a table of words, or all
// equal.
func (c *Chunk) Placed() bool { return c.table != nil || c.width == 0 }

// Len returns the number of entries.
func (c *Chunk) Len() int { return c.n }

// Bytes returns the memory of the entries, except those in pages of a file.
func (c *Chunk) Bytes() int64 {
	n := 8 * int64(len(c.table))
	if c.owner == nil {
		n += int64(c.n) * int64(c.width)
	}
	return n
}

// NewPlaced returns a chunk whose entries are indexes (places) into a table of
// words. Each word of the table must occur. The chunk keeps places, unless they
// can be narrower, and copies the table.
func NewPlaced[T uint8 | uint16](k scalar.Kind, places []T, table []int64) Chunk {
	c := Chunk{n: len(places)}
	switch p := any(places).(type) {
	case []uint8:
		c.width, c.u8 = 1, p
	case []uint16:
		if len(table) > 1<<8 {
			c.width, c.u16 = 2, p
			break
		}
		c.width, c.u8 = 1, hugepage.Advise(make([]uint8, len(p)))
		for i, place := range p {
			c.u8[i] = uint8(place)
		}
	}
	c.setTable(k, slices.Clone(table))
	return c
}

// setTable replaces the words of the table.
func (c *Chunk) setTable(k scalar.Kind, table []int64) {
	*c = Chunk{n: c.n, width: c.width, u8: c.u8, u16: c.u16, table: table, owner: c.owner}
	keys := make([]uint64, len(table))
	for i, w := range table {
		keys[i] = orderKeyOf(k, w)
	}
	c.min, c.max = bitpack.Extremes(keys)
	c.base = orderWord(k, c.min)
	if c.min == c.max {
		c.first, c.last, c.ascending = c.min, c.min, true
		c.width, c.u8, c.u16, c.table, c.owner = 0, nil, nil, nil, nil
		return
	}
	c.step = int64(stepOf(k, table, c.base))
	if c.width == 1 {
		c.first, c.last, c.ascending = keys[c.u8[0]], keys[c.u8[c.n-1]], ascends(c.u8, keys)
	} else {
		c.first, c.last, c.ascending = keys[c.u16[0]], keys[c.u16[c.n-1]], ascends(c.u16, keys)
	}
}

// ascends reports whether the keys of entries never decrease.
func ascends[T unsigned](places []T, keys []uint64) bool {
	last := uint64(0)
	for _, p := range places {
		if keys[p] < last {
			return false
		}
		last = keys[p]
	}
	return true
}

// Narrow packs words, each multiplied by unit, into a chunk. There must be at
// least one word.
func Narrow(k scalar.Kind, words []int64, unit int64) Chunk {
	c := Chunk{n: len(words)}
	if k == scalar.Float {
		c.bound(words, floatKey)
		if c.min == c.max {
			c.base = words[0]
			return c
		}
		c.step, c.width, c.u64 = 1, 8, offsets[uint64](words, 0, 1)
		return c
	}
	var flip uint64
	if k == scalar.Int || k == scalar.Decimal || k == scalar.Datetime {
		flip = 1 << 63
	}
	c.boundFlipped(words, flip)
	base := int64(c.min ^ flip)
	if c.min == c.max {
		c.base = base * unit
		c.scaleBounds(flip, unit)
		return c
	}
	step := stepOf(k, words, base)
	c.width = WidthOf((c.max - c.min) / step)
	switch c.width {
	case 1:
		c.u8 = offsets[uint8](words, base, step)
	case 2:
		c.u16 = offsets[uint16](words, base, step)
	case 4:
		c.u32 = offsets[uint32](words, base, step)
	default:
		c.u64 = offsets[uint64](words, base, step)
	}
	c.base, c.step = base*unit, int64(step)*unit
	c.scaleBounds(flip, unit)
	return c
}

func (c *Chunk) scaleBounds(flip uint64, unit int64) {
	if unit == 1 {
		return
	}
	for _, key := range []*uint64{&c.min, &c.max, &c.first, &c.last} {
		*key = uint64(int64(*key^flip)*unit) ^ flip
	}
}

func (c *Chunk) boundFlipped(words []int64, flip uint64) {
	key := uint64(words[0]) ^ flip
	lo, hi, prev, descents := key, key, key, 0
	for _, w := range words {
		key = uint64(w) ^ flip
		lo, hi = min(lo, key), max(hi, key)
		if key < prev {
			descents++
		}
		prev = key
	}
	c.min, c.max, c.first, c.last, c.ascending = lo, hi, uint64(words[0])^flip, prev, descents == 0
}

func (c *Chunk) bound(words []int64, order func(int64) uint64) {
	c.first = order(words[0])
	c.min, c.max, c.last, c.ascending = c.first, c.first, c.first, true
	for _, w := range words {
		key := order(w)
		c.min, c.max = min(c.min, key), max(c.max, key)
		if key < c.last {
			c.ascending = false
		}
		c.last = key
	}
}

// stepped reports whether words of the kind are stored in steps.
func stepped(k scalar.Kind) bool { return k == scalar.Decimal || k == scalar.Datetime }

// stepOf returns the step in which the words of a chunk are stored. Some word
// must differ from base.
func stepOf(k scalar.Kind, words []int64, base int64) uint64 {
	if !stepped(k) {
		return 1
	}
	return divisor(words, base)
}

// StepOf returns the greatest common divisor of the distances of all words from
// base. Some word must differ from base.
func StepOf(words []int64, base int64) uint64 { return divisor(words, base) }

// divisor returns the greatest common divisor of the distances of all words
// from base. Some word must differ from base.
func divisor(words []int64, base int64) uint64 {
	var g uint64
	var by exactDivision
	for _, w := range words {
		d := uint64(w - base)
		switch {
		case g == 0 && d == 0:
		case g == 0:
			g = d
			by = divideBy(g)
		case !by.divides(d):
			if g = gcd(g, d); g == 1 {
				return 1
			}
			by = divideBy(g)
		}
	}
	return g
}

// exactDivision divides multiples of a number, and recognises other numbers, by
// a multiplication with the inverse of the number's odd part modulo 2^64
// (Warren, "Hacker's Delight", 2nd edition, 10-16 and 10-17).
type exactDivision struct {
	inverse uint64
	shift   int    // the exponent of 2 in the number
	limit   uint64 // the largest quotient
}

func divideBy(n uint64) exactDivision {
	d := exactDivision{shift: bits.TrailingZeros64(n), limit: math.MaxUint64 / n}
	odd := n >> d.shift
	// An odd number is its own inverse modulo 8, so three bits are right. Each
	// step of Newton's method doubles the number of right bits.
	d.inverse = odd
	for range 5 {
		d.inverse *= 2 - odd*d.inverse
	}
	return d
}

func (d exactDivision) divides(n uint64) bool {
	return bits.RotateLeft64(n*d.inverse, -d.shift) <= d.limit
}

// quotient divides a multiple.
func (d exactDivision) quotient(n uint64) uint64 { return n >> d.shift * d.inverse }

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func offsets[T unsigned](words []int64, base int64, step uint64) []T {
	out := hugepage.Advise(make([]T, len(words)))
	if step != 1 {
		by := divideBy(step)
		for i, w := range words {
			out[i] = T(by.quotient(uint64(w - base)))
		}
		return out
	}
	for i, w := range words {
		out[i] = T(w - base)
	}
	return out
}

// Remap replaces the codes of a String chunk. A nil table changes nothing.
func (c *Chunk) Remap(codes []uint32) {
	if codes == nil {
		return
	}
	if c.table != nil {
		table := make([]int64, len(c.table))
		for i, w := range c.table {
			table[i] = int64(codes[w])
		}
		c.setTable(scalar.String, table)
		return
	}
	words := hugepage.Advise(make([]int64, c.n))
	c.read(words)
	for i, w := range words {
		words[i] = int64(codes[w])
	}
	*c = Narrow(scalar.String, words, 1)
}

// read sets dst to the words of all entries. The entries must not be indexes
// into a table.
func (c *Chunk) read(dst []int64) {
	col := Column{Base: c.base, Step: c.step, Width: c.width, U8: c.u8, U16: c.u16, U32: c.u32,
		U64: c.u64}
	col.Read(dst[:c.n], 0)
}

// assemble is Join for chunks that do not use all of dict.
func assemble(threads int, t scalar.Type, dict *Dict, chunks []Chunk, ledger *Ledger, what string) (
	*Column, error) {
	col, err := planColumn(t, dict, chunks).allocate(ledger, what)
	if err != nil {
		return nil, err
	}
	col.fill(threads, chunks)
	col.count(threads)
	return col, nil
}

// allocate makes room for the entries of a planned column.
func (col *Column) allocate(ledger *Ledger, what string) (_ *Column, err error) {
	switch col.Width {
	case 1:
		col.U8, col.owner, err = room[uint8](ledger, what, col.n)
	case 2:
		col.U16, col.owner, err = room[uint16](ledger, what, col.n)
	case 4:
		col.U32, col.owner, err = room[uint32](ledger, what, col.n)
	case 8:
		col.U64, col.owner, err = room[uint64](ledger, what, col.n)
	}
	col.OnDisk = col.owner != nil
	return col, err
}

// count determines the number of distinct words.
func (c *Column) count(threads int) {
	if c.Width > 0 {
		c.Stats.Distinct = countDistinct(c, min(threads, 1+c.n/chunkRows))
	}
}

// Join makes one column of chunks, and empties the chunks. If they hold
// strings, they must use all of dict. The ledger reserves the memory of the
// column under the name what before it is allocated.
func Join(threads int, t scalar.Type, dict *Dict, chunks []Chunk, ledger *Ledger, what string) (
	*Column, error) {
	col, err := planColumn(t, dict, chunks).allocate(ledger, what)
	if err != nil {
		return nil, err
	}
	distinct, counted := col.countTables(chunks)
	col.fill(threads, chunks)
	switch {
	case dict != nil:
		col.Stats.Distinct = int64(dict.Len())
	case counted:
		col.Stats.Distinct = distinct
	default:
		col.count(threads)
	}
	return col, nil
}

// planColumn returns the column for chunks, without entries.
func planColumn(t scalar.Type, dict *Dict, chunks []Chunk) *Column {
	col := &Column{Type: t, Dict: dict, Step: 1}
	if len(chunks) == 0 {
		col.Stats.Ascending = true
		return col
	}
	lo, hi := chunks[0].min, chunks[0].max
	ascending, last := true, chunks[0].first
	for i := range chunks {
		c := &chunks[i]
		col.n += c.n
		lo, hi = min(lo, c.min), max(hi, c.max)
		ascending = ascending && c.ascending && last <= c.first
		last = c.last
	}
	k := t.Kind
	col.Stats = ColumnStats{Min: orderWord(k, lo), Max: orderWord(k, hi), Ascending: ascending}
	switch {
	case lo == hi:
		col.Base = col.Stats.Min
		col.Stats.Distinct = 1
		return col
	case k == scalar.Float:
		col.Width = 8
	default:
		step := commonStep(k, chunks, lo)
		if WidthOf((hi-lo)/step) == WidthOf(hi-lo) {
			step = 1
		}
		col.Step = int64(step)
		col.Width = WidthOf((hi - lo) / step)
		col.Base = col.Stats.Min
		// A base of zero is cheaper to work with, so use it if the width stays
		// the same.
		if m := uint64(col.Stats.Min); m%step == 0 && (int64(m) >= 0 || k == scalar.Uint) &&
			WidthOf(uint64(col.Stats.Max)/step) == col.Width {
			col.Base = 0
		}
	}
	return col
}

// fill sets the entries of a planned column, and empties each chunk.
func (col *Column) fill(threads int, chunks []Chunk) {
	switch col.Width {
	case 1:
		joinInto(col.U8, threads, col, chunks)
	case 2:
		joinInto(col.U16, threads, col, chunks)
	case 4:
		joinInto(col.U32, threads, col, chunks)
	case 8:
		joinInto(col.U64, threads, col, chunks)
	}
}

// commonStep returns the greatest common divisor of the distances of all
// entries from the smallest one, for the kinds that are stored in steps.
func commonStep(k scalar.Kind, chunks []Chunk, lo uint64) uint64 {
	if !stepped(k) {
		return 1
	}
	var step uint64
	for i := range chunks {
		step = gcd(gcd(step, uint64(chunks[i].step)), chunks[i].min-lo)
	}
	return step
}

func joinInto[T unsigned](out []T, threads int, col *Column, chunks []Chunk) {
	starts, at := make([]int, len(chunks)), 0
	for i := range chunks {
		starts[i], at = at, at+chunks[i].n
	}
	parallel.Do(threads, len(chunks), func(i int) {
		c := &chunks[i]
		shift := T(uint64(c.base-col.Base) / uint64(col.Step))
		scale := T(uint64(c.step) / uint64(col.Step))
		dst := out[starts[i]:][:c.n]
		switch {
		case c.table != nil && c.width == 1:
			lookUp(dst, c.u8, offsets[T](c.table, col.Base, uint64(col.Step)))
		case c.table != nil:
			lookUp(dst, c.u16, offsets[T](c.table, col.Base, uint64(col.Step)))
		case c.width == 1:
			rebase(dst, c.u8, shift, scale)
		case c.width == 2:
			rebase(dst, c.u16, shift, scale)
		case c.width == 4:
			rebase(dst, c.u32, shift, scale)
		case c.width == 8:
			rebase(dst, c.u64, shift, scale)
		default:
			for j := range dst {
				dst[j] = shift
			}
		}
		goruntime.KeepAlive(c.owner)
		chunks[i] = Chunk{}
	})
	goruntime.KeepAlive(col)
}

func rebase[T, S unsigned](dst []T, src []S, shift, scale T) {
	for i, v := range src[:len(dst)] {
		dst[i] = shift + scale*T(v)
	}
}

func lookUp[T, S unsigned](dst []T, places []S, table []T) {
	for i, p := range places[:len(dst)] {
		dst[i] = table[p]
	}
}
