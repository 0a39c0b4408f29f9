package parquet

import (
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// Pages are cut when their values take pageBytes or are pagePlaces numbers.
const (
	pageBytes  = 1 << 20
	pagePlaces = 1 << 17
)

// Writer writes a file, a row group after the other.
type Writer struct {
	w       io.Writer
	at      int64
	columns []Column
	meta    fileMetadata
}

// NewWriter returns a writer of files with the columns, all of whose values are
// there. by is the name of the program.
func NewWriter(w io.Writer, by string, columns []Column) *Writer {
	f := &Writer{w: w, columns: columns, meta: fileMetadata{Version: 2, CreatedBy: &by}}
	n := int32(len(columns))
	f.meta.Schema = append(f.meta.Schema, schemaElement{Name: "schema", Children: &n})
	for i := range columns {
		c := &columns[i]
		e := schemaElement{Name: c.Name, Type: &c.Type, Repetition: new(repetition),
			Logical: c.Logical}
		if c.Type == FixedLenByteArray {
			length := int32(c.Length)
			e.Length = &length
		}
		e.convert()
		f.meta.Schema = append(f.meta.Schema, e)
		f.meta.Orders = append(f.meta.Orders, columnOrder{ByType: &struct{}{}})
	}
	return f
}

// convert adds the older form of the logical type, for readers that know no
// other.
func (e *schemaElement) convert() {
	l := e.Logical
	if l == nil {
		return
	}
	var c int32
	switch {
	case l.Text != nil:
	case l.Decimal != nil:
		c, e.Scale, e.Precision = 5, &l.Decimal.Scale, &l.Decimal.Precision
	case l.Date != nil:
		c = 6
	case l.Timestamp != nil && l.Timestamp.Unit.Millis != nil:
		c = 9
	case l.Timestamp != nil && l.Timestamp.Unit.Micros != nil:
		c = 10
	case l.Integer != nil:
		c = 11
		if l.Integer.Signed {
			c = 15
		}
		for bits := l.Integer.Bits; bits > 8; bits /= 2 {
			c++
		}
	default:
		return
	}
	e.Converted = &c
}

// Append writes a row group that is finished.
func (w *Writer) Append(g *Group, rows int64) error {
	if err := w.begin(); err != nil {
		return err
	}
	offset, number := w.at, int16(len(w.meta.Groups))
	group := RowGroup{Rows: rows, Offset: &offset, Packed: new(int64), Number: &number}
	for i := range g.Chunks {
		c := &g.Chunks[i]
		m := &c.meta
		m.Path = []string{w.columns[i].Name}
		at := w.at
		m.Data = at + int64(len(c.first))
		if len(c.first) > 0 {
			m.Dictionary = &at
		}
		if err := w.write(c.first); err != nil {
			return err
		}
		if err := w.write(c.pages); err != nil {
			return err
		}
		group.Bytes += m.Bytes
		*group.Packed += m.Packed
		group.Chunks = append(group.Chunks, ColumnChunk{Offset: at, Meta: m})
	}
	w.meta.Rows += rows
	w.meta.Groups = append(w.meta.Groups, group)
	return nil
}

func (w *Writer) begin() error {
	if w.at > 0 {
		return nil
	}
	return w.write([]byte(magic))
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.at += int64(n)
	return err
}

// Close writes the footer.
func (w *Writer) Close() error {
	if err := w.begin(); err != nil {
		return err
	}
	if w.meta.Groups == nil {
		w.meta.Groups = []RowGroup{}
	}
	footer := marshal(nil, &w.meta)
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, magic...))
}

// Group is a row group in memory.
type Group struct{ Chunks []Chunk }

// NewGroup returns a group of the columns, whose pages the encoder compresses.
func NewGroup(columns []Column, z *zstd.Encoder) *Group {
	g := &Group{Chunks: make([]Chunk, len(columns))}
	for i := range g.Chunks {
		g.Chunks[i] = Chunk{column: &columns[i], zstd: z}
	}
	return g
}

// Finish ends the last pages and the dictionaries. Goroutines can fill and
// finish several groups at once.
func (g *Group) Finish() {
	for i := range g.Chunks {
		g.Chunks[i].finish()
	}
}

