package store

import (
	"bytes"
	"context"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// chunkRows is how many entries a Builder holds as full words before it narrows
// them.
const chunkRows = 1 << 15

// Builder makes a column. It narrows entries a chunk at a time, so that the
// memory in use stays near that of the finished column.
type Builder struct {
	typ    scalar.Type
	dict   *Dict     // the codes' dictionary; nil for other types and while own is in use
	own    *Interner // collects the strings of a column that gets a dictionary of its own
	buf    []int64
	chunks []Chunk
	n      int

	// ledger reserves the memory of the chunks, and then of the column, under
	// the name what. If it is nil, there is no bound. err is the ledger's
	// refusal.
	ledger *Ledger
	what   string
	err    error
}

// NewBuilder returns a builder of a column of type t. For a String column, dict
// is the dictionary of the codes that Append takes. Without one, the column
// gets a sorted dictionary of its own.
func NewBuilder(t scalar.Type, dict *Dict) *Builder {
	b := &Builder{typ: t, dict: dict}
	if t.Kind == scalar.String && dict == nil {
		b.own = NewInterner(nil, "")
	}
	return b
}

// Append adds a word.
func (b *Builder) Append(word int64) {
	if len(b.buf) == chunkRows {
		b.flush()
	}
	b.buf = append(b.buf, word)
}

// AppendWords adds words.
func (b *Builder) AppendWords(words []int64) {
	for len(words) > 0 {
		if len(b.buf) == chunkRows {
			b.flush()
		}
		n := min(chunkRows-len(b.buf), len(words))
		b.buf = append(b.buf, words[:n]...)
		words = words[n:]
	}
}

// AppendString adds a string.
func (b *Builder) AppendString(s string) {
	if b.own != nil {
		b.Append(int64(b.own.Code(s)))
		return
	}
	b.Append(int64(b.dict.Intern(s)))
}

// AppendValue adds a value of the builder's type.
func (b *Builder) AppendValue(v scalar.Value) {
	if v.Type.Kind == scalar.String {
		b.AppendString(v.Str())
		return
	}
	b.Append(int64(v.Bits()))
}

func (b *Builder) flush() {
	if len(b.buf) == 0 {
		return
	}
	b.n += len(b.buf)
	chunk := Narrow(b.typ.Kind, b.buf, 1)
	if b.err == nil {
		b.err = b.ledger.Keep(b.what, &chunk)
	}
	b.chunks = append(b.chunks, chunk)
	b.buf = b.buf[:0]
}

// Finish returns the column. The builder must not be used afterwards.
func (b *Builder) Finish() *Column {
	// Without a ledger there is no error.
	col, _ := b.finish()
	return col
}

// finish is Finish for a builder with a ledger.
func (b *Builder) finish() (*Column, error) {
	b.flush()
	if b.err != nil {
		return nil, b.err
	}
	if b.own == nil {
		var held int64
		for i := range b.chunks {
			held += b.chunks[i].Bytes()
		}
		col, err := assemble(1, b.typ, b.dict, b.chunks, b.ledger, b.what)
		b.ledger.Give(held)
		return col, err
	}
	// Without a deadline there is no error.
	merged, _ := mergeSources(context.Background(), 1, []dictSource{b.own}, nil, "")
	dict, remaps := merged.Dict, merged.Remaps
	for i := range b.chunks {
		b.chunks[i].Remap(remaps[0])
	}
	return Join(1, b.typ, dict, b.chunks, nil, "")
}

// ColumnOf returns a column of the words. dict is the dictionary of a String
// column, else nil.
func ColumnOf(t scalar.Type, words []int64, dict *Dict) *Column {
	chunks := make([]Chunk, 0, (len(words)+chunkRows-1)/chunkRows)
	for len(words) > 0 {
		n := min(len(words), chunkRows)
		chunks = append(chunks, Narrow(t.Kind, words[:n], 1))
		words = words[n:]
	}
	if t.Kind == scalar.String && dict == nil {
		dict = NewDict(nil)
	}
	col, _ := assemble(1, t, dict, chunks, nil, "")
	return col
}

// StringColumn returns a column of strings with a sorted dictionary of its own.
func StringColumn(values []string) *Column {
	b := NewBuilder(scalar.StringType, nil)
	for _, s := range values {
		b.AppendString(s)
	}
	return b.Finish()
}

// BooleanColumn returns a column of truth values, 0 or 1 each, which it keeps.
func BooleanColumn(values []uint8) *Column {
	c := &Column{Type: scalar.BooleanType, Step: 1, n: len(values)}
	truths := bytes.Count(values, []byte{1})
	switch {
	case truths == len(values):
		c.Base = min(int64(truths), 1)
	case truths > 0:
		c.Width, c.U8 = 1, values
	}
	c.Stats.Min, c.Stats.Max = c.Base, max(c.Base, int64(c.Width))
	c.Stats.Distinct = min(int64(len(values)), 1+int64(c.Width))
	c.Stats.Ascending = bytes.IndexByte(values, 1) < 0 ||
		bytes.LastIndexByte(values, 0) < bytes.IndexByte(values, 1)
	return c
}

// ConcatColumns returns the entries of columns of a type one after the other.
// The ledger reserves their memory under the name what.
func ConcatColumns(t scalar.Type, parts []*Column, ledger *Ledger, what string) (*Column, error) {
	var dict *Dict
	remaps := make([][]uint32, len(parts))
	if t.Kind == scalar.String {
		dicts := list.Map(parts, func(c *Column) *Dict { return c.Dict })
		m, err := mergeDicts(dicts, nil, ledger, what)
		if err != nil {
			return nil, err
		}
		defer m.Release()
		dict, remaps = m.Dict, m.Remaps
	}
	b := NewBuilder(t, dict)
	b.ledger, b.what = ledger, what
	words := make([]int64, chunkRows)
	for i, c := range parts {
		for from := 0; from < c.Len(); from += chunkRows {
			part := words[:min(chunkRows, c.Len()-from)]
			c.Read(part, from)
			if remaps[i] != nil {
				for j, code := range part {
					part[j] = int64(remaps[i][code])
				}
			}
			b.AppendWords(part)
		}
	}
	return b.finish()
}
