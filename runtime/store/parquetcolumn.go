package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// parquetField turns the values of one Parquet column into the words of a field.
type parquetField struct {
	conversion
	field *field
	descr *schema.Column
}

// newParquetField refuses columns whose type is not the field's.
func newParquetField(f *parquetFile, fd *field) (*parquetField, error) {
	p := &parquetField{field: fd}
	mismatch := func(found string) error {
		return &LoadError{Column: max(0, fd.index+1), Name: fd.name, Reason: mismatched(found, fd.typ)}
	}
	if fd.index == offsetColumn {
		return nil, mismatch("no byte offsets")
	}
	p.descr = f.MetaData().Schema.Column(fd.index)
	if p.descr.MaxRepetitionLevel() > 0 {
		return nil, mismatch("lists")
	}
	logical := p.descr.LogicalType()
	found := p.describe(logical)
	from := origin{unit: 1, parts: 1}
	switch t := logical.(type) {
	case schema.DecimalLogicalType:
		from.kind, from.scale = scalar.Decimal, int(t.Scale())
	case schema.IntLogicalType:
		from.kind, from.unsigned = scalar.Int, !t.IsSigned()
	case schema.DateLogicalType:
		from.kind, from.unit = scalar.Datetime, microsPerDay
	case schema.TimestampLogicalType:
		from.kind = scalar.Datetime
		switch t.TimeUnit() {
		case schema.TimeUnitMillis:
			from.unit = 1000
		case schema.TimeUnitNanos:
			from.parts = 1000
		}
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		from.kind = scalar.String
	case schema.NoLogicalType, schema.NullLogicalType, schema.UnknownLogicalType:
		from.kind = map[parquet.Type]scalar.Kind{
			parquet.Types.Boolean: scalar.Boolean,
			parquet.Types.Int32:   scalar.Int, parquet.Types.Int64: scalar.Int,
			parquet.Types.Int96: scalar.Datetime,
			parquet.Types.Float: scalar.Float, parquet.Types.Double: scalar.Float,
			parquet.Types.ByteArray: scalar.String,
		}[p.descr.PhysicalType()]
	}
	var ok bool
	if p.conversion, ok = newConversion(from, fd.typ); !ok {
		return nil, mismatch(found)
	}
	return p, nil
}

func (p *parquetField) describe(logical schema.LogicalType) string {
	if logical.IsNone() {
		return p.descr.PhysicalType().String()
	}
	return logical.String()
}

// batchRows is how many values are decoded at a time.
const batchRows int64 = 1 << 14

// columnReader collects the words of a column chunk.
type columnReader struct {
	*parquetField
	part    *columnPart
	strings *interner
	room    *readRoom
	rows    int   // of the row group
	batch   int64 // values to decode at a time
	dict    *pageDictionary
	words   []int64 // of rows that are not narrowed yet
	last    int64   // the word of the row before, or noCode; see standIn
}

// readRoom is the memory in which a thread decodes one column chunk after the other.
type readRoom struct {
	words          []int64
	places, levels []uint32
	kept           []uint16 // places of rows that are no words yet
	dictionary     []int64
	text           []byte
	texts          [][]byte

	ledger *ledger
	held   int64 // for the dictionary
}

// roomBytes is what a room takes for each row of a batch.
const roomBytes = 48

func newReadRoom(batch int64) *readRoom {
	return &readRoom{words: make([]int64, 4*batch), places: make([]uint32, batch), levels: make([]uint32, batch)}
}

// reserve reserves memory for a dictionary of n values in so many bytes.
func (r *readRoom) reserve(what string, n, bytes int) error {
	wanted := dictionaryBytes*int64(n) + int64(bytes)
	if wanted <= r.held {
		return nil
	}
	err := r.ledger.take(what, wanted-r.held)
	if err == nil {
		r.held = wanted
	}
	return err
}

// dictionaryBytes is what a value of a dictionary takes beside its text, with what grows.
const dictionaryBytes = 40

