package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	page "github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// pageCase is a column of which a test has a file written.
type pageCase struct {
	name     string
	node     schema.Node
	typ      scalar.Type
	optional bool
	write    func(w file.ColumnChunkWriter, levels []int16, draws []int) error
	distinct int // of the draws
	kept     bool
}

func writeDrawn[T any](
	write func([]T, []int16, []int16) (int64, error), levels []int16, draws []int,
	value func(int) T,
) error {
	var values []T
	for i, d := range draws {
		if levels == nil || levels[i] == 1 {
			values = append(values, value(d))
		}
	}
	_, err := write(values, levels, nil)
	return err
}

// pageCases has all physical types whose pages are decoded, with few and with
// many different values.
func pageCases() []pageCase {
	var out []pageCase
	for _, optional := range []bool{false, true} {
		repetition := parquet.Repetitions.Required
		if optional {
			repetition = parquet.Repetitions.Optional
		}
		for _, distinct := range []int{1, 300, 6000, 1 << 30} {
			add := func(name string, logical schema.LogicalType, physical parquet.Type, length int,
				typ scalar.Type,
				write func(w file.ColumnChunkWriter, levels []int16, draws []int) error) {
				node := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("c", repetition,
					logical, physical,
					length, -1))
				out = append(out,
					pageCase{fmt.Sprintf("%s, %d values, optional %v", name, distinct, optional),
						node, typ, optional, write, distinct, distinct <= 300})
			}
			add("int32", schema.NewIntLogicalType(32, true), parquet.Types.Int32, -1,
				scalar.IntType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.Int32ColumnChunkWriter).WriteBatch, levels, draws,
						func(d int) int32 { return int32(d) - 3 })
				})
			add("uint32", schema.NewIntLogicalType(32, false), parquet.Types.Int32, -1,
				scalar.IntType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.Int32ColumnChunkWriter).WriteBatch, levels, draws,
						func(d int) int32 { return -int32(d) })
				})
			add("date", schema.DateLogicalType{}, parquet.Types.Int32, -1, scalar.DatetimeType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.Int32ColumnChunkWriter).WriteBatch, levels, draws,
						func(d int) int32 { return int32(d%100_000) - 300 })
				})
			add("decimal", schema.NewDecimalLogicalType(15, 2), parquet.Types.Int64, -1,
				scalar.DecimalOf(3),
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.Int64ColumnChunkWriter).WriteBatch, levels, draws,
						func(d int) int64 { return 25*int64(d) - 1000 })
				})
			add("float", schema.NoLogicalType{}, parquet.Types.Float, -1, scalar.FloatType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.Float32ColumnChunkWriter).WriteBatch, levels, draws,
						func(d int) float32 { return float32(d)/4 - 2 })
				})
			add("double", schema.NoLogicalType{}, parquet.Types.Double, -1, scalar.FloatType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.Float64ColumnChunkWriter).WriteBatch, levels, draws,
						func(d int) float64 { return float64(d)/10 - 2 })
				})
			add("string", schema.StringLogicalType{}, parquet.Types.ByteArray, -1,
				scalar.StringType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.ByteArrayColumnChunkWriter).WriteBatch, levels,
						draws,
						func(d int) parquet.ByteArray { return []byte(fmt.Sprint("text ", d)) })
				})
			add("bad string", schema.StringLogicalType{}, parquet.Types.ByteArray, -1,
				scalar.StringType,
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.ByteArrayColumnChunkWriter).WriteBatch, levels,
						draws,
						func(d int) parquet.ByteArray {
							return []byte(strings.Replace(fmt.Sprint("text ", d), " 3", "\xff", 1))
						})
				})
			out[len(out)-1].kept = distinct == 1
			add("wide decimal", schema.NewDecimalLogicalType(18, 2),
				parquet.Types.FixedLenByteArray, 9,
				scalar.DecimalOf(2),
				func(w file.ColumnChunkWriter, levels []int16, draws []int) error {
					return writeDrawn(w.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch,
						levels, draws,
						func(d int) parquet.FixedLenByteArray {
							return []byte{0, 0, 0, 0, 0, byte(d >> 24), byte(d >> 16), byte(d >> 8),
								byte(d)}
						})
				})
		}
	}
	return out
}

