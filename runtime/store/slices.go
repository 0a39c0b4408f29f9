package store

import (
	"fmt"
	"math"
	goruntime "runtime"
	"time"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// FromSlices returns the relation of a predicate from one slice for each
// argument, all of one length. Integers of any size fill integers, decimals and
// floats that hold them; float32 and float64 fill floats; time.Time fills
// datetimes; []scalar.Value of the argument's type fills anything. Integers are kept as
// they lie where a column would store them so, and must not change afterwards.
func FromSlices(s Schema, slices ...any) (*Relation, error) {
	args, _ := s.arguments()
	if len(slices) != len(args) {
		return nil, fmt.Errorf("%s has %s, not %d", s.Name, counted(len(args), "argument"), len(slices))
	}
	columns, places := make([]*Column, len(s.Args)), s.places()
	for i, slice := range twice(&s, slices) {
		c, err := sliceColumn(s.Args[i].Type, slice)
		if err != nil {
			return nil, fmt.Errorf("argument %d (%s) of %s: %w", places[i], s.Args[i].Name, s.Name, err)
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
			if x.Type != t.Joined() || !x.Fits() {
				return nil, fmt.Errorf("row %d is %s, not %s", i+1, article(x.Type), article(t))
			}
			b.AppendValue(x.Part(t))
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
	if c := packed(t, values); c != nil {
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
	return ColumnOf(t, words, nil), nil
}

// integer is a type of numbers that fill integers.
type integer interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64
}

// packed returns the column of an integer type that numbers fill, or nil if the numbers
// are to be converted one by one: another type, or some that does not fit. It takes no
// memory beside the column's and works on all cores.
func packed[T integer](t scalar.Type, values []T) *Column {
	if t.Kind != scalar.Int && t.Kind != scalar.Uint || len(values) == 0 {
		return nil
	}
	threads := threadsFor(len(values))
	bounds := make([]bound[T], threads)
	partly(len(values), threads, func(i, from, to int) { bounds[i] = boundOf(values[max(from-1, 0):to]) })
	all := bounds[0]
	for _, b := range bounds[1:] {
		all.ascending = all.ascending && b.ascending
		all.min, all.max = min(all.min, b.min), max(all.max, b.max)
	}
	if !fits(t, all.min) || !fits(t, all.max) {
		return nil
	}
	c := &Column{Type: t, Step: 1, n: len(values)}
	c.Stats = ColumnStats{Min: int64(all.min), Max: int64(all.max), Distinct: 1, Ascending: all.ascending}
	c.Base, c.Width = baseOf(t, c.Stats.Min, c.Stats.Max)
	switch c.Width {
	case 0:
		return c
	case 1:
		c.U8 = offsetsOf[uint8](values, c.Base, threads)
	case 2:
		c.U16 = offsetsOf[uint16](values, c.Base, threads)
	case 4:
		c.U32 = offsetsOf[uint32](values, c.Base, threads)
	default:
		c.U64 = offsetsOf[uint64](values, c.Base, threads)
	}
	c.Stats.Distinct = countDistinct(c, threads)
	return c
}

// baseOf returns the base and the width of a column of words that are next to each
// other, without a step. A base of zero is cheaper to work with; it is taken where it
// costs nothing.
func baseOf(t scalar.Type, lo, hi int64) (base int64, width uint8) {
	width = widthOf(uint64(hi) - uint64(lo))
	if (lo >= 0 || t.Kind == scalar.Uint) && widthOf(uint64(hi)) == width {
		return 0, width
	}
	return lo, width
}

// threadsFor is how many threads work on so many numbers at a time.
func threadsFor(n int) int { return min(goruntime.GOMAXPROCS(0), 1+n>>16) }

// bound is the range of some numbers and whether they never decrease.
type bound[T integer] struct {
	min, max  T
	ascending bool
}

func boundOf[T integer](values []T) bound[T] {
	b := bound[T]{values[0], values[0], true}
	last, descents := values[0], 0
	for _, v := range values {
		b.min, b.max = min(b.min, v), max(b.max, v)
		if v < last {
			descents++
		}
		last = v
	}
	b.ascending = descents == 0
	return b
}

// fits reports whether a number is one of an integer type.
func fits[T integer](t scalar.Type, v T) bool {
	if t.Kind == scalar.Uint {
		return v >= 0 && uint64(v)<<(64-t.Bits)>>(64-t.Bits) == uint64(v)
	}
	return v < 0 == (int64(v) < 0) && fitsInt(int64(v), t.Bits)
}

// offsetsOf returns the numbers less the base, or themselves where they are stored so.
func offsetsOf[W unsigned, T integer](values []T, base int64, threads int) []W {
	if base == 0 && unsafe.Sizeof(values[0]) == unsafe.Sizeof(W(0)) {
		return unsafe.Slice((*W)(unsafe.Pointer(&values[0])), len(values))
	}
	out := make([]W, len(values))
	partly(len(values), threads, func(_, from, to int) {
		dst := out[from:to]
		for j, v := range values[from:to] {
			dst[j] = W(int64(v) - base)
		}
	})
	return out
}
