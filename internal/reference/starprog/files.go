package starprog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Write writes the files of the tables to a folder.
func (d *Data) Write(dir string, stored []*Pred) error {
	for _, t := range d.Tables {
		files := map[string][]byte{}
		switch t.Storage {
		case Parquet:
			data, err := t.parquet()
			if err != nil {
				return err
			}
			files[t.Name+".parquet"] = data
		case CSV:
			files[t.Name+".csv"] = t.csv()
		case CSVPerPredicate:
			for _, p := range stored {
				if p.Table == t.Name {
					files[strings.ReplaceAll(p.Name, ":", "_")+".csv"] = predicateCSV(p,
						d.Tuples(p))
				}
			}
		}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Table) csv() []byte {
	names := list.Map(t.Columns, func(c Column) string { return c.Name })
	return csvText(names, list.Map(t.Rows, func(row []Cell) []string {
		return list.Map(row, field)
	}))
}

// field is a cell in a CSV file: nothing where the value is missing.
func field(c Cell) string {
	if c.Missing {
		return ""
	}
	return csvField(c.Value)
}

// csvField quotes texts that say something else without quotes: those that are
// empty too.
func csvField(v scalar.Value) string {
	text := scalar.Format(v)
	if text != "" && !strings.ContainsAny(text, "\",\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

func predicateCSV(p *Pred, tuples [][]scalar.Value) []byte {
	names := list.Map(p.Args, func(a Arg) string { return a.Name })
	return csvText(names, list.Map(tuples, func(t []scalar.Value) []string {
		return list.Map(t, csvField)
	}))
}

func csvText(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	for _, row := range slices.Concat([][]string{names}, rows) {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.Bytes()
}

// parquet writes the table with as many row groups as it takes.
func (t *Table) parquet() ([]byte, error) {
	var fields schema.FieldList
	for _, c := range t.Columns {
		node, err := parquetNode(c)
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterProperty{parquet.WithVersion(parquet.V2_LATEST)}
	if len(t.Rows)%2 == 0 {
		options = append(options, parquet.WithCompression(compress.Codecs.Zstd),
			parquet.WithDictionaryDefault(false))
	}
	var out bytes.Buffer
	props := file.WithWriterProps(parquet.NewWriterProperties(options...))
	w := file.NewParquetWriter(&out, root, props)
	size := max(t.RowGroup, 1)
	for from := 0; from == 0 || from < len(t.Rows); from += size {
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			return nil, err
		}
		for c := range t.Columns {
			chunk, err := group.NextColumn()
			if err != nil {
				return nil, err
			}
			if err := writeChunk(chunk, t.Columns[c], t.Rows[from:min(from+size, len(t.Rows))],
				c); err != nil {
				return nil, err
			}
			if err := chunk.Close(); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func parquetNode(c Column) (schema.Node, error) {
	repetition := parquet.Repetitions.Required
	if c.Missing {
		repetition = parquet.Repetitions.Optional
	}
	logical, physical, length := schema.LogicalType(schema.NoLogicalType{}), parquet.Types.Int64, 0
	switch c.Type.Kind {
	case scalar.Boolean:
		physical = parquet.Types.Boolean
	case scalar.Float:
		physical = parquet.Types.Double
	case scalar.String:
		logical, physical = schema.StringLogicalType{}, parquet.Types.ByteArray
	case scalar.Datetime:
		logical = schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)
	case scalar.Decimal:
		logical = schema.NewDecimalLogicalType(int32(c.Type.Digits()), int32(c.Type.Scale))
		if c.Type.IsWide() {
			physical, length = parquet.Types.FixedLenByteArray, 16
		}
	}
	return schema.NewPrimitiveNodeLogical(c.Name, repetition, logical, physical, length, -1)
}

// writeChunk writes the values of a column that are not missing, and where.
func writeChunk(w file.ColumnChunkWriter, c Column, rows [][]Cell, at int) error {
	var levels []int16
	var values []scalar.Value
	for _, row := range rows {
		level := int16(1)
		if row[at].Missing {
			level = 0
		} else {
			values = append(values, row[at].Value)
		}
		if c.Missing {
			levels = append(levels, level)
		}
	}
	var err error
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(list.Map(values, scalar.Value.Bool), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(list.Map(values, scalar.Value.Float), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(list.Map(values, utf8), levels, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(list.Map(values, bigEndian), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(list.Map(values, scalar.Value.Int), levels, nil)
	}
	return err
}

// utf8 is a string as Parquet stores it.
func utf8(v scalar.Value) parquet.ByteArray { return parquet.ByteArray(v.Str()) }

// bigEndian is a decimal of 38 digits as Parquet stores it.
func bigEndian(v scalar.Value) parquet.FixedLenByteArray {
	n := v.Int128()
	out := make([]byte, 16)
	for i := range 8 {
		out[i] = byte(uint64(n.Hi) >> (56 - 8*i))
		out[8+i] = byte(n.Lo >> (56 - 8*i))
	}
	return out
}
