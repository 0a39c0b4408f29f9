package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// NewRelation returns the relation of a predicate with the given columns, one
// for each argument. Repeated tuples are removed; two values for a key are a
// *KeyError.
func NewRelation(s Schema, columns []*Column) (*Relation, error) {
	rows := 0
	if len(columns) > 0 {
		rows = columns[0].Len()
	}
	return newRelation(s, columns, rows, nil)
}

// newRelation is NewRelation for columns of so many rows, of which those of the
// ascending list have no value.
func newRelation(s Schema, columns []*Column, rows int, missing []uint32) (*Relation, error) {
	if len(columns) != len(s.Args) {
		return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(s.Args), "argument"), len(columns))
	}
	use := Use{Schema: s}
	for i, c := range columns {
		if c.Len() != rows {
			return nil, fmt.Errorf("the columns of %s have %d and %d rows", s.Name, rows, c.Len())
		}
		if c.Type != s.Args[i].Type {
			return nil, fmt.Errorf("argument %d (%s) of %s is %s, not %s", i+1, s.Args[i].Name, s.Name, article(s.Args[i].Type), article(c.Type))
		}
		use.Columns = append(use.Columns, i)
	}
	l := &load{source: &Source{Uses: []Use{use}}, opts: &Options{}, report: &FileReport{}, rows: int64(rows), byRow: true}
	l.plan()
	for i, c := range columns {
		l.data[i].column = c
	}
	if len(missing) > 0 {
		l.data[len(columns)-1].nulls = missing
	}
	rels, err := l.finish(context.Background())
	if err != nil {
		return nil, err
	}
	rels[0].Table.Name = s.Name
	return rels[0], nil
}

// Concat returns the union of relations that have the schema's columns.
func Concat(s Schema, rels ...*Relation) (*Relation, error) {
	if len(rels) == 0 {
		return EmptyRelation(s), nil
	}
	columns := make([]*Column, len(s.Args))
	rows := 0
	for _, r := range rels {
		rows += r.Rows()
		if len(r.Cols) != len(s.Args) {
			return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(s.Args), "argument"), len(r.Cols))
		}
	}
	for i, a := range s.Args {
		parts := make([]*Column, len(rels))
		for j, r := range rels {
			parts[j] = r.Column(i)
		}
		columns[i] = concatColumns(a.Type, parts)
	}
	return newRelation(s, columns, rows, nil)
}

func concatColumns(t scalar.Type, parts []*Column) *Column {
	var dict *Dict
	if t.Kind == scalar.String {
		dicts := make([]*Dict, len(parts))
		for i, c := range parts {
			dicts[i] = c.Dict
		}
		var remaps [][]uint32
		dict, remaps = MergeDicts(dicts, nil)
		for i, c := range parts {
			parts[i] = c.WithDict(dict, remaps[i])
		}
	}
	b := NewBuilder(t, dict)
	words := make([]int64, chunkRows)
	for _, c := range parts {
		for from := 0; from < c.Len(); from += chunkRows {
			part := words[:min(chunkRows, c.Len()-from)]
			c.Read(part, from)
			b.AppendWords(part)
		}
	}
	return b.Finish()
}

// FromSlices returns the relation of a predicate from one slice for each
// argument, all of one length. Integers of any size fill integers, decimals and
// floats that hold them; float32 and float64 fill floats; time.Time fills
// datetimes; []scalar.Value of the argument's type fills anything.
func FromSlices(s Schema, slices ...any) (*Relation, error) {
	if len(slices) != len(s.Args) {
		return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(s.Args), "argument"), len(slices))
	}
	columns := make([]*Column, len(slices))
	for i, slice := range slices {
		c, err := sliceColumn(s.Args[i].Type, slice)
		if err != nil {
			return nil, fmt.Errorf("argument %d (%s) of %s: %w", i+1, s.Args[i].Name, s.Name, err)
		}
		columns[i] = c
	}
	return NewRelation(s, columns)
}

func sliceColumn(t scalar.Type, slice any) (*Column, error) {
	switch v := slice.(type) {
	case []int:
		return integers(t, v, false)
	case []int8:
		return integers(t, v, false)
	case []int16:
		return integers(t, v, false)
	case []int32:
		return integers(t, v, false)
	case []int64:
		return integers(t, v, false)
	case []uint:
		return integers(t, v, true)
	case []uint8:
		return integers(t, v, true)
	case []uint16:
		return integers(t, v, true)
	case []uint32:
		return integers(t, v, true)
	case []uint64:
		return integers(t, v, true)
	case []float32:
		return wordsOf(t, scalar.Float, v, func(f float32) (int64, error) {
			return int64(scalar.OfFloat(t, float64(f)).Bits()), nil
		})
	case []float64:
		return wordsOf(t, scalar.Float, v, func(f float64) (int64, error) {
			return int64(scalar.OfFloat(t, f).Bits()), nil
		})
	case []bool:
		return wordsOf(t, scalar.Boolean, v, func(b bool) (int64, error) { return int64(scalar.OfBool(b).Bits()), nil })
	case []time.Time:
		return wordsOf(t, scalar.Datetime, v, microsOf)
	case []string:
		if t.Kind != scalar.String {
			return nil, fmt.Errorf("%T does not fill %s", slice, article(t))
		}
		b := NewBuilder(t, nil)
		for i, x := range v {
			if !isText(x) {
				return nil, fmt.Errorf("row %d: %s", i+1, badText([]byte(x)))
			}
			b.AppendString(x)
		}
		return b.Finish(), nil
	case []scalar.Value:
		b := NewBuilder(t, nil)
		for i, x := range v {
			if x.Type != t || !x.Fits() {
				return nil, fmt.Errorf("row %d is %s, not %s", i+1, article(x.Type), article(t))
			}
			b.AppendValue(x)
		}
		return b.Finish(), nil
	}
	return nil, fmt.Errorf("%T is no slice that a column can be made of", slice)
}

func wordsOf[T any](t scalar.Type, kind scalar.Kind, values []T, word func(T) (int64, error)) (*Column, error) {
	if t.Kind != kind {
		return nil, fmt.Errorf("%T does not fill %s", values, article(t))
	}
	words := make([]int64, len(values))
	for i, v := range values {
		w, err := word(v)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		words[i] = w
	}
	return ColumnOf(t, words, nil), nil
}

// microsOf returns a time as a datetime, cut to microseconds.
func microsOf(t time.Time) (int64, error) {
	if s := t.Unix(); s > math.MaxInt64/1_000_000-1 || s < math.MinInt64/1_000_000+1 {
		return 0, fmt.Errorf("%v does not fit a datetime in microseconds", t)
	}
	return t.UnixMicro(), nil
}

func integers[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](t scalar.Type, values []T, unsigned bool) (*Column, error) {
	c, ok := newConversion(origin{kind: scalar.Int, unsigned: unsigned}, t)
	if !ok {
		return nil, fmt.Errorf("%T does not fill %s", values, article(t))
	}
	words := make([]int64, len(values))
	for i, v := range values {
		words[i] = int64(v)
	}
	var err error
	c.convert(words, unsigned, func(i int, reason string) int64 {
		if err == nil {
			err = fmt.Errorf("row %d: %s", i+1, reason)
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	return ColumnOf(t, words, nil), nil
}
