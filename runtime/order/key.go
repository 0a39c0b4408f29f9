package order

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// RowsError is an ordering of more rows than have a number.
type RowsError struct {
	Name string // of the rows
}

// Error says what has too many rows.
func (e *RowsError) Error() string {
	return e.Name + fmt.Sprintf(" orders more than %d tuples, which is not supported",
		uint32(math.MaxUint32))
}

// packing tells how the rows of an ordering become words that order as they do.
// All columns of the ordering, one after the other, are a string of bits, cut
// into levels; a word has the bits of one level and below them the row's
// number.
type packing struct {
	cols    []*keyColumn
	levels  []level
	rowBits int
}

// level is the columns, or parts of columns, of a packed word, most significant
// first.
type level struct {
	parts []part
	bits  int
}

// part is some bits of a column's number: number >> drop, of so many bits,
// stands at a place above the row's number.
type part struct {
	col            *keyColumn
	drop, bits, at int
}

// keyColumn makes numbers from 0 to span of a column's words, which order as
// the ordering wants it.
type keyColumn struct {
	words Words
	kind  scalar.Kind
	desc  bool
	codes codeOrder // of strings whose codes do not order as they do

	low  int64 // the least of the words that order as int64 do
	span uint64
}

// pack plans the words of an ordering: by the keys and then by all columns that
// they leave out, ascending.
func (s *Sorter) pack(ctx context.Context, x *Rows, keys []Key) (*packing, error) {
	if x.N > math.MaxUint32 {
		return nil, &RowsError{x.Name}
	}
	p := &packing{rowBits: bits.Len64(uint64(max(x.N, 1) - 1))}
	used := make([]bool, len(x.Cols))
	add := func(k Key) error {
		if used[k.Col] {
			return nil
		}
		used[k.Col] = true
		c := &x.Cols[k.Col]
		col := &keyColumn{words: c.Words, kind: c.Type.Kind, desc: k.Desc}
		if c.Type.Kind == scalar.String && c.Dict.Sorted() < c.Dict.Len() {
			var err error
			if col.codes, err = s.orderCodes(ctx, x, c); err != nil {
				return err
			}
		}
		p.cols = append(p.cols, col)
		return nil
	}
	for _, k := range keys {
		if err := add(k); err != nil {
			return nil, err
		}
	}
	for c := range x.Cols {
		if err := add(Key{Col: c}); err != nil {
			return nil, err
		}
	}
	if err := s.bound(ctx, p.cols, x.N); err != nil {
		return nil, err
	}
	p.split()
	return p, nil
}

// bound finds the least and the greatest of each column.
func (s *Sorter) bound(ctx context.Context, cols []*keyColumn, rows int) error {
	high := make([]int64, len(cols))
	for i, c := range cols {
		c.low, high[i] = math.MaxInt64, math.MinInt64
	}
	var mu sync.Mutex
	err := s.blocks(ctx, rows, func(from, to int) {
		words := make([]int64, blockRows)
		for i, c := range cols {
			lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
			for at := from; at < to; at += blockRows {
				part := words[:min(blockRows, to-at)]
				c.words.Read(part, at)
				c.order(part)
				for _, w := range part {
					lo, hi = min(lo, w), max(hi, w)
				}
			}
			mu.Lock()
			c.low, high[i] = min(c.low, lo), max(high[i], hi)
			mu.Unlock()
		}
	})
	for i, c := range cols {
		if rows > 0 {
			c.span = uint64(high[i]) - uint64(c.low)
		}
	}
	return err
}

// split cuts the bits of the columns into levels.
func (p *packing) split() {
	room := 64 - p.rowBits
	p.levels = []level{{}}
	for _, c := range p.cols {
		for left := bits.Len64(c.span); left > 0; {
			l := &p.levels[len(p.levels)-1]
			if l.bits == room {
				p.levels = append(p.levels, level{})
				continue
			}
			n := min(left, room-l.bits)
			left -= n
			l.bits += n
			// at counts from the top until the level is complete.
			l.parts = append(l.parts, part{col: c, drop: left, bits: n, at: l.bits})
		}
	}
	for _, l := range p.levels {
		for i := range l.parts {
			l.parts[i].at = p.rowBits + l.bits - l.parts[i].at
		}
	}
}

