package ssbgen

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// column is a column of some rows of a table.
type column struct {
	name   string
	values values
	// plain columns have too many values for a dictionary.
	plain bool
}

// values are those of a column.
type values interface {
	len() int
	node(name string) (schema.Node, error)
	write(file.ColumnChunkWriter) error
}

// numbers are integers; Parquet keeps those of less than 32 bits as such ones of 32.
type numbers[T int8 | int16 | int32 | int64] []T

// bits returns the width of the type.
func (v numbers[T]) bits() int8 { return int8(8 * binary.Size(T(0))) }

func (v numbers[T]) len() int { return len(v) }

func (v numbers[T]) node(name string) (schema.Node, error) {
	physical := parquet.Types.Int32
	if v.bits() == 64 {
		physical = parquet.Types.Int64
	}
	return schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, schema.NewIntLogicalType(v.bits(), true), physical, -1, -1)
}

func (v numbers[T]) write(w file.ColumnChunkWriter) error {
	switch w := w.(type) {
	case *file.Int64ColumnChunkWriter:
		return inBatches(len(v), func(i int) int64 { return int64(v[i]) }, w.WriteBatch)
	default:
		return inBatches(len(v), func(i int) int32 { return int32(v[i]) }, w.(*file.Int32ColumnChunkWriter).WriteBatch)
	}
}

// integers returns numbers, whose type Go infers from the slice's.
func integers[T int8 | int16 | int32 | int64](v []T) values { return numbers[T](v) }

// coded are strings of a list, by their places in it.
type coded[T int8 | int16] struct {
	codes []T
	list  []string
}

func (v coded[T]) len() int { return len(v.codes) }

func (v coded[T]) node(name string) (schema.Node, error) { return stringNode(name) }

func (v coded[T]) write(w file.ColumnChunkWriter) error {
	list := make([]parquet.ByteArray, len(v.list))
	for i, s := range v.list {
		list[i] = parquet.ByteArray(s)
	}
	return inBatches(len(v.codes), func(i int) parquet.ByteArray { return list[v.codes[i]] }, w.(*file.ByteArrayColumnChunkWriter).WriteBatch)
}

// codes returns coded strings.
func codes[T int8 | int16](codes []T, list []string) values { return coded[T]{codes, list} }

// texts are strings that few rows have in common.
type texts []string

func (v texts) len() int { return len(v) }

func (v texts) node(name string) (schema.Node, error) { return stringNode(name) }

func (v texts) write(w file.ColumnChunkWriter) error {
	return inBatches(len(v), func(i int) parquet.ByteArray { return parquet.ByteArray(v[i]) }, w.(*file.ByteArrayColumnChunkWriter).WriteBatch)
}

func stringNode(name string) (schema.Node, error) {
	return schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
}

// inBatches writes n values, some thousand at a time.
func inBatches[P any](n int, value func(i int) P, write func([]P, []int16, []int16) (int64, error)) error {
	batch := make([]P, min(n, 1<<13))
	for from := 0; from < n; from += len(batch) {
		batch = batch[:min(len(batch), n-from)]
		for i := range batch {
			batch[i] = value(from + i)
		}
		if _, err := write(batch, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