// TestPages compares the rows that pages are decoded to with those that the
// Parquet library reads, whatever the page's version, and where a dictionary
// ends before the rows.
func TestPages(t *testing.T) {
	rows := 30_000
	if testing.Short() {
		rows = 6_000
	}
	for _, c := range pageCases() {
		rng := rand.New(rand.NewPCG(3, uint64(c.distinct)))
		draws := make([]int, rows)
		var levels []int16
		if c.optional {
			levels = make([]int16, rows)
		}
		for i := range draws {
			draws[i] = rng.IntN(c.distinct)
			// No row of the middle lacks a value, and of the last ones all do.
			if c.optional && (i > rows/3 && i < rows/2 || rng.IntN(5) > 0 && i < rows-3000) {
				levels[i] = 1
			}
		}
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, limit := range []int64{1 << 20, 2000} { // bytes of a dictionary
				data := writePages(t, c, levels, draws, parquet.WithDataPageVersion(version),
					parquet.WithDictionaryPageSizeLimit(limit),
					parquet.WithCompression(compress.Codecs.Snappy))
				checkPages(t,
					fmt.Sprintf("%s, version %v, dictionary of %d", c.name, version, limit), data,
					c.typ, c.kept && !c.optional && limit > 2000)
			}
		}
	}
}

// TestEncodings reads what few writers use, and compares it with what arrow-go
// reads.
func TestEncodings(t *testing.T) {
	const rows = 5000
	encodings := map[parquet.Type][]parquet.Encoding{
		parquet.Types.Int32: {parquet.Encodings.DeltaBinaryPacked,
			parquet.Encodings.ByteStreamSplit},
		parquet.Types.Int64: {parquet.Encodings.DeltaBinaryPacked,
			parquet.Encodings.ByteStreamSplit},
		parquet.Types.Float:  {parquet.Encodings.ByteStreamSplit},
		parquet.Types.Double: {parquet.Encodings.ByteStreamSplit},
		parquet.Types.ByteArray: {parquet.Encodings.DeltaLengthByteArray,
			parquet.Encodings.DeltaByteArray},
		parquet.Types.FixedLenByteArray: {parquet.Encodings.ByteStreamSplit},
	}
	for i, c := range pageCases() {
		rng := rand.New(rand.NewPCG(13, uint64(i)))
		draws, levels := make([]int, rows), make([]int16, rows)
		for i := range draws {
			draws[i], levels[i] = rng.IntN(c.distinct), int16(rng.IntN(2))
		}
		if !c.optional {
			levels = nil
		}
		for _, e := range encodings[c.node.(*schema.PrimitiveNode).PhysicalType()] {
			for version, codec := range map[parquet.DataPageVersion]compress.Compression{
				parquet.DataPageV1: compress.Codecs.Gzip,
				parquet.DataPageV2: compress.Codecs.Brotli,
			} {
				data := writePages(t, c, levels, draws, parquet.WithDictionaryDefault(false),
					parquet.WithEncoding(e),
					parquet.WithDataPageVersion(version), parquet.WithCompression(codec))
				checkPages(t, fmt.Sprintf("%s, version %v, %v", c.name, version, e), data, c.typ,
					false)
			}
		}
	}
}