// order maps words to others that order as int64 do.
func (c *keyColumn) order(words []int64) {
	switch {
	case c.codes != nil:
		c.codes.rank(words)
	case c.kind == scalar.Uint, c.kind == scalar.Float:
		for i, w := range words {
			words[i] = scalar.Ordered(c.kind, w)
		}
	}
}

// number maps words to numbers from 0 to span.
func (c *keyColumn) number(words []int64) {
	c.order(words)
	if c.desc {
		high := c.low + int64(c.span)
		for i, w := range words {
			words[i] = high - w
		}
		return
	}
	for i, w := range words {
		words[i] = w - c.low
	}
}

// place puts the part's bits of numbers into words.
func (t *part) place(words []uint64, numbers []int64) {
	mask := uint64(math.MaxUint64) >> (64 - t.bits)
	drop, at := t.drop&63, t.at&63
	for i, n := range numbers {
		words[i] |= uint64(n) >> drop & mask << at
	}
}

// read makes the words of rows from, from+1, ...; scratch is as long.
func (p *packing) read(l *level, words []uint64, scratch []int64, from int) {
	for i := range words {
		words[i] = uint64(from + i)
	}
	scratch = scratch[:len(words)]
	for i := range l.parts {
		t := &l.parts[i]
		t.col.words.Read(scratch, from)
		t.col.number(scratch)
		t.place(words, scratch)
	}
}

// gather turns the words of rows on one level into those on another.
func (p *packing) gather(l *level, words []uint64, b *block) {
	for len(words) > 0 {
		n := min(len(words), blockRows)
		for i, w := range words[:n] {
			b.rows[i] = uint32(w & p.rowMask())
			words[i] = w & p.rowMask()
		}
		for i := range l.parts {
			t := &l.parts[i]
			t.col.words.Gather(b.words[:n], b.rows[:n])
			t.col.number(b.words[:n])
			t.place(words, b.words[:n])
		}
		words = words[n:]
	}
}

func (p *packing) rowMask() uint64 { return 1<<p.rowBits - 1 }

// block is scratch memory for a block of rows.
type block struct {
	words [blockRows]int64
	rows  [blockRows]uint32
}

// codeOrder orders the codes of a dictionary that has grown.
type codeOrder interface {
	// rank maps codes to numbers that order as their strings do.
	rank(words []int64)
}

// ranks holds the rank of each code of a dictionary.
type ranks []uint32

func (r ranks) rank(words []int64) {
	for i, w := range words {
		words[i] = int64(r[w])
	}
}

// fewCodes are codes, ascending, with the rank of each among them.
type fewCodes struct{ codes, ranks []uint32 }

func (f *fewCodes) rank(words []int64) {
	for i, w := range words {
		at, _ := slices.BinarySearch(f.codes, uint32(w))
		words[i] = int64(f.ranks[at])
	}
}

// fewRows is how many times more strings than rows a dictionary has for the
// rows' own strings to be ranked and not the dictionary.
const fewRows = 4

// orderCodes ranks the strings of a column whose dictionary has grown.
func (s *Sorter) orderCodes(ctx context.Context, x *Rows, c *Column) (codeOrder, error) {
	if x.N > c.Dict.Len()/fewRows {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		// Nil only if the dictionary has no strings out of order after all.
		if r := c.Dict.Ranks(); r != nil {
			return ranks(r), nil
		}
		return nil, nil
	}
	words := make([]int64, x.N)
	c.Words.Read(words, 0)
	codes := make([]uint32, x.N)
	for i, w := range words {
		codes[i] = uint32(w)
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	places := make([]uint32, len(codes))
	for i := range places {
		places[i] = uint32(i)
	}
	slices.SortFunc(places, func(a, b uint32) int { return c.Dict.Compare(codes[a], codes[b]) })
	f := &fewCodes{codes: codes, ranks: make([]uint32, len(codes))}
	for rank, place := range places {
		f.ranks[place] = uint32(rank)
	}
	return f, nil
}