// Bytes returns the size of the pages that are finished.
func (g *Group) Bytes() (n int) {
	for i := range g.Chunks {
		n += len(g.Chunks[i].pages)
	}
	return n
}

// Chunk collects the values of a column. Each chunk gets either Values, or
// Numbers and, unless its type is Boolean, a Dictionary.
type Chunk struct {
	Statistics *Statistics // of all values; nil if their bounds are not known

	column *Column
	zstd   *zstd.Encoder
	meta   ChunkMeta

	values     []byte   // of the current page, PLAIN
	numbers    []uint32 // of the current page
	count      int      // of values of the current page
	dictionary []byte   // PLAIN
	words      int      // of the dictionary
	coded      bool
	body       []byte // scratch
	packed     []byte // scratch
	first      []byte // the page of the dictionary
	pages      []byte // with headers
}

// Values adds n PLAIN values, but for Booleans. A page ends only between calls.
func (c *Chunk) Values(plain []byte, n int) {
	c.values = append(c.values, plain...)
	if c.count += n; len(c.values) >= pageBytes {
		c.page()
	}
}

// Numbers adds places in the dictionary, or Booleans.
func (c *Chunk) Numbers(numbers []uint32) {
	for len(numbers) > 0 {
		n := min(len(numbers), pagePlaces-len(c.numbers))
		c.numbers = append(c.numbers, numbers[:n]...)
		numbers = numbers[n:]
		if c.count += n; len(c.numbers) == pagePlaces {
			c.page()
		}
	}
}

// Dictionary sets the n PLAIN values that Numbers are places of.
func (c *Chunk) Dictionary(plain []byte, n int) { c.dictionary, c.words = plain, n }

// page ends the current page.
func (c *Chunk) page() {
	if c.count == 0 {
		return
	}
	header := DataHeader{Values: int32(c.count), Definition: RLE, Repetition: RLE}
	body := c.values
	switch {
	case c.column.Type == Boolean:
		body = appendPacked(c.body[:0], c.numbers, 1)
	case len(c.numbers) > 0:
		var most uint32
		for _, n := range c.numbers {
			most = max(most, n)
		}
		width := bits.Len32(most)
		body = appendHybrid(append(c.body[:0], byte(width)), c.numbers, width)
		header.Encoding, c.coded = RLEDictionary, true
	}
	c.pages = c.append(c.pages, body, PageHeader{Kind: dataPage, Data: &header})
	if len(c.numbers) > 0 {
		c.body = body
	}
	c.meta.Values += int64(c.count)
	c.values, c.numbers, c.count = c.values[:0], c.numbers[:0], 0
}

// append appends a page to dst.
func (c *Chunk) append(dst, body []byte, h PageHeader) []byte {
	c.packed = c.zstd.EncodeAll(body, c.packed[:0])
	h.Bytes, h.Packed = int32(len(body)), int32(len(c.packed))
	before := len(dst)
	dst = marshal(dst, &h)
	c.meta.Bytes += int64(len(dst) - before + len(body))
	c.meta.Packed += int64(len(dst) - before + len(c.packed))
	return append(dst, c.packed...)
}

// finish ends the last page and the dictionary.
func (c *Chunk) finish() {
	c.page()
	c.meta.Encodings = []Encoding{Plain, RLE}
	if c.coded {
		h := PageHeader{Kind: dictionaryPage, Dictionary: &DictionaryHeader{Values: int32(c.words)}}
		c.first = c.append(nil, c.dictionary, h)
		c.meta.Encodings = append(c.meta.Encodings, RLEDictionary)
	}
	c.meta.Type, c.meta.Codec, c.meta.Statistics = c.column.Type, Zstd, c.Statistics
}

// Dictionary numbers the different values of a column chunk.
type Dictionary[T comparable] struct {
	Values []T // by their places
	places map[T]uint32
}

// Place returns the place of a value, which is added if it is new.
func (d *Dictionary[T]) Place(v T) uint32 {
	place, ok := d.places[v]
	if !ok {
		if d.places == nil {
			d.places = map[T]uint32{}
		}
		place = uint32(len(d.Values))
		d.places[v], d.Values = place, append(d.Values, v)
	}
	return place
}
