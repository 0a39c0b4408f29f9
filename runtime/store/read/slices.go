package read

import (
	"fmt"
	"math"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// FromSlices returns the relation of a predicate from one slice for each
// argument, all of one length. Integers of any size fill integers, decimals and
// floats that hold them; float32 and float64 fill floats; time.Time fills
// datetimes; []scalar.Value of the argument's type fills anything. A slice of
// integers is used in place if it has the form in which a column would store
// it, so it must not change afterwards.
func FromSlices(s store.Schema, slices ...any) (*store.Relation, error) {
	args, _ := arguments(&s)
	if len(slices) != len(args) {
		return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(args), "argument"),
			len(slices))
	}
	columns, numbers := make([]*store.Column, len(s.Args)), places(&s)
	for i, slice := range twice(&s, slices) {
		c, err := sliceColumn(s.Args[i].Type, slice)
		if err != nil {
			return nil, fmt.Errorf("argument %d (%s) of %s: %w", numbers[i], s.Args[i].Name, s.Name,
				err)
		}
		columns[i] = c
	}
	return NewRelation(s, columns)
}

func sliceColumn(t scalar.Type, slice any) (*store.Column, error) {
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
		return wordsOf(t, scalar.Boolean, v, func(b bool) (int64,
			error) {
			return int64(scalar.OfBool(b).Bits()), nil
		})
	case []time.Time:
		return wordsOf(t, scalar.Datetime, v, microsOf)
	case []string:
		if t.Kind != scalar.String {
			return nil, fmt.Errorf("%T does not fill %s", slice, article(t))
		}
		b := store.NewBuilder(t, nil)
		for i, x := range v {
			if !store.IsText(x) {
				return nil, fmt.Errorf("row %d: %s", i+1, badText([]byte(x)))
			}
			b.AppendString(x)
		}
		return b.Finish(), nil
	case []scalar.Value:
		b := store.NewBuilder(t, nil)
		for i, x := range v {
			if x.Type != t.Joined() || !x.Fits() {
				return nil, fmt.Errorf("row %d is %s, not %s", i+1, article(x.Type), article(t))
			}
			b.AppendValue(x.Part(t))
		}
		return b.Finish(), nil
	}
	return nil, fmt.Errorf("%T is no slice that a column can be made of", slice)
}

func wordsOf[T any](
	t scalar.Type, kind scalar.Kind, values []T, word func(T) (int64, error),
) (*store.Column, error) {
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
	return store.ColumnOf(t, words, nil), nil
}

// microsOf returns a time as a datetime, truncated to microseconds.
func microsOf(t time.Time) (int64, error) {
	if s := t.Unix(); s > math.MaxInt64/1_000_000-1 || s < math.MinInt64/1_000_000+1 {
		return 0, fmt.Errorf("%v does not fit a datetime in microseconds", t)
	}
	return t.UnixMicro(), nil
}

func integers[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](
	t scalar.Type, values []T, unsigned bool,
) (*store.Column, error) {
	c, ok := newConversion(origin{kind: scalar.Int, unsigned: unsigned}, t)
	if !ok {
		return nil, fmt.Errorf("%T does not fill %s", values, article(t))
	}
	if c := store.Integers(t, values); c != nil {
		return c, nil
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
	return store.ColumnOf(t, words, nil), nil
}
