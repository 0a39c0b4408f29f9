package tables

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/bitrows"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Bits are what a join by bits goes through: the rows of an index, and what has
// been found of a column of a table.
type Bits struct {
	rows  bitrows.Rows
	seen  bitrows.Seen
	least uint64 // the first packed key that rows have
}

// maxDirectBits is the most bits of packed words that number bits.
const maxDirectBits = 32

// bitIndex is an index whose rows can be bits.
type bitIndex interface {
	Finder
	// bitKeys returns the least packed key, the number of keys from there on,
	// and the number of rows.
	bitKeys() (least, keys uint64, rows int)
	// bytes is the size of what the index is on.
	bytes() int64
	// bitRows returns where the bits of the index are kept.
	bitRows() *bitRows
	// enter adds the rows that came since the last call.
	enter(b *bitRows)
}

// bitRows are the rows of an index as bits of the payload minus base.
type bitRows struct {
	bitrows.Rows
	base  int64
	until int // rows that were entered
}

func (b *bitRows) free(mem *work.Memory) {
	work.Free(mem, b.Words)
	*b = bitRows{}
}

// Bits returns what a join with an index goes through if it extends tuples of
// the table in a column and bits are better than rows; else nil. No worker may
// run.
func (t *Table) Bits(index Finder, col int) *Bits {
	x, ok := index.(bitIndex)
	if !ok || t.set == nil || t.Layout.Words != 1 || x.KeyLayout().Words != 1 {
		return nil
	}
	least, keys, rows := x.bitKeys()
	join := bitrows.Join{Keys: keys, Rests: t.rests(col), Values: valuesOf(t.set.ranges[col])}
	if !join.Pays(rows) {
		return nil
	}
	b, base := x.bitRows(), t.Layout.Fields[col].Base
	if b.Words != nil && (b.base != base || b.Width != join.Width() || b.Words[0] != keys) {
		return nil // they serve a table with other bounds
	}
	if t.seen == nil {
		t.seen = make([]bitrows.Seen, len(t.Layout.Fields))
	}
	s := &t.seen[col]
	missing := 0
	if b.Words == nil {
		missing += join.RowsWords()
	}
	if s.Words == nil {
		missing += join.SeenWords()
	}
	if !join.Fits(x.bytes()+t.bytes(), 8*int64(missing), t.mem.Room()) {
		return nil
	}
	if b.Words == nil {
		b.Rows = bitrows.NewRows(work.Alloc[uint64](t.mem, t.Name, join.RowsWords()), join)
		b.base = base
	}
	if s.Words == nil {
		*s = bitrows.NewSeen(work.Alloc[uint64](t.mem, t.Name, join.SeenWords()), join)
	}
	x.enter(b)
	return &Bits{rows: b.Rows, seen: *s, least: least}
}

func (t *Table) bytes() int64 { return 8 * int64(t.rows()*t.Layout.Words) }

// rests bounds the tuples without a column, packed without a gap.
func (t *Table) rests(col int) uint64 {
	if n := t.Layout.Bits - int(t.Layout.Fields[col].Bits); n > maxDirectBits {
		return 1 << n
	}
	top := 0
	if col == 0 {
		top = 1
	}
	if top == len(t.Layout.Fields) {
		return 1
	}
	shift := t.Layout.Fields[top].Shift
	if top < col {
		shift -= t.Layout.Fields[col].Bits
	}
	return valuesOf(t.set.ranges[top]) << shift
}

// rest packs a tuple without the column of the runs, and without a gap.
func (e *Extension) rest(key uint64) uint64 {
	top, low := uint(e.Shift)+uint(e.Bits), uint64(1)<<(e.Shift&63)-1
	return key>>top<<e.Shift | key&low
}