// TestRefusedTimestamps reads old timestamps, in a dictionary and without one,
// of which some have nanoseconds: their rows are refused, whatever the
// dictionary has beside them.
func TestRefusedTimestamps(t *testing.T) {
	const rows = 600
	for _, dictionary := range []bool{false, true} {
		node := schema.MustPrimitive(schema.NewPrimitiveNode("c", parquet.Repetitions.Required,
			parquet.Types.Int96, -1, -1))
		c := pageCase{node: node, write: func(w file.ColumnChunkWriter, levels []int16,
			draws []int) error {
			return writeDrawn(w.(*file.Int96ColumnChunkWriter).WriteBatch, levels, draws,
				func(d int) (v parquet.Int96) {
					binary.LittleEndian.PutUint64(v[:], uint64(d))
					binary.LittleEndian.PutUint32(v[8:], 2_440_588)
					return v
				})
		}}
		draws := make([]int, rows)
		for i := range draws {
			draws[i] = i % 5 * 500
		}
		data := writePages(t, c, nil, draws, parquet.WithDictionaryDefault(dictionary))
		f, p := openPages(t, data, scalar.DatetimeType)
		var part columnPart
		if err := readChunk(f, p, nil, &part); err != nil {
			t.Fatal(err)
		}
		if len(part.bad) != 2*rows/5 || part.bad[0].row != 1 || part.bad[1].row != 3 {
			t.Errorf("dictionary %v: %d rows are refused, the first are %v", dictionary,
				len(part.bad),
				part.bad[:min(2, len(part.bad))])
		}
		checkPages(t, fmt.Sprintf("dictionary %v", dictionary), data, scalar.DatetimeType, false)
	}
}

// writePages returns a file with one column chunk.
func writePages(
	t *testing.T, c pageCase, levels []int16, draws []int, props ...parquet.WriterProperty,
) []byte {
	t.Helper()
	var b bytes.Buffer
	props = append(props, parquet.WithDataPageSize(1<<14), parquet.WithBatchSize(1000))
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{c.node}, -1))
	w := file.NewParquetWriter(&b, root,
		file.WithWriterProps(parquet.NewWriterProperties(props...)))
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	column, err := group.NextColumn()
	if err == nil {
		err = errors.Join(c.write(column, levels, draws), column.Close(), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDamagedPages changes bytes of pages. What is decoded here is decoded to
// the rows that the Parquet library reads, or refused, and not because the
// decoder fell over.
func TestDamagedPages(t *testing.T) {
	const rows = 2000
	for i, c := range pageCases() {
		rng := rand.New(rand.NewPCG(11, uint64(i)))
		draws := make([]int, rows)
		var levels []int16
		if c.optional {
			levels = make([]int16, rows)
		}
		for i := range draws {
			draws[i] = rng.IntN(c.distinct)
			if c.optional && rng.IntN(5) > 0 {
				levels[i] = 1
			}
		}
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			whole := writePages(t, c, levels, draws, parquet.WithDataPageVersion(version),
				parquet.WithCompression(compress.Codecs.Uncompressed))
			pages := bytes.LastIndex(whole, []byte("PAR1")) - 4
			pages -= int(binary.LittleEndian.Uint32(whole[pages:])) // where the footer begins
			for range damages {
				data := slices.Clone(whole)
				for range 1 + rng.IntN(3) {
					at := 4 + rng.IntN(pages-4)
					if rng.IntN(2) == 0 {
						at = 4 + rng.IntN(min(pages-4, 100)) // headers and levels
					}
					data[at] = byte(rng.Uint32())
				}
				checkDamaged(t, fmt.Sprintf("%s, version %v", c.name, version), data, c.typ)
			}
		}
	}
}

// damages is how many damaged files there are of each whole one.
const damages = 6

// readChunk decodes the field's chunk in the first row group.
func readChunk(f *parquetFile, p *parquetField, strings *store.Interner, part *columnPart) error {
	r := p.reader(f, 0, strings, newReadRoom(batchRows, nil, ""), part)
	return r.run(context.Background(), f, 0)
}

func checkDamaged(t *testing.T, name string, data []byte, typ scalar.Type) {
	t.Helper()
	f, p := openPages(t, data, typ)
	ours, theirs := store.NewInterner(nil, ""), store.NewInterner(nil, "")
	got, want := &columnPart{}, &columnPart{}
	err := readChunk(f, p, ours, got)
	var library error
	func() {
		defer func() {
			if r := recover(); r != nil {
				library = fmt.Errorf("the library panics: %v", r)
			}
		}()
		library = readPagesByLibrary(data, p, theirs, want)
	}()
	reads := library == nil && int64(want.rows) == f.Rows
	if !reads || err != nil || int64(got.rows) != f.Rows {
		return // one of them refuses it, the library more often for a page's last bytes
	}
	compareParts(t, name, typ, got, want, ours, theirs)
}

// openPages opens a file of one column.
func openPages(t *testing.T, data []byte, typ scalar.Type) (*parquetFile, *parquetField) {
	t.Helper()
	source := &Source{Path: "pages", Reader: bytes.NewReader(data)}
	f, err := source.openParquet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p, err := newParquetField(f, &field{name: "c", typ: typ, nullable: true})
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

// readPagesByLibrary reads the only column chunk of a file as arrow-go decodes
// it.
func readPagesByLibrary(
	data []byte, p *parquetField, strings *store.Interner, part *columnPart,
) error {
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	chunk, err := f.RowGroup(0).Column(0)
	if err != nil {
		return err
	}
	room := newReadRoom(batchRows, nil, "")
	r := &columnReader{parquetField: p, part: part, strings: strings, room: room,
		rows: int(f.NumRows()), batch: 1000, words: room.words[:0]}
	if p.from.kind == scalar.String {
		r.last = noCode
	}
	number := binary.LittleEndian
	switch c := chunk.(type) {
	case *file.Int32ColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte,
			v int32) []byte {
			return number.AppendUint32(b, uint32(v))
		})
	case *file.Int64ColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte,
			v int64) []byte {
			return number.AppendUint64(b, uint64(v))
		})
	case *file.Int96ColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte,
			v parquet.Int96) []byte {
			return append(b, v[:]...)
		})
	case *file.Float32ColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte,
			v float32) []byte {
			return number.AppendUint32(b, math.Float32bits(v))
		})
	case *file.Float64ColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte,
			v float64) []byte {
			return number.AppendUint64(b, math.Float64bits(v))
		})
	case *file.ByteArrayColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte, v parquet.ByteArray) []byte {
			return append(number.AppendUint32(b, uint32(len(v))), v...)
		})
	case *file.FixedLenByteArrayColumnChunkReader:
		err = readBatches(r, c.ReadBatch, func(b []byte,
			v parquet.FixedLenByteArray) []byte {
			return append(b, v...)
		})
	default:
		err = fmt.Errorf("a column of %T", chunk)
	}
	if err != nil {
		return err
	}
	r.flushWords()
	return nil
}

