package spill

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// builder builds stored columns of words with known bounds.
type builder struct {
	types  []scalar.Type
	fields []field
	dict   *store.Dict
	data   [][]uint64 // the entries, packed into words
}

// newBuilder returns a builder for some columns of a bag's blocks.
func newBuilder(g *bag, blocks []block, cols []int, dict *store.Dict) *builder {
	return makeBuilder(g, cols, dict, func(c int) field {
		f := field{}
		for i := range blocks {
			x := blocks[i].cols[c]
			if i == 0 {
				f = x
			}
			f.lo, f.hi = min(f.lo, x.lo), max(f.hi, x.hi)
		}
		return f
	})
}

// builderOf returns a builder for some columns of stored rows.
func (r *run) builderOf(g *bag, cols []int) *builder {
	return makeBuilder(g, cols, r.dict, func(c int) field {
		s := g.facts[c].Stats
		if g.types[c].Kind == scalar.String { // the run's codes are others
			return field{lo: 0, hi: int64(r.dict.Len())}
		}
		return field{lo: s.Min, hi: s.Max}
	})
}

// makeBuilder returns a builder for columns of a bag within bounds.
func makeBuilder(g *bag, cols []int, dict *store.Dict, bounds func(col int) field) *builder {
	b := &builder{dict: dict, data: make([][]uint64, len(cols))}
	for _, c := range cols {
		f := bounds(c)
		f.width = store.WidthOf(uint64(f.hi) - uint64(f.lo))
		if t := g.types[c]; t.Kind == scalar.Float || t.Kind == scalar.Uint && f.lo < 0 {
			// The words are not in the order of the type.
			f = field{lo: 0, hi: -1, width: 8}
		}
		b.types, b.fields = append(b.types, g.types[c]), append(b.fields, f)
	}
	return b
}

// expect makes room for rows.
func (b *builder) expect(rows int64) {
	for i, f := range b.fields {
		b.data[i] = make([]uint64, 0, (rows*int64(f.width)+7)/8)
	}
}

// width is the bytes of a row.
func (b *builder) width() int64 {
	n := int64(0)
	for _, f := range b.fields {
		n += int64(f.width)
	}
	return n
}

// grow makes the columns long enough for rows.
func (b *builder) grow(rows int) {
	for i, f := range b.fields {
		need := (rows*int(f.width) + 7) / 8
		b.data[i] = slices.Grow(b.data[i], need-len(b.data[i]))[:need]
	}
}

// grow makes the columns of a builder long enough for rows. It returns the
// bytes that are reserved for them.
func (r *run) grow(b *builder, rows int, name string, held int64) (int64, error) {
	if more := int64(rows)*b.width() - held; more > 0 {
		more = max(more, held/4)
		if err := r.mem.Reserve(name, more); err != nil {
			return held, err
		}
		held += more
	}
	b.grow(rows)
	return held, nil
}

// put stores words from a row of a column on. It is safe for concurrent use
// with other rows.
func (b *builder) put(col, at int, words []int64) {
	if f := b.fields[col]; f.width > 0 {
		pack(bytesOf(b.data[col])[at*int(f.width):], words, f)
	}
}

// pack stores words minus the field's lo, in its width.
func pack(dst []byte, words []int64, f field) {
	switch f.width {
	case 1:
		for i, w := range words {
			dst[i] = byte(w - f.lo)
		}
	case 2:
		for i, w := range words {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(w-f.lo))
		}
	case 4:
		for i, w := range words {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(w-f.lo))
		}
	case 8:
		for i, w := range words {
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(w-f.lo))
		}
	}
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// finish returns the columns.
func (b *builder) finish(rows int) []*store.Column {
	out := make([]*store.Column, len(b.types))
	for i := range out {
		out[i] = b.column(i, rows, unsafe.Pointer(unsafe.SliceData(b.data[i])), nil)
	}
	return out
}

// column returns a column over existing entries.
func (b *builder) column(i, rows int, data unsafe.Pointer, owner any) *store.Column {
	t, f := b.types[i], b.fields[i]
	var dict *store.Dict
	if t.Kind == scalar.String {
		dict = b.dict
	}
	if rows == 0 {
		return store.ColumnOf(t, nil, dict)
	}
	c := store.NewOver(t, dict, rows, f.lo, f.hi, data, owner)
	if f.hi == -1 && f.lo == 0 {
		c.Stats = store.AnyWords(t.Kind, rows)
	}
	return c
}