// read decodes a column chunk into part.
func (p *parquetField) read(ctx context.Context, f *parquetFile, group int, strings *interner, room *readRoom, part *columnPart) (err error) {
	defer recoverDamage(&err)
	rg := f.RowGroup(group)
	meta, err := rg.MetaData().ColumnChunk(p.field.index)
	if err != nil {
		return err
	}
	part.bytes = meta.TotalCompressedSize()
	rows := max(1, rg.NumRows())
	room.kept = room.kept[:0]
	r := &columnReader{parquetField: p, part: part, strings: strings, room: room, rows: int(rows), batch: min(batchRows, rows), words: room.words[:0]}
	if p.field.typ.Kind == scalar.String {
		r.last = noCode
	}
	err = errOtherReader
	if p.decodesPages(meta) {
		var pages file.PageReader
		if pages, err = rg.GetColumnPageReader(p.field.index); err != nil {
			return err
		}
		defer pages.Close()
		err = r.readPages(ctx, pages, rg.NumRows())
	}
	if err == errOtherReader {
		err = r.readByLibrary(ctx, rg)
	}
	if err == nil {
		r.flushWords()
		r.flushKept()
		err = r.stopped(ctx)
	}
	return err
}

// readByLibrary decodes a column chunk of any encoding.
func (r *columnReader) readByLibrary(ctx context.Context, rg *file.RowGroupReader) error {
	chunk, err := rg.Column(r.field.index)
	if err != nil {
		return err
	}
	switch c := chunk.(type) {
	case *file.Int32ColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, (*columnReader).int32s)
	case *file.Int64ColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, (*columnReader).int64s)
	case *file.Int96ColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, (*columnReader).int96s)
	case *file.Float32ColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, func(r *columnReader, dst []int64, v []float32, row int) {
			for i, f := range v {
				dst[i] = int64(scalar.OfFloat(r.field.typ, float64(f)).Bits())
			}
		})
	case *file.Float64ColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, func(r *columnReader, dst []int64, v []float64, row int) {
			for i, f := range v {
				dst[i] = int64(scalar.OfFloat(r.field.typ, f).Bits())
			}
		})
	case *file.BooleanColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, func(r *columnReader, dst []int64, v []bool, row int) {
			for i, b := range v {
				dst[i] = 0
				if b {
					dst[i] = 1
				}
			}
		})
	case *file.ByteArrayColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, func(r *columnReader, dst []int64, v []parquet.ByteArray, row int) {
			r.byteArrays(dst, len(v), func(i int) []byte { return v[i] }, row)
		})
	case *file.FixedLenByteArrayColumnChunkReader:
		err = readBatches(ctx, r, c.ReadBatch, func(r *columnReader, dst []int64, v []parquet.FixedLenByteArray, row int) {
			r.byteArrays(dst, len(v), func(i int) []byte { return v[i] }, row)
		})
	}
	return err
}

// readBatches decodes a column chunk a batch at a time. convert turns the values
// of consecutive rows that have one, from `row` on, into words.
func readBatches[T any](ctx context.Context, r *columnReader, read func(int64, []T, []int16, []int16) (int64, int, error), convert func(r *columnReader, dst []int64, values []T, row int)) error {
	values := make([]T, r.batch)
	levels := make([]int16, r.batch)
	optional := r.descr.MaxDefinitionLevel()
	if optional == 0 {
		levels = nil
	}
	for {
		if err := r.stopped(ctx); err != nil {
			return err
		}
		rows, n, err := read(r.batch, values, levels, nil)
		if err != nil {
			return err
		}
		if rows == 0 {
			return nil
		}
		dst := r.grow(int(rows))
		if n == int(rows) {
			convert(r, dst, values[:n], r.part.rows)
			r.last = dst[n-1]
		} else {
			at := 0
			err := readPresent(r, dst, levels, optional, func(dst []int64, row int) error {
				if at+len(dst) > n {
					return fmt.Errorf("the Parquet file is damaged: fewer values than definition levels in column %s", r.field.name)
				}
				convert(r, dst, values[at:at+len(dst)], row)
				at += len(dst)
				return nil
			})
			if err != nil {
				return err
			}
		}
		r.part.rows += int(rows)
	}
}

// stopped returns why no more is to be read.
func (r *columnReader) stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.strings != nil {
		return r.strings.err
	}
	return nil
}

// readPresent makes the words of rows of which some have no value. A row has one
// if its level is present; read makes the words of each run of such rows, from
// `row` on.
func readPresent[L int16 | uint32](r *columnReader, dst []int64, levels []L, present L, read func(dst []int64, row int) error) error {
	for i := 0; i < len(dst); {
		j := i
		for j < len(dst) && levels[j] == present {
			j++
		}
		if j > i {
			if err := read(dst[i:j], r.part.rows+i); err != nil {
				return err
			}
			r.last = dst[j-1]
		}
		for i = j; i < len(dst) && levels[i] != present; i++ {
			r.part.nulls = append(r.part.nulls, uint32(r.part.rows+i))
			dst[i] = r.standIn()
		}
	}
	return nil
}