// readBatches reads a column chunk a batch at a time, and converts the values
// as those of a page that is PLAIN.
func readBatches[T any](
	r *columnReader, read func(int64, []T, []int16, []int16) (int64, int, error),
	plain func([]byte, T) []byte,
) error {
	values, levels, present := make([]T, r.batch), make([]int16, r.batch), make([]uint32, r.batch)
	for {
		rows, n, err := read(r.batch, values, levels, nil)
		if rows == 0 || err != nil {
			return err
		}
		v := page.Values{}
		for _, value := range values[:n] {
			v.Plain = plain(v.Plain, value)
		}
		for i := range rows {
			present[i] = uint32(levels[i])
		}
		err = r.readPresent(r.grow(int(rows)), present, uint32(r.column.Definition),
			func(dst []int64, row int) error { return r.decode(dst, &v, row) })
		if err != nil {
			return err
		}
		r.part.rows += int(rows)
	}
}

// checkPages decodes the only column chunk of a file twice. kept says that the
// rows stay places in the dictionary.
func checkPages(t *testing.T, name string, data []byte, typ scalar.Type, kept bool) {
	t.Helper()
	f, p := openPages(t, data, typ)
	ours, theirs := store.NewInterner(nil, ""), store.NewInterner(nil, "")
	got, want := &columnPart{}, &columnPart{}
	if err := readChunk(f, p, ours, got); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if err := readPagesByLibrary(data, p, theirs, want); err != nil {
		t.Fatal(err)
	}
	if tables := slices.ContainsFunc(got.chunks,
		func(c store.Chunk) bool { return c.Placed() }); kept && !tables {
		t.Errorf("%s: no chunk has places in a table", name)
	}
	compareParts(t, name, typ, got, want, ours, theirs)
}

