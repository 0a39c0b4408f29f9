package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// A row group of Parquet has rowGroupRows rows, or fewer if its pages, which are in memory
// until it is whole, come to rowGroupBytes.
const (
	rowGroupRows  = 1 << 20
	rowGroupBytes = 16 << 20
)

// unitColumn stands for the columns of a relation without any: Parquet keeps the
// number of rows in columns only.
const unitColumn = "true"

// parquetWriter writes a Parquet file, with row groups filled column by column
// from blocks of rows.
type parquetWriter struct {
	fields []outputField
	file   *file.Writer
	group  file.BufferedRowGroupWriter
	rowsN  int // in the group
	days   []bool
	bytes  []int // of a decimal that takes more than 8; else 0
	err    error

	strings []parquet.ByteArray
	fixed   []parquet.FixedLenByteArray
	int32s  []int32
	floats  []float32
	doubles []float64
	bools   []bool
}

// The lengths of decimals of 19 and of 38 digits.
const (
	longBytes = 9
	wideBytes = 16
)

func newParquetWriter(w io.Writer, fields []outputField) *parquetWriter {
	p := &parquetWriter{fields: fields, days: make([]bool, len(fields)), bytes: make([]int, len(fields))}
	options := []parquet.WriterProperty{
		parquet.WithCreatedBy("redfox"),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(false),
		parquet.WithVersion(parquet.V2_LATEST),
	}
	var nodes schema.FieldList
	for i, f := range fields {
		p.days[i] = f.Type.Kind == scalar.Datetime && wholeDays(f.Column)
		switch {
		case f.wide():
			p.bytes[i] = wideBytes
		case f.Type.Kind == scalar.Decimal && f.n > 0 && (f.Stats.Max >= 1e18 || f.Stats.Min <= -1e18):
			p.bytes[i] = longBytes
		}
		node, err := p.node(i)
		if err != nil {
			p.err = err
			return p
		}
		nodes = append(nodes, node)
		if d := f.Stats.Distinct; !f.wide() && d <= 1<<16 && d*4 <= int64(f.n) {
			options = append(options, parquet.WithDictionaryFor(f.name, true))
		}
	}
	if len(fields) == 0 {
		nodes = schema.FieldList{schema.NewBooleanNode(unitColumn, parquet.Repetitions.Required, -1)}
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		p.err = err
		return p
	}
	// The library closes what it can; the writer stays the caller's.
	p.file = file.NewParquetWriter(struct{ io.Writer }{w}, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	return p
}

// wholeDays reports whether all datetimes of a column are midnights.
func wholeDays(c *Column) bool {
	return c.Base%microsPerDay == 0 && (c.Width == 0 || c.Step%microsPerDay == 0)
}

func (p *parquetWriter) node(c int) (schema.Node, error) {
	name, t := p.fields[c].name, p.fields[c].Type
	physical := parquet.Types.Int64
	var logical schema.LogicalType = schema.NoLogicalType{}
	length := -1
	switch t.Kind {
	case scalar.Boolean:
		physical = parquet.Types.Boolean
	case scalar.Int, scalar.Uint:
		if t.Bits < 64 {
			physical = parquet.Types.Int32
		}
		logical = schema.NewIntLogicalType(int8(t.Bits), t.Kind == scalar.Int)
	case scalar.Float:
		physical = parquet.Types.Double
		if t.Bits == 32 {
			physical = parquet.Types.Float
		}
	case scalar.Decimal:
		digits := scalar.MaxScale
		if length = p.bytes[c]; length > 0 {
			physical = parquet.Types.FixedLenByteArray
			if digits = scalar.MaxScale + 1; length == wideBytes {
				digits = scalar.MaxWideScale
			}
		}
		logical = schema.NewDecimalLogicalType(int32(digits), int32(t.Scale))
	case scalar.Datetime:
		logical = schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)
		if p.days[c] {
			physical, logical = parquet.Types.Int32, schema.DateLogicalType{}
		}
	case scalar.String:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	default:
		return nil, fmt.Errorf("a column of type %s can not be written to Parquet", t)
	}
	return schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, logical, physical, length, -1)
}

