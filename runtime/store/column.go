package store

import (
	"context"
	"math"
	goruntime "runtime"
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Column is an immutable sequence of words of one type, stored as offsets from
// a base in the narrowest of 0, 1, 2, 4 and 8 bytes that holds the range: word
// i is Base plus Step times the unsigned offset i, modulo 2^64. Width 0 stores
// no offsets: all words equal Base.
//
// Step is 1 except for datetimes and decimals whose distances have a greater
// common divisor. A column of whole days, for example, has a Step of a day in
// microseconds, and its offsets count days.
type Column struct {
	Type scalar.Type
	Dict *Dict // the dictionary of a String column, or nil

	Base  int64
	Step  int64 // not 0; a negative one stands for one of at least 2^63
	Width uint8 // bytes of an entry: 0, 1, 2, 4 or 8; selects the slice below that is in use
	U8    []uint8
	U16   []uint16
	U32   []uint32
	U64   []uint64

	Stats ColumnStats
	n     int
	// Absent means that the loader left the entries out, because no plan reads
	// them. Width is 0, and the words are meaningless.
	Absent bool
	// OnDisk means that the entries are pages of a file, which the system
	// reclaims when it needs their memory.
	OnDisk bool
	// Late reads the strings of a column whose reading the loader has put off.
	// Type is then int, and the words are row numbers of a file. It is nil for
	// other columns.
	Late LateStrings
	// Encoded holds the entries as pages of a file, which are not decoded on
	// the host unless IsDecoded. It is nil for other columns.
	Encoded  Encoded
	decoding *decoding // nil without Encoded
	// owner keeps a slice outside of Go's heap alive. A reader of the slice
	// keeps the column reachable until it is done.
	owner any
	// head is the column of which this one is a leading slice, or nil.
	head *Column
	// used is the number of entries of the slice that columns over it have
	// taken. It is nil if the slice has no room for more.
	used *atomic.Int64
}

// LateStrings reads a column of strings for few rows of a file.
type LateStrings interface {
	// ReadRows returns the column of the given rows, which must ascend, and how
	// many bytes of the file it has read.
	ReadRows(ctx context.Context, threads int, rows []uint32) (*Column, int64, error)
	// File and Name are the names of the file and of its column.
	File() string
	Name() string
}

// ColumnStats holds the statistics of a column's words.
type ColumnStats struct {
	// Min and Max bound the words in the order of the type (for strings, the
	// order of the codes). They are meaningless if the column is empty, unless
	// Bounded is set.
	Min, Max int64
	// Bounded means that code for the column must hold for all words between
	// Min and Max, whichever rows there are.
	Bounded bool
	// Distinct estimates the number of distinct words. It is exact for
	// ascending columns and, unless Encoded is set, for widths of up to two
	// bytes.
	Distinct int64
	// Ascending means that words never decrease from row to row, in the order
	// of the type.
	Ascending bool
}

// AbsentColumn returns a column of n entries that are left out.
func AbsentColumn(t scalar.Type, n int, stats ColumnStats) *Column {
	return &Column{Type: t, Base: stats.Min, Step: 1, Stats: stats, n: n, Absent: true}
}

// ConstantColumn returns a column of n entries, at least one, of one word.
func ConstantColumn(t scalar.Type, dict *Dict, word int64, n int) *Column {
	return &Column{Type: t, Dict: dict, Base: word, Step: 1, n: n,
		Stats: ColumnStats{Min: word, Max: word, Distinct: 1, Ascending: true}}
}

// Len returns the number of entries.
func (c *Column) Len() int { return c.n }

// Bytes returns the size of the entries in memory, without the dictionary.
func (c *Column) Bytes() int64 { return int64(c.Width) * int64(c.n) }

// Entries returns the memory of the entries. A reader must keep the column
// reachable until it is done.
func (c *Column) Entries() []byte {
	c.onHost()
	switch c.Width {
	case 1:
		return c.U8
	case 2:
		return bytesOf(c.U16)
	case 4:
		return bytesOf(c.U32)
	case 8:
		return bytesOf(c.U64)
	}
	return nil
}

// Slice returns the column of the entries between from and until, which share
// memory with c. Code and layouts made for c also fit the slice.
func (c *Column) Slice(from, until int) *Column {
	c.onHost()
	s := *c
	s.Encoded, s.decoding = nil, nil
	switch c.Width {
	case 1:
		s.U8 = c.U8[from:until:until]
	case 2:
		s.U16 = c.U16[from:until:until]
	case 4:
		s.U32 = c.U32[from:until:until]
	case 8:
		s.U64 = c.U64[from:until:until]
	}
	s.n, s.used, s.owner, s.head = until-from, nil, c, nil
	if from == 0 {
		s.head = c
	}
	// If words ascend and there are as many distinct words as entries, no word
	// is repeated.
	if n := int64(s.n); c.Stats.Distinct == int64(c.n) {
		s.Stats.Distinct = n
	} else {
		s.Stats.Distinct = min(c.Stats.Distinct, max(n-1, 1))
	}
	s.Stats.Bounded = true
	return &s
}

// Head returns the column of which c is a leading slice, or c itself.
func (c *Column) Head() *Column {
	if c.head != nil {
		return c.head
	}
	return c
}

// Word returns entry i.
func (c *Column) Word(i int) int64 {
	c.onHost()
	offset := int64(0)
	switch c.Width {
	case 1:
		offset = int64(c.U8[i])
	case 2:
		offset = int64(c.U16[i])
	case 4:
		offset = int64(c.U32[i])
	case 8:
		offset = int64(c.U64[i])
	}
	goruntime.KeepAlive(c)
	return c.Base + c.Step*offset
}

// Value returns entry i as a value.
func (c *Column) Value(i int) scalar.Value { return c.ValueOf(c.Word(i)) }

// ValueOf returns a word of the column as a value.
func (c *Column) ValueOf(word int64) scalar.Value {
	if c.Type.Kind == scalar.String {
		return scalar.OfString(c.Dict.String(uint32(word)))
	}
	return scalar.OfBits(c.Type, uint64(word))
}

// Read widens entries from, from+1, ... into dst, as many as dst has room for.
func (c *Column) Read(dst []int64, from int) {
	c.onHost()
	switch c.Width {
	case 1:
		widen(dst, c.U8[from:from+len(dst)], c.Base, c.Step)
	case 2:
		widen(dst, c.U16[from:from+len(dst)], c.Base, c.Step)
	case 4:
		widen(dst, c.U32[from:from+len(dst)], c.Base, c.Step)
	case 8:
		widen(dst, c.U64[from:from+len(dst)], c.Base, c.Step)
	default:
		for i := range dst {
			dst[i] = c.Base
		}
	}
	goruntime.KeepAlive(c)
}

// Gather widens the entries of the given rows into dst.
func (c *Column) Gather(dst []int64, rows []uint32) {
	c.onHost()
	switch c.Width {
	case 1:
		gather(dst, c.U8, rows, c.Base, c.Step)
	case 2:
		gather(dst, c.U16, rows, c.Base, c.Step)
	case 4:
		gather(dst, c.U32, rows, c.Base, c.Step)
	case 8:
		gather(dst, c.U64, rows, c.Base, c.Step)
	default:
		for i := range rows {
			dst[i] = c.Base
		}
	}
	goruntime.KeepAlive(c)
}

// Select returns the column of the given rows, in their order.
func (c *Column) Select(rows []uint32) *Column {
	// Without a ledger there is no error.
	out, _ := c.SelectWithin(nil, "", rows)
	return out
}

// SelectWithin is Select with a ledger, which reserves the memory under the
// name what.
func (c *Column) SelectWithin(ledger *Ledger, what string, rows []uint32) (*Column, error) {
	b := NewBuilder(c.Type, c.Dict)
	b.ledger, b.what = ledger, what
	words := make([]int64, min(len(rows), chunkRows))
	for len(rows) > 0 {
		n := min(len(rows), len(words))
		c.Gather(words[:n], rows[:n])
		b.AppendWords(words[:n])
		rows = rows[n:]
	}
	return b.finish()
}

// WithDict returns the same strings coded in another dictionary. remap holds
// the new code of each old one, as MergeDicts returns it; a nil remap means
// that the codes stay the same. threads bounds the threads that recode.
func (c *Column) WithDict(d *Dict, remap []uint32, threads int) *Column {
	if !c.IsDecoded() {
		return c.recodedPages(d, remap)
	}
	if remap == nil {
		same := *c
		same.Dict, same.Encoded, same.decoding = d, nil, nil
		return &same
	}
	if c.n == 0 || !slices.IsSorted(remap) {
		b := NewBuilder(c.Type, d)
		words := make([]int64, min(c.n, chunkRows))
		for from := 0; from < c.n; from += len(words) {
			part := words[:min(len(words), c.n-from)]
			c.Read(part, from)
			for i, w := range part {
				part[i] = int64(remap[w])
			}
			b.AppendWords(part)
		}
		return b.Finish()
	}
	// The order of the codes stays the same, so the statistics remain valid.
	out := &Column{Type: c.Type, Dict: d, Step: 1, Stats: c.Stats, n: c.n}
	least, greatest := remap[c.Stats.Min], remap[c.Stats.Max]
	out.Base, out.Width = int64(least), WidthOf(uint64(greatest-least))
	out.Stats.Min, out.Stats.Max = int64(least), int64(greatest)
	switch out.Width {
	case 1:
		out.U8 = recode[uint8](c, remap, least, threads)
	case 2:
		out.U16 = recode[uint16](c, remap, least, threads)
	case 4:
		out.U32 = recode[uint32](c, remap, least, threads)
	}
	return out
}

// recode returns the new codes of a column's entries, minus base.
func recode[T unsigned](c *Column, remap []uint32, base uint32, threads int) []T {
	c.onHost()
	out := hugepage.Advise(make([]T, c.n))
	switch c.Width {
	case 1:
		recodeEach(out, c.U8, c, remap, base, threads)
	case 2:
		recodeEach(out, c.U16, c, remap, base, threads)
	case 4:
		recodeEach(out, c.U32, c, remap, base, threads)
	case 8: // as a GPU has derived strings
		recodeEach(out, c.U64, c, remap, base, threads)
	}
	goruntime.KeepAlive(c)
	return out
}

// rowsRecoded is how many entries a thread recodes at a time.
const rowsRecoded = 1 << 20

func recodeEach[T, S unsigned](
	out []T, in []S, c *Column, remap []uint32, base uint32, threads int,
) {
	// codes holds the new code of each offset. There are no more offsets than
	// entries of the dictionary.
	codes := make([]T, (c.Stats.Max-c.Base)/c.Step+1)
	for offset := range codes {
		codes[offset] = T(remap[c.Base+c.Step*int64(offset)] - base)
	}
	parts := (len(in) + rowsRecoded - 1) / rowsRecoded
	parallel.Do(min(threads, parts), parts, func(part int) {
		from := part * rowsRecoded
		to := out[from:]
		for i, offset := range in[from:min(from+rowsRecoded, len(in))] {
			to[i] = codes[offset]
		}
	})
}

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

func widen[T unsigned](dst []int64, src []T, base, step int64) {
	if step != 1 {
		for i, v := range src[:len(dst)] {
			dst[i] = base + step*int64(v)
		}
		return
	}
	for i, v := range src[:len(dst)] {
		dst[i] = base + int64(v)
	}
}

func gather[T unsigned](dst []int64, src []T, rows []uint32, base, step int64) {
	for i, r := range rows {
		dst[i] = base + step*int64(src[r])
	}
}

// orderWord is the inverse of orderKey.
func orderWord(k scalar.Kind, key uint64) int64 {
	switch k {
	case scalar.Int, scalar.Decimal, scalar.Datetime:
		return int64(key ^ 1<<63)
	case scalar.Float:
		if key>>63 == 1 {
			return int64(key ^ 1<<63)
		}
		return int64(^key)
	}
	return int64(key)
}

// floatKey orders IEEE bits: negative numbers by descending magnitude, then the
// others. The one NaN comes last.
func floatKey(w int64) uint64 { return uint64(w) ^ (uint64(w>>63) | 1<<63) }

// WidthOf returns the number of bytes that holds every number up to max.
func WidthOf(max uint64) uint8 {
	switch {
	case max == 0:
		return 0
	case max <= math.MaxUint8:
		return 1
	case max <= math.MaxUint16:
		return 2
	case max <= math.MaxUint32:
		return 4
	}
	return 8
}