// grow returns room for the words of so many more rows, at most a batch.
func (r *columnReader) grow(rows int) []int64 {
	if cap(r.words)-len(r.words) < rows {
		r.flushWords()
	}
	from := len(r.words)
	r.words = r.words[:from+rows]
	return r.words[from:]
}

func (r *columnReader) flushWords() {
	if len(r.words) > 0 {
		r.part.chunks = append(r.part.chunks, narrow(r.field.typ.Kind, r.words, 1))
	}
	r.words = r.words[:0]
}

// refuse reports a value; its row is left out or ends the load.
func (r *columnReader) refuse(row int, reason string) int64 {
	r.part.bad = append(r.part.bad, badCell{uint32(row), reason})
	return r.standIn()
}

// standIn returns the word of a row whose value is missing or refused: the word
// of the row before it, which keeps the column narrow. Words of strings are
// entries of a dictionary, so that the first row gets the empty string.
func (r *columnReader) standIn() int64 {
	if r.field.typ.Kind == scalar.String && r.last == noCode {
		r.last = int64(r.strings.code(""))
	}
	return r.last
}

// refuser is refuse for rows that are counted from one of the row group.
func (r *columnReader) refuser(first int) func(i int, reason string) int64 {
	return func(i int, reason string) int64 { return r.refuse(first+i, reason) }
}

func (r *columnReader) int32s(dst []int64, values []int32, row int) {
	if r.from.unsigned {
		for i, v := range values {
			dst[i] = int64(uint32(v))
		}
	} else {
		for i, v := range values {
			dst[i] = int64(v)
		}
	}
	r.convert(dst, false, r.refuser(row))
}

func (r *columnReader) int64s(dst []int64, values []int64, row int) {
	copy(dst, values)
	r.convert(dst, r.from.unsigned, r.refuser(row))
}

func (r *columnReader) int96s(dst []int64, values []parquet.Int96, row int) {
	// A timestamp of old writers: nanoseconds of the day, then the Julian day.
	const julian1970 = 2_440_588
	for i, v := range values {
		nanos := int64(binary.LittleEndian.Uint64(v[:8]))
		days := int64(binary.LittleEndian.Uint32(v[8:])) - julian1970
		if days > math.MaxInt64/microsPerDay-1 || nanos%1000 != 0 {
			dst[i] = r.refuse(row+i, "the timestamp does not fit a datetime in microseconds")
			continue
		}
		dst[i] = days*microsPerDay + nanos/1000
	}
}

// byteArrays turns strings, or decimals as big-endian numbers, into words.
func (r *columnReader) byteArrays(dst []int64, n int, at func(int) []byte, row int) {
	if r.from.kind == scalar.String {
		for i := range n {
			code, ok := r.strings.codeOfText(at(i))
			if !ok {
				dst[i] = r.refuse(row+i, badText(at(i)))
				continue
			}
			dst[i] = int64(code)
		}
		return
	}
	r.decimals(dst[:n], at, r.refuser(row))
}

// decimals turns big-endian numbers into words.
func (r *columnReader) decimals(dst []int64, at func(i int) []byte, refuse func(i int, reason string) int64) {
	if r.to.Word != scalar.Whole {
		for i := range dst {
			n, ok := bigEndian128(at(i))
			w, why := r.wordOf(n)
			if !ok {
				why = tooLarge(r.to)
			}
			if dst[i] = w; why != "" {
				dst[i] = refuse(i, why)
			}
		}
		return
	}
	var refused []int
	for i := range dst {
		w, ok := bigEndian(at(i))
		if dst[i] = w; !ok {
			refused = append(refused, i)
		}
	}
	r.convert(dst, false, refuse)
	for _, i := range refused {
		dst[i] = refuse(i, tooLarge(r.field.typ))
	}
}

// bigEndian128 is bigEndian for 128 bits.
func bigEndian128(b []byte) (scalar.Int128, bool) {
	cut := max(0, len(b)-8)
	high, ok := bigEndian(b[:cut])
	low, _ := bigEndian(b[cut:])
	if cut == 0 {
		return scalar.Int128Of(low), true
	}
	return scalar.Int128{Hi: high, Lo: uint64(low)}, ok
}

// bigEndian reads a two's complement number of any length.
func bigEndian(b []byte) (int64, bool) {
	var n int64
	if len(b) > 0 {
		n = int64(int8(b[0])) >> 7
	}
	sign := n
	for i, c := range b {
		if len(b)-i > 8 {
			if c != byte(sign) {
				return 0, false
			}
			continue
		}
		n = n<<8 | int64(c)
	}
	return n, n>>63 == sign
}
