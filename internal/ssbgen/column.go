package ssbgen

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/internal/parquet"
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
	stored() (parquet.Type, *parquet.Logical)
	write(c *parquet.Chunk, plain bool)
}

// rowGroup is an encoded row group.
type rowGroup struct {
	*parquet.Group
	rows int64
}

// columnsOf returns the columns of a file.
func columnsOf(columns []column) (out []parquet.Column) {
	for _, c := range columns {
		typ, logical := c.values.stored()
		out = append(out, parquet.Column{Name: c.name, Type: typ, Logical: logical})
	}
	return out
}

// encode makes a row group of columns of the same length. Encoding is most of
// the work, and is done for several row groups at once.
func encode(columns []column) (*rowGroup, error) {
	z, err := parquet.NewEncoder(zstd.SpeedFastest)
	if err != nil {
		return nil, err
	}
	g := &rowGroup{parquet.NewGroup(columnsOf(columns), z), int64(columns[0].values.len())}
	for i, c := range columns {
		c.values.write(&g.Chunks[i], c.plain)
	}
	g.Finish()
	return g, nil
}

// numbers are integers. Parquet stores those of less than 32 bits in 32.
type numbers[T int8 | int16 | int32 | int64] []T

// bits returns the width of the type.
func (v numbers[T]) bits() int8 { return int8(8 * binary.Size(T(0))) }

func (v numbers[T]) len() int { return len(v) }

func (v numbers[T]) stored() (parquet.Type, *parquet.Logical) {
	integer := &parquet.Logical{Integer: &parquet.Integer{Bits: v.bits(), Signed: true}}
	if v.bits() == 64 {
		return parquet.Int64, integer
	}
	return parquet.Int32, integer
}

func (v numbers[T]) write(c *parquet.Chunk, plain bool) {
	number := binary.LittleEndian
	appendTo := func(dst []byte, n T) []byte { return number.AppendUint32(dst, uint32(n)) }
	if v.bits() == 64 {
		appendTo = func(dst []byte, n T) []byte { return number.AppendUint64(dst, uint64(n)) }
	}
	if plain || v.bits() > 8 || len(v) == 0 {
		writeValues(c, v, plain, appendTo)
		return
	}
	// The dictionary is the range of the numbers: none is looked up.
	low, high := slices.Min(v), slices.Max(v)
	places := make([]uint32, len(v))
	for i, n := range v {
		places[i] = uint32(int64(n) - int64(low))
	}
	c.Numbers(places)
	var words []T
	for n := int64(low); n <= int64(high); n++ {
		words = append(words, T(n))
	}
	writeDictionary(c, words, appendTo)
}

// integers returns numbers, whose type Go infers from the slice's.
func integers[T int8 | int16 | int32 | int64](v []T) values { return numbers[T](v) }

// coded are strings of a list, by their places in it.
type coded[T int8 | int16] struct {
	codes []T
	list  []string
}

func (v coded[T]) len() int { return len(v.codes) }

func (v coded[T]) stored() (parquet.Type, *parquet.Logical) { return texts{}.stored() }

// write makes the list the dictionary as it is: to look each value up would be
// a third of all work.
func (v coded[T]) write(c *parquet.Chunk, _ bool) {
	places := make([]uint32, len(v.codes))
	for i, code := range v.codes {
		places[i] = uint32(code)
	}
	c.Numbers(places)
	writeDictionary(c, v.list, appendText)
}

// codes returns coded strings.
func codes[T int8 | int16](codes []T, list []string) values { return coded[T]{codes, list} }

// texts are strings that few rows have in common.
type texts []string

func (v texts) len() int { return len(v) }

func (v texts) stored() (parquet.Type, *parquet.Logical) {
	return parquet.ByteArray, &parquet.Logical{Text: &struct{}{}}
}

func (v texts) write(c *parquet.Chunk, plain bool) { writeValues(c, v, plain, appendText) }

func appendText(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// writeValues writes values, which appendTo encodes, as they are or as places
// in a dictionary.
func writeValues[T int8 | int16 | int32 | int64 | string](
	c *parquet.Chunk, v []T, plain bool, appendTo func([]byte, T) []byte,
) {
	if !plain {
		var words parquet.Dictionary[T]
		places := make([]uint32, len(v))
		for i, value := range v {
			places[i] = words.Place(value)
		}
		c.Numbers(places)
		writeDictionary(c, words.Values, appendTo)
		return
	}
	const batch = 1 << 13
	var scratch []byte
	for part := range slices.Chunk(v, batch) {
		scratch = scratch[:0]
		for _, value := range part {
			scratch = appendTo(scratch, value)
		}
		c.Values(scratch, len(part))
	}
	bound(c, v, appendTo)
}

func writeDictionary[T int8 | int16 | int32 | int64 | string](
	c *parquet.Chunk, words []T, appendTo func([]byte, T) []byte,
) {
	var plain []byte
	for _, w := range words {
		plain = appendTo(plain, w)
	}
	c.Dictionary(plain, len(words))
	bound(c, words, appendTo)
}

// bound sets the bounds of the values.
func bound[T int8 | int16 | int32 | int64 | string](
	c *parquet.Chunk, v []T, appendTo func([]byte, T) []byte,
) {
	if len(v) == 0 {
		return
	}
	encode := func(value T) []byte {
		b := appendTo(nil, value)
		if s, ok := any(value).(string); ok {
			return b[len(b)-len(s):]
		}
		return b
	}
	c.Statistics = &parquet.Statistics{Nulls: new(int64), Min: encode(slices.Min(v)),
		Max: encode(slices.Max(v))}
}