// compareParts compares what two readers have read of a column chunk.
func compareParts(
	t *testing.T, name string, typ scalar.Type, got, want *columnPart, ours, theirs *store.Interner,
) {
	t.Helper()
	if got.rows != want.rows || !slices.Equal(got.nulls, want.nulls) ||
		!slices.Equal(got.bad, want.bad) {
		t.Errorf("%s: %d rows, %d missing, %d bad; want %d, %d, %d", name, got.rows, len(got.nulls),
			len(got.bad), want.rows, len(want.nulls), len(want.bad))
		return
	}
	columns := make([]*store.Column, 2)
	for i, part := range []*columnPart{got, want} {
		var dict *store.Dict
		if typ.Kind == scalar.String {
			m, _ := store.MergeInterners(context.Background(), 1,
				[]*store.Interner{[]*store.Interner{ours, theirs}[i]}, nil, "")
			for j := range part.chunks {
				part.chunks[j].Remap(m.Remaps[0])
			}
			dict = m.Dict
		}
		var err error
		if columns[i], err = store.Join(2, typ, dict, part.chunks, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	a, b := columns[0], columns[1]
	// The two readers let different words stand for values that are refused.
	if len(got.bad) == 0 && (a.Stats != b.Stats || a.Base != b.Base || a.Step != b.Step ||
		a.Width != b.Width) {
		t.Errorf("%s: %+v, base %d, step %d, width %d; want %+v, %d, %d, %d", name, a.Stats, a.Base,
			a.Step, a.Width, b.Stats, b.Base, b.Step, b.Width)
	}
	none := map[uint32]bool{} // rows of which any value will do
	for _, c := range got.bad {
		none[c.row] = true
	}
	for _, row := range got.nulls {
		none[row] = true
	}
	for i := range b.Len() {
		if !none[uint32(i)] && a.Value(i) != b.Value(i) {
			t.Errorf("%s: row %d is %v, want %v", name, i, a.Value(i), b.Value(i))
			return
		}
	}
}

// TestUnusedWords keeps places in a dictionary that has more words than there
// are rows of: a column has no word and no string of them.
func TestUnusedWords(t *testing.T) {
	room := newReadRoom(batchRows, nil, "")
	part := &columnPart{rows: 6}
	strings := store.NewInterner(nil, "")
	texts := [][]byte{[]byte("b"), []byte("never"), []byte("a"), []byte("\xff")}
	r := &columnReader{parquetField: &parquetField{field: &field{typ: scalar.StringType}},
		part:    part,
		strings: strings, room: room, batch: 4,
		dict: &pageDictionary{words: []int64{noCode, noCode, noCode, noCode}, texts: texts}}
	room.kept.small = []uint8{0, 2, 2, 0, 3, 2}
	if err := r.flushKept(); err != nil {
		t.Fatal(err)
	}
	m, err := store.MergeInterners(context.Background(), 1, []*store.Interner{strings}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	dict, remaps := m.Dict, m.Remaps
	for i := range part.chunks {
		part.chunks[i].Remap(remaps[0])
	}
	column, err := store.Join(1, scalar.StringType, dict, part.chunks, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range column.Len() {
		got = append(got, column.Value(i).Str())
	}
	if want := []string{"b", "a", "a", "b", "b", "a"}; !slices.Equal(got, want) || dict.Len() != 2 {
		t.Errorf("got %v of %d strings, want %v", got, dict.Len(), want)
	}
	if len(part.bad) != 1 || part.bad[0].row != 4 {
		t.Errorf("bad rows: %v", part.bad)
	}
}

// TestKeptBeyondDictionary refuses places that a dictionary does not have.
func TestKeptBeyondDictionary(t *testing.T) {
	part := &columnPart{rows: 3}
	r := &columnReader{parquetField: &parquetField{field: &field{typ: scalar.IntType}},
		part: part, room: newReadRoom(batchRows, nil, ""), batch: 4,
		dict: &pageDictionary{words: []int64{5, 6}}}
	r.room.kept.large = []uint16{0, 1, 2}
	if err := r.flushKept(); err == nil || len(part.chunks) > 0 {
		t.Errorf("%v, %d chunks", err, len(part.chunks))
	}
}