// ExtendByBits is Extend by bits: it leaves out tuples that an earlier call has
// made. It returns how many tuples it tried.
func (w *Writer) ExtendByBits(r *work.Run, e *Extension, b *Bits, valid []bool, n int) (made int) {
	keys, shift := w.made[:0], e.Shift&63
	looked := 0
	for i, key := range e.Keys[:n] {
		if valid != nil && !valid[i] {
			continue
		}
		have, from := b.rows.Of(e.Joins[i] - b.least)
		if len(have) == 0 {
			continue // the row may have words that no tuple has
		}
		known := b.seen.With(e.rest(key))[from:][:len(have)]
		for at := unseen(have, known, 0); at < len(have); at = unseen(have, known, at+1) {
			had := atomic.LoadUint64(&known[at])
			fresh := have[at] &^ had
			// Another worker may lose its bits by this: they are then found
			// again.
			atomic.StoreUint64(&known[at], had|fresh)
			for first := uint64(from+at) * 64; fresh != 0; fresh &= fresh - 1 {
				keys = append(keys, key+(first+uint64(bits.TrailingZeros64(fresh)))<<shift)
			}
		}
		if looked += len(have); len(keys) >= extensionPiece || looked >= extensionPiece {
			r.Stop.Check()
			made += len(keys)
			w.Insert(r, keys)
			keys, looked = keys[:0], 0
		}
	}
	made += len(keys)
	w.Insert(r, keys)
	w.made = keys
	return made
}

// unseen returns the first place from at on whose word has a bit that is not
// known yet, or len(have). It must not be inlined: in a larger function the
// compiler spills the loop's variables.
//
//go:noinline
func unseen(have, known []uint64, at int) int {
	known = known[:len(have)]
	for ; at+4 <= len(have); at += 4 {
		h, k := have[at:at+4:at+4], known[at:at+4:at+4]
		if h[0]&^atomic.LoadUint64(&k[0])|h[1]&^atomic.LoadUint64(&k[1])|
			h[2]&^atomic.LoadUint64(&k[2])|h[3]&^atomic.LoadUint64(&k[3]) != 0 {
			break
		}
	}
	for ; at < len(have); at++ {
		if have[at]&^atomic.LoadUint64(&known[at]) != 0 {
			break
		}
	}
	return at
}

// freeSeen forgets what was found of the table's columns.
func (t *Table) freeSeen() {
	for _, s := range t.seen {
		work.Free(t.mem, s.Words)
	}
	t.seen = nil
}

func (x *Index) bitKeys() (least, keys uint64, rows int) {
	if x.offsets == nil || x.narrow == nil || x.unique {
		return 0, 0, 0
	}
	return x.least, x.domain, x.Rows
}

func (x *Index) bytes() int64 { return 8 * int64(x.Rows) }

func (x *Index) bitRows() *bitRows { return &x.bits }

func (x *Index) enter(b *bitRows) {
	if b.until == x.Rows {
		return
	}
	b.until = x.Rows
	offset := uint64(x.Pay.Fields[0].Base - b.base)
	for k := range x.domain {
		for _, word := range x.narrow[x.offsets[k]:x.offsets[k+1]] {
			b.Enter(k, uint64(word)+offset)
		}
	}
}

func (v growingVersion) bitKeys() (least, keys uint64, rows int) {
	x := v.GrowingIndex
	if x.narrow == nil || x.last || len(x.payCols) != 1 {
		return 0, 0, 0
	}
	return 0, x.keyDomain, x.table.Rows(v.version)
}

func (v growingVersion) bytes() int64 { return v.table.bytes() }

func (v growingVersion) bitRows() *bitRows {
	if v.version == queryplan.Old {
		return &v.oldBits
	}
	return &v.fullBits
}

func (v growingVersion) enter(b *bitRows) {
	x := v.GrowingIndex
	x.blocks(x.table.since(v.version, b.until), b.until, func(n int) {
		for i, key := range x.keyBuf[:n] {
			b.Enter(key, uint64(x.payVecs[0][i]-b.base))
		}
		b.until += n
	})
}

// since returns the spans of a version but for its first rows.
func (t *Table) since(v queryplan.Version, rows int) []Span {
	var out []Span
	left := t.Rows(v) - rows
	last := func(list []Span) {
		for i := len(list) - 1; i >= 0 && left > 0; i-- {
			s := list[i]
			s.from = max(s.from, s.to-left)
			left -= s.Rows()
			out = append(out, s)
		}
	}
	if v != queryplan.Old {
		last(t.delta.list)
	}
	last(t.old.list)
	slices.Reverse(out)
	return out
}
