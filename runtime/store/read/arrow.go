package read

import (
	"fmt"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// FromArrow returns the relation of a predicate from a record with one column
// for each argument, in their order. Integers, decimals, floats, booleans,
// dates, timestamps (whose zone is taken as UTC), strings and dictionaries of
// strings become what they can without loss. A row whose value of a functional
// predicate is null is left out; any other null, and a value that does not fit,
// is a *LoadError.
func FromArrow(s store.Schema, rec arrow.RecordBatch) (*store.Relation, error) {
	args, _ := arguments(&s)
	if int(rec.NumCols()) != len(args) {
		return nil,
			&LoadError{File: s.Name, Reason: fmt.Sprintf("the Arrow record has %s, expected %d",
				counted(int(rec.NumCols()), "column"), len(args))}
	}
	arrays := twice(&s, rec.Columns())
	numbers := places(&s)
	columns := make([]*store.Column, len(s.Args))
	var missing []uint32
	for i, a := range s.Args {
		fail := func(row int, reason string) error {
			return &LoadError{File: s.Name, Row: int64(row), Column: numbers[i], Name: a.Name,
				Reason: reason}
		}
		arr := arrays[i]
		if arr.NullN() > 0 {
			for row := range arr.Len() {
				switch {
				case !arr.IsNull(row):
				case i < s.Keys:
					return nil, fail(row+1, "the value is missing (null)")
				default:
					missing = append(missing, uint32(row))
				}
			}
		}
		c, row, reason := arrowColumn(a.Type, arr)
		if reason != "" {
			return nil, fail(row, reason)
		}
		columns[i] = c
	}
	return newRelation(s, columns, int(rec.NumRows()), missing)
}

// arrowWords is what an array has, not converted yet.
type arrowWords struct {
	from     origin
	words    []int64
	patterns bool                 // words are bit patterns of unsigned numbers
	large    []int                // rows beyond 64 bits
	digits   func(i int) *big.Int // of them
}

// readArray reads an array; the origin of one of another type has no kind.
func readArray(t scalar.Type, arr arrow.Array) *arrowWords {
	n := arr.Len()
	w := &arrowWords{from: origin{unit: 1, parts: 1}, words: make([]int64, n)}
	switch a := arr.(type) {
	case *array.Boolean:
		w.from.kind = scalar.Boolean
		for i := range n {
			if a.Value(i) {
				w.words[i] = 1
			}
		}
	case *array.Int8:
		w.from.kind = scalar.Int
		setWords(w.words, a.Int8Values())
	case *array.Int16:
		w.from.kind = scalar.Int
		setWords(w.words, a.Int16Values())
	case *array.Int32:
		w.from.kind = scalar.Int
		setWords(w.words, a.Int32Values())
	case *array.Int64:
		w.from.kind = scalar.Int
		setWords(w.words, a.Int64Values())
	case *array.Uint8:
		w.from.kind, w.from.unsigned = scalar.Int, true
		setWords(w.words, a.Uint8Values())
	case *array.Uint16:
		w.from.kind, w.from.unsigned = scalar.Int, true
		setWords(w.words, a.Uint16Values())
	case *array.Uint32:
		w.from.kind, w.from.unsigned = scalar.Int, true
		setWords(w.words, a.Uint32Values())
	case *array.Uint64:
		w.from.kind, w.from.unsigned, w.patterns = scalar.Int, true, true
		setWords(w.words, a.Uint64Values())
	case *array.Float32:
		w.from.kind = scalar.Float
		setFloats(t, w.words, func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		w.from.kind = scalar.Float
		setFloats(t, w.words, a.Value)
	case *array.Float16:
		w.from.kind = scalar.Float
		setFloats(t, w.words, func(i int) float64 { return float64(a.Value(i).Float32()) })
	case *array.Date32:
		w.from.kind, w.from.unit = scalar.Datetime, scalar.MicrosPerDay
		setWords(w.words, a.Date32Values())
	case *array.Date64:
		w.from.kind, w.from.unit = scalar.Datetime, 1000
		setWords(w.words, a.Date64Values())
	case *array.Timestamp:
		w.from.kind = scalar.Datetime
		switch a.DataType().(*arrow.TimestampType).Unit {
		case arrow.Second:
			w.from.unit = 1_000_000
		case arrow.Millisecond:
			w.from.unit = 1000
		case arrow.Nanosecond:
			w.from.parts = 1000
		}
		setWords(w.words, a.TimestampValues())
	case *array.Decimal32:
		w.from.kind, w.from.scale = scalar.Decimal, decimalScale(a)
		setWords(w.words, a.Values())
	case *array.Decimal64:
		w.from.kind, w.from.scale = scalar.Decimal, decimalScale(a)
		setWords(w.words, a.Values())
	case *array.Decimal128:
		w.from.kind, w.from.scale = scalar.Decimal, decimalScale(a)
		w.large, w.digits = setDecimals(w.words, a.Value),
			func(i int) *big.Int { return a.Value(i).BigInt() }
	case *array.Decimal256:
		w.from.kind, w.from.scale = scalar.Decimal, decimalScale(a)
		w.large, w.digits = setDecimals(w.words, a.Value),
			func(i int) *big.Int { return a.Value(i).BigInt() }
	}
	for i := range w.words {
		if arr.IsNull(i) {
			w.words[i] = 0
		}
	}
	return w
}

// arrowColumn converts an array. If it cannot, it returns the row, from 1, and
// the reason; row 0 is the array as a whole.
func arrowColumn(t scalar.Type, arr arrow.Array) (_ *store.Column, row int, reason string) {
	if t.Kind == scalar.String {
		return arrowStrings(arr)
	}
	w := readArray(t, arr)
	c, ok := newConversion(w.from, t)
	if !ok || w.from.scale < 0 {
		return nil, 0,
			fmt.Sprintf("the Arrow column is %s, the declared type is %s", arr.DataType(),
				t.Joined())
	}
	refuse := func(i int, why string) int64 {
		if row == 0 && arr.IsValid(i) {
			row, reason = i+1, why
		}
		return 0
	}
	if k := w.from.kind; k != scalar.Float && k != scalar.Boolean {
		c.convert(w.words, w.patterns, refuse)
	}
	for _, i := range w.large {
		why := tooLarge(t)
		if t.Word != scalar.Whole {
			w.words[i], why = c.bigWord(w.digits(i))
		}
		if why != "" {
			refuse(i, why)
		}
	}
	if reason != "" {
		return nil, row, reason
	}
	return store.ColumnOf(t, w.words, nil), 0, ""
}

func setWords[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](
	words []int64, values []T,
) {
	for i, v := range values {
		words[i] = int64(v)
	}
}

func setFloats(t scalar.Type, words []int64, at func(int) float64) {
	for i := range words {
		words[i] = int64(scalar.OfFloat(t, at(i)).Bits())
	}
}

func decimalScale(a arrow.Array) int {
	return int(a.DataType().(arrow.DecimalType).GetScale())
}

// setDecimals sets words to the decimals' digits; it returns the rows of those
// that do not fit.
func setDecimals[T interface{ BigInt() *big.Int }](words []int64, at func(int) T) (large []int) {
	for i := range words {
		b := at(i).BigInt()
		if !b.IsInt64() {
			large = append(large, i)
			continue
		}
		words[i] = b.Int64()
	}
	return large
}

func arrowStrings(arr arrow.Array) (_ *store.Column, row int, reason string) {
	b := store.NewBuilder(scalar.StringType, nil)
	at, ok := stringsOf(arr)
	if !ok {
		return nil, 0, fmt.Sprintf("the Arrow column is %s, the declared type is string",
			arr.DataType())
	}
	for i := range arr.Len() {
		s := ""
		if arr.IsValid(i) {
			s = at(i)
		}
		if !store.IsText(s) {
			return nil, i + 1, badText([]byte(s))
		}
		b.AppendString(s)
	}
	return b.Finish(), 0, ""
}

func stringsOf(arr arrow.Array) (func(i int) string, bool) {
	switch a := arr.(type) {
	case *array.String:
		return a.Value, true
	case *array.LargeString:
		return a.Value, true
	case *array.StringView:
		return a.Value, true
	case *array.Binary:
		return a.ValueString, true
	case *array.LargeBinary:
		return a.ValueString, true
	case *array.Dictionary:
		at, ok := stringsOf(a.Dictionary())
		return func(i int) string { return at(a.GetValueIndex(i)) }, ok
	}
	return nil, false
}
