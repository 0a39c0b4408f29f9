package write

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// A row group has rowGroupRows rows, or fewer if its pages reach rowGroupBytes.
// The pages stay in memory until the group is written.
const (
	rowGroupRows  = 1 << 20
	rowGroupBytes = 16 << 20
)

// A column has a dictionary if it has at most dictionaryValues values, each in
// valueRepeats rows on average, and strings of at most dictionaryText bytes.
const (
	dictionaryValues = 1 << 16
	dictionaryText   = 1 << 20
	valueRepeats     = 4
)

// unitColumn is the column of a relation without arguments, because a Parquet
// file needs a column to have rows.
const unitColumn = "true"

// parquetWriter fills row groups column by column from blocks of rows.
type parquetWriter struct {
	fields  []parquetOutput
	columns []parquet.Column
	file    *parquet.Writer
	zstd    *zstd.Encoder
	group   *parquet.Group
	rowsN   int // in the group
	err     error
	plain   []byte   // scratch
	numbers []uint32 // scratch
}

// parquetOutput is a field, and its state in the current row group.
type parquetOutput struct {
	outputField
	days       bool // datetimes are written as dates
	length     int  // of decimals that take more than 8 bytes, else 0
	dictionary bool
	words      parquet.Dictionary[int64]
	bounds     bounds
}

// The sizes of decimals of 19 and of 38 digits, in bytes.
const (
	longBytes = 9
	wideBytes = 16
)

func newParquetWriter(w io.Writer, fields []outputField) *parquetWriter {
	p := &parquetWriter{}
	for _, f := range fields {
		o := parquetOutput{outputField: f}
		o.days = f.Type.Kind == scalar.Datetime && wholeDays(f.Column)
		d := f.Stats.Distinct
		o.dictionary = !f.wide() && d <= dictionaryValues && d*valueRepeats <= int64(f.Len()) &&
			f.Type.Kind != scalar.Boolean && (f.Dict == nil || f.Dict.Bytes() <= dictionaryText)
		column, err := o.column()
		if err != nil {
			p.err = err
			return p
		}
		p.fields, p.columns = append(p.fields, o), append(p.columns, column)
	}
	if len(fields) == 0 {
		p.columns = []parquet.Column{{Name: unitColumn, Type: parquet.Boolean}}
	}
	p.zstd, p.err = parquet.NewEncoder(zstd.SpeedDefault)
	p.file = parquet.NewWriter(w, "redfox", p.columns)
	return p
}

// wholeDays reports whether all datetimes of a column are at midnight.
func wholeDays(c *store.Column) bool {
	return c.Base%scalar.MicrosPerDay == 0 && (c.Width == 0 || c.Step%scalar.MicrosPerDay == 0)
}

// column returns the field's column in the file.
func (o *parquetOutput) column() (parquet.Column, error) {
	c := parquet.Column{Name: o.name, Type: parquet.Int64}
	t := o.Type
	switch t.Kind {
	case scalar.Boolean:
		c.Type = parquet.Boolean
	case scalar.Int, scalar.Uint:
		if t.Bits < 64 {
			c.Type = parquet.Int32
		}
		c.Logical = &parquet.Logical{Integer: &parquet.Integer{Bits: int8(t.Bits),
			Signed: t.Kind == scalar.Int}}
	case scalar.Float:
		c.Type = parquet.Double
		if t.Bits == 32 {
			c.Type = parquet.Float
		}
	case scalar.Decimal:
		digits := scalar.MaxScale
		switch {
		case o.wide():
			o.length, digits = wideBytes, scalar.MaxWideScale
		case o.Len() > 0 && (o.Stats.Max >= 1e18 || o.Stats.Min <= -1e18):
			o.length, digits = longBytes, scalar.MaxScale+1
		}
		if o.length > 0 {
			c.Type, c.Length = parquet.FixedLenByteArray, o.length
		}
		c.Logical = &parquet.Logical{Decimal: &parquet.Decimal{Precision: int32(digits),
			Scale: int32(t.Scale)}}
	case scalar.Datetime:
		micros := parquet.TimeUnit{Micros: &struct{}{}}
		c.Logical = &parquet.Logical{Timestamp: &parquet.Timestamp{UTC: true, Unit: micros}}
		if o.days {
			c.Type, c.Logical = parquet.Int32, &parquet.Logical{Date: &struct{}{}}
		}
	case scalar.String:
		c.Type, c.Logical = parquet.ByteArray, &parquet.Logical{Text: &struct{}{}}
	default:
		return c, fmt.Errorf("a column of type %s cannot be written to Parquet", t)
	}
	return c, nil
}

