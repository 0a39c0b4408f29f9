package read

import (
	"fmt"
	"math/big"
	"slices"

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
		for row := range arr.Len() {
			switch {
			case !noValue(arr, row):
			case i < s.Keys:
				return nil, fail(row+1, "the value is missing (null)")
			default:
				missing = append(missing, uint32(row))
			}
		}
		c, row, reason := arrowColumn(a.Type, arr)
		if reason != "" {
			return nil, fail(row, reason)
		}
		columns[i] = c
	}
	return newRelation(s, columns, int(rec.NumRows()), missing, nil)
}

// noValue reports whether a row of an array is null, or refers to a dictionary
// entry that is null.
func noValue(arr arrow.Array, row int) bool {
	switch a := arr.(type) {
	case *array.Null:
		return true
	case *array.Dictionary:
		return a.IsNull(row) || noValue(a.Dictionary(), a.GetValueIndex(row))
	}
	return arr.IsNull(row)
}

// arrowWords holds the values of an array before they are converted.
type arrowWords struct {
	from     origin
	words    []int64
	patterns bool                 // words are bit patterns of unsigned numbers
	large    []int                // rows beyond 64 bits
	digits   func(i int) *big.Int // of them
}

// arrowOrigin returns the origin of an Arrow type. Its kind is zero for a type
// that cannot be read.
func arrowOrigin(typ arrow.DataType) origin {
	from := origin{unit: 1, parts: 1}
	switch t := typ.(type) {
	case *arrow.BooleanType:
		from.kind = scalar.Boolean
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		from.kind = scalar.Int
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		from.kind, from.unsigned = scalar.Int, true
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		from.kind = scalar.Float
	case *arrow.Date32Type:
		from.kind, from.unit = scalar.Datetime, scalar.MicrosPerDay
	case *arrow.Date64Type:
		from.kind, from.unit = scalar.Datetime, 1000
	case *arrow.TimestampType:
		from.kind = scalar.Datetime
		switch t.Unit {
		case arrow.Second:
			from.unit = 1_000_000
		case arrow.Millisecond:
			from.unit = 1000
		case arrow.Nanosecond:
			from.parts = 1000
		}
	case arrow.DecimalType:
		from.kind, from.scale = scalar.Decimal, int(t.GetScale())
	case arrow.BinaryDataType, arrow.BinaryViewDataType:
		from.kind = scalar.String
	case *arrow.DictionaryType:
		return arrowOrigin(t.ValueType)
	}
	return from
}

// readArray reads an array of numbers, dates or truth values.
func readArray(t scalar.Type, arr arrow.Array) *arrowWords {
	n := arr.Len()
	w := &arrowWords{from: arrowOrigin(arr.DataType()), words: make([]int64, n)}
	switch a := arr.(type) {
	case *array.Boolean:
		for i := range n {
			if a.Value(i) {
				w.words[i] = 1
			}
		}
	case *array.Int8:
		setWords(w.words, a.Int8Values())
	case *array.Int16:
		setWords(w.words, a.Int16Values())
	case *array.Int32:
		setWords(w.words, a.Int32Values())
	case *array.Int64:
		setWords(w.words, a.Int64Values())
	case *array.Uint8:
		setWords(w.words, a.Uint8Values())
	case *array.Uint16:
		setWords(w.words, a.Uint16Values())
	case *array.Uint32:
		setWords(w.words, a.Uint32Values())
	case *array.Uint64:
		w.patterns = true
		setWords(w.words, a.Uint64Values())
	case *array.Float32:
		setFloats(t, w.words, func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		setFloats(t, w.words, a.Value)
	case *array.Float16:
		setFloats(t, w.words, func(i int) float64 { return float64(a.Value(i).Float32()) })
	case *array.Date32:
		setWords(w.words, a.Date32Values())
	case *array.Date64:
		setWords(w.words, a.Date64Values())
	case *array.Timestamp:
		setWords(w.words, a.TimestampValues())
	case *array.Decimal32:
		setWords(w.words, a.Values())
	case *array.Decimal64:
		setWords(w.words, a.Values())
	case *array.Decimal128:
		w.large, w.digits = setDecimals(w.words, a.Value),
			func(i int) *big.Int { return a.Value(i).BigInt() }
	case *array.Decimal256:
		w.large, w.digits = setDecimals(w.words, a.Value),
			func(i int) *big.Int { return a.Value(i).BigInt() }
	case *array.Dictionary:
		w.entries(t, a)
	}
	for i := range w.words {
		if noValue(arr, i) {
			w.words[i] = 0
		}
	}
	return w
}

// entries replaces positions in the dictionary with the words of its entries.
func (w *arrowWords) entries(t scalar.Type, a *array.Dictionary) {
	of := readArray(t, a.Dictionary())
	w.patterns = of.patterns
	for i := range w.words {
		if noValue(a, i) {
			continue
		}
		at := a.GetValueIndex(i)
		if w.words[i] = of.words[at]; slices.Contains(of.large, at) {
			w.large = append(w.large, i)
		}
	}
	w.digits = func(i int) *big.Int { return of.digits(a.GetValueIndex(i)) }
}

// arrowColumn converts an array. On failure it returns the row, counted from 1,
// and the reason; row 0 stands for the whole array.
func arrowColumn(t scalar.Type, arr arrow.Array) (_ *store.Column, row int, reason string) {
	if t.Kind == scalar.String {
		return arrowStrings(arr)
	}
	words, ok := arrowNumbers(t, arr, func(i int, why string) {
		if row == 0 && !noValue(arr, i) {
			row, reason = i+1, why
		}
	})
	if !ok {
		return nil, 0,
			fmt.Sprintf("the Arrow column is %s, the declared type is %s", arr.DataType(),
				t.Joined())
	}
	if reason != "" {
		return nil, row, reason
	}
	return store.ColumnOf(t, words, nil), 0, ""
}

// arrowNumbers returns the words of an array for a type other than string. It
// calls refuse for each value without a word, and perhaps for null ones. It
// returns nil if no value of the array's type has a word.
func arrowNumbers(
	t scalar.Type, arr arrow.Array, refuse func(i int, why string),
) ([]int64, bool) {
	w := readArray(t, arr)
	if arr.DataType().ID() == arrow.NULL {
		return w.words, true
	}
	c, ok := newConversion(w.from, t)
	if !ok || w.from.scale < 0 {
		return nil, false
	}
	if k := w.from.kind; k != scalar.Float && k != scalar.Boolean {
		c.convert(w.words, w.patterns, func(i int, why string) int64 {
			refuse(i, why)
			return 0
		})
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
	return w.words, true
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

// setDecimals sets words to the digits of the decimals and returns the rows
// whose digits do not fit.
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
		if !noValue(arr, i) {
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
	case *array.BinaryView:
		return a.ValueString, true
	case *array.LargeBinary:
		return a.ValueString, true
	case *array.Null:
		return func(int) string { return "" }, true
	case *array.Dictionary:
		at, ok := stringsOf(a.Dictionary())
		return func(i int) string { return at(a.GetValueIndex(i)) }, ok
	}
	return nil, false
}
