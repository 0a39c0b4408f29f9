package ssbgen

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
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
	if v.bits() == 8 && len(v) > 0 && takesPlaces(w) {
		low, high := slices.Min(v), slices.Max(v)
		words := array.NewInt32Builder(memory.DefaultAllocator)
		for n := int32(low); n <= int32(high); n++ {
			words.Append(n)
		}
		return writePlaces(w, words.NewInt32Array(), len(v), func(i int) int32 { return int32(v[i]) - int32(low) })
	}
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
	words := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	words.AppendStringValues(v.list, nil)
	return writePlaces(w, words.NewBinaryArray(), len(v.codes), func(i int) int32 { return int32(v.codes[i]) })
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

// dictionaryEncoder is what the library's encoders of columns with a dictionary can do.
type dictionaryEncoder interface {
	PutDictionary(words arrow.Array) error
}

// takesPlaces reports whether the column has a dictionary.
func takesPlaces(w file.ColumnChunkWriter) bool {
	_, ok := w.CurrentEncoder().(dictionaryEncoder)
	return ok
}

// writePlaces writes n values that are places in a list of different words, which becomes
// the column's dictionary as it is. To look each value up would be a third of all work.
func writePlaces(w file.ColumnChunkWriter, words arrow.Array, n int, place func(i int) int32) error {
	defer words.Release()
	if err := w.CurrentEncoder().(dictionaryEncoder).PutDictionary(words); err != nil {
		return err
	}
	if stats := w.PageStatistics(); stats != nil {
		// The bounds are those of the list; pages are not told apart.
		stats.IncNumValues(int64(n))
		if err := stats.UpdateFromArrow(words, false); err != nil {
			return err
		}
	}
	places := make([]int32, n)
	for i := range places {
		places[i] = place(i)
	}
	data := array.NewData(arrow.PrimitiveTypes.Int32, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(places))}, nil, 0, 0)
	defer data.Release()
	list := array.NewInt32Data(data)
	defer list.Release()
	return w.WriteDictIndices(list, nil, nil)
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