func (p *parquetWriter) rows(block [][]int64, n int) error {
	if p.err != nil {
		return p.err
	}
	for from := 0; from < n; {
		if p.group == nil {
			p.group, p.rowsN = parquet.NewGroup(p.columns, p.zstd), 0
		}
		to := min(n, from+rowGroupRows-p.rowsN)
		if len(p.fields) == 0 {
			p.group.Chunks[0].Numbers(slices.Repeat([]uint32{1}, to-from))
		}
		for i := range p.fields {
			f := &p.fields[i]
			var low []int64
			if f.wide() {
				low = block[f.at+1][from:to]
			}
			p.chunk(i, block[f.at][from:to], low)
		}
		p.rowsN += to - from
		from = to
		if p.rowsN == rowGroupRows || p.group.Bytes() >= rowGroupBytes {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunk adds words of a field to its column chunk. low are the lower words of a
// wide field.
func (p *parquetWriter) chunk(i int, words, low []int64) {
	f, chunk := &p.fields[i], &p.group.Chunks[i]
	switch {
	case f.Type.Kind == scalar.Boolean:
		p.numbers = p.numbers[:0]
		for _, w := range words {
			p.numbers = append(p.numbers, uint32(w))
		}
		chunk.Numbers(p.numbers)
		f.bounds.add(f.Column, words, nil)
	case f.dictionary:
		chunk.Numbers(p.coded(f, words))
	default:
		f.bounds.add(f.Column, words, low)
		p.plainChunk(f, chunk, words, low)
	}
}

// plainBatch is the number of bytes that are added to a column chunk at a time.
const plainBatch = 1 << 16

func (p *parquetWriter) plainChunk(f *parquetOutput, chunk *parquet.Chunk, words, low []int64) {
	p.plain = p.plain[:0]
	from := 0
	for i, w := range words {
		var l int64
		if low != nil {
			l = low[i]
		}
		p.plain = f.appendPlain(p.plain, w, l)
		if len(p.plain) >= plainBatch || i == len(words)-1 {
			chunk.Values(p.plain, i+1-from)
			p.plain, from = p.plain[:0], i+1
		}
	}
}

// coded returns the codes of words in the dictionary of the row group.
func (p *parquetWriter) coded(f *parquetOutput, words []int64) []uint32 {
	p.numbers = p.numbers[:0]
	for _, w := range words {
		p.numbers = append(p.numbers, f.words.Place(w))
	}
	return p.numbers
}

// appendPlain appends a value in the encoding PLAIN. low is the lower word of a
// wide field.
func (f *parquetOutput) appendPlain(dst []byte, w, low int64) []byte {
	number := binary.LittleEndian
	switch t := f.Type; t.Kind {
	case scalar.String:
		s := f.Dict.String(uint32(w))
		return append(number.AppendUint32(dst, uint32(len(s))), s...)
	case scalar.Boolean:
		return append(dst, byte(w))
	case scalar.Float:
		if t.Bits == 32 {
			return number.AppendUint32(dst,
				math.Float32bits(float32(math.Float64frombits(uint64(w)))))
		}
	case scalar.Int, scalar.Uint:
		if t.Bits < 64 {
			return number.AppendUint32(dst, uint32(w))
		}
	case scalar.Datetime:
		if f.days {
			return number.AppendUint32(dst, uint32(w/scalar.MicrosPerDay))
		}
	case scalar.Decimal:
		switch f.length {
		case longBytes:
			dst = append(dst, byte(w>>63))
			return binary.BigEndian.AppendUint64(dst, uint64(w))
		case wideBytes:
			n := scalar.JoinWords(0, w, low).Int128()
			dst = binary.BigEndian.AppendUint64(dst, uint64(n.Hi))
			return binary.BigEndian.AppendUint64(dst, n.Lo)
		}
	}
	return number.AppendUint64(dst, uint64(w))
}

// flush writes the row group.
func (p *parquetWriter) flush() error {
	for i := range p.fields {
		f, chunk := &p.fields[i], &p.group.Chunks[i]
		if f.dictionary {
			var plain []byte
			for _, w := range f.words.Values {
				plain = f.appendPlain(plain, w, 0)
			}
			chunk.Dictionary(plain, len(f.words.Values))
			f.bounds.add(f.Column, f.words.Values, nil)
		}
		chunk.Statistics = f.bounds.statistics(f)
		f.bounds, f.words = bounds{}, parquet.Dictionary[int64]{}
	}
	group := p.group
	p.group = nil
	group.Finish()
	return p.file.Append(group, int64(p.rowsN))
}

func (p *parquetWriter) finish(int64) error {
	if p.err != nil {
		return p.err
	}
	if p.group != nil {
		if err := p.flush(); err != nil {
			return err
		}
	}
	return p.file.Close()
}

// bounds are the least and the greatest value of a column chunk, as one word
// or, if values are wide, two. A chunk with a NaN, which has no order, has no
// bounds.
type bounds struct {
	least, most [2]int64
	any, none   bool
}

// maxBound is the greatest length of strings that are written as bounds.
const maxBound = 64

func (b *bounds) add(c *store.Column, words, low []int64) {
	for i, w := range words {
		v := [2]int64{w}
		if low != nil {
			v[1] = low[i]
		}
		if c.Type.Kind == scalar.Float && math.IsNaN(math.Float64frombits(uint64(w))) {
			b.none = true
		}
		if !b.any {
			b.least, b.most, b.any = v, v, true
			continue
		}
		if before(c, v, b.least) {
			b.least = v
		}
		if before(c, b.most, v) {
			b.most = v
		}
	}
}

// before reports whether a value is less than another one.
func before(c *store.Column, a, b [2]int64) bool {
	switch c.Type.Kind {
	case scalar.String:
		return a[0] != b[0] && c.Dict.Compare(uint32(a[0]), uint32(b[0])) < 0
	case scalar.Uint:
		return uint64(a[0]) < uint64(b[0])
	case scalar.Float:
		return math.Float64frombits(uint64(a[0])) < math.Float64frombits(uint64(b[0]))
	}
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

// statistics returns the bounds as values.
func (b *bounds) statistics(f *parquetOutput) *parquet.Statistics {
	s := &parquet.Statistics{Nulls: new(int64)}
	if !b.any || b.none {
		return s
	}
	s.Min = f.appendPlain(nil, b.least[0], b.least[1])
	s.Max = f.appendPlain(nil, b.most[0], b.most[1])
	switch f.Type.Kind {
	case scalar.String:
		if s.Min, s.Max = s.Min[4:], s.Max[4:]; max(len(s.Min), len(s.Max)) > maxBound {
			s.Min, s.Max = nil, nil
		}
	case scalar.Float:
		// Zeros of both signs are equal, so either may be the bound.
		if b.least[0] == math.MinInt64 || b.least[0] == 0 {
			s.Min = f.appendPlain(nil, math.MinInt64, 0)
		}
		if b.most[0] == math.MinInt64 || b.most[0] == 0 {
			s.Max = f.appendPlain(nil, 0, 0)
		}
	}
	return s
}