func (p *parquetWriter) rows(block [][]int64, n int) (err error) {
	if p.err != nil {
		return p.err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("write Parquet: %v", r)
		}
	}()
	for from := 0; from < n; {
		if p.group == nil {
			if p.group, err = p.file.AppendBufferedRowGroupChecked(); err != nil {
				return err
			}
			p.rowsN = 0
		}
		to := min(n, from+rowGroupRows-p.rowsN)
		if len(p.fields) == 0 {
			if err := p.units(to - from); err != nil {
				return err
			}
		}
		for i, f := range p.fields {
			var low []int64
			if f.wide() {
				low = block[f.at+1][from:to]
			}
			if err := p.column(i, block[f.at][from:to], low); err != nil {
				return err
			}
		}
		p.rowsN += to - from
		from = to
		if p.rowsN == rowGroupRows || p.group.TotalCompressedBytes() >= rowGroupBytes {
			if err := p.group.Close(); err != nil {
				return err
			}
			p.group = nil
		}
	}
	return nil
}

func (p *parquetWriter) units(n int) error {
	w, err := p.group.Column(0)
	if err != nil {
		return err
	}
	values := make([]bool, n)
	for i := range values {
		values[i] = true
	}
	_, err = w.(*file.BooleanColumnChunkWriter).WriteBatch(values, nil, nil)
	return err
}

// column writes the words of a field; of a wide one, low are those of the lower half.
func (p *parquetWriter) column(c int, words, low []int64) error {
	chunk, err := p.group.Column(c)
	if err != nil {
		return err
	}
	switch w := chunk.(type) {
	case *file.BooleanColumnChunkWriter:
		p.bools = p.bools[:0]
		for _, v := range words {
			p.bools = append(p.bools, v != 0)
		}
		_, err = w.WriteBatch(p.bools, nil, nil)
	case *file.Int32ColumnChunkWriter:
		p.int32s = p.int32s[:0]
		if p.days[c] {
			for _, v := range words {
				p.int32s = append(p.int32s, int32(v/microsPerDay))
			}
		} else {
			for _, v := range words {
				p.int32s = append(p.int32s, int32(v))
			}
		}
		_, err = w.WriteBatch(p.int32s, nil, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(words, nil, nil)
	case *file.Float32ColumnChunkWriter:
		p.floats = p.floats[:0]
		for _, v := range words {
			p.floats = append(p.floats, float32(math.Float64frombits(uint64(v))))
		}
		_, err = w.WriteBatch(p.floats, nil, nil)
	case *file.Float64ColumnChunkWriter:
		p.doubles = p.doubles[:0]
		for _, v := range words {
			p.doubles = append(p.doubles, math.Float64frombits(uint64(v)))
		}
		_, err = w.WriteBatch(p.doubles, nil, nil)
	case *file.ByteArrayColumnChunkWriter:
		p.strings = p.strings[:0]
		dict := p.fields[c].Dict
		for _, v := range words {
			p.strings = append(p.strings, parquet.ByteArray(dict.String(uint32(v))))
		}
		_, err = w.WriteBatch(p.strings, nil, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		p.fixed = p.fixed[:0]
		for i, v := range words {
			if low != nil {
				n := scalar.JoinWords(0, v, low[i]).Int128()
				b := binary.BigEndian.AppendUint64(make([]byte, 0, wideBytes), uint64(n.Hi))
				p.fixed = append(p.fixed, binary.BigEndian.AppendUint64(b, n.Lo))
				continue
			}
			b := make(parquet.FixedLenByteArray, longBytes)
			for i := range b {
				b[i] = byte(v >> min(63, 8*(longBytes-1-i)))
			}
			p.fixed = append(p.fixed, b)
		}
		_, err = w.WriteBatch(p.fixed, nil, nil)
	}
	return err
}

func (p *parquetWriter) finish(int64) (err error) {
	if p.err != nil {
		return p.err
	}
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(err, fmt.Errorf("write Parquet: %v", r))
		}
	}()
	if p.group != nil {
		if err := p.group.Close(); err != nil {
			return err
		}
	}
	return p.file.Close()
}
