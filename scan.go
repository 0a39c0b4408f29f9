package redfox

import (
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// All yields the tuples of a predicate, sorted, as values of T. An error ends
// the sequence; the first one comes before any tuple if T does not fit the
// predicate.
//
// T is a struct or, for a predicate of one column, the type of a field. An
// exported field takes the column of its name; case and underscores make no
// difference. The tag redfox:"name" names another column, redfox:"2" the second
// one, and redfox:"-" leaves the field out. Every other field needs a column,
// unless its tag is redfox:"name,optional": then it keeps its zero value.
// Columns that no field takes are skipped. Fields of embedded structs count as
// fields of T.
//
// A field of person without a column takes the values of the function
// person:field, if the result holds it and its keys are the leading columns of
// person. A pointer is nil where the function has no value.
//
// The types of columns and fields must agree:
//
//	int, uint      int and uint of any size; a value that does not fit is an error
//	float          float64; also float32 for float[32]
//	decimal        Decimal, or a type with UnmarshalText such as big.Rat
//	boolean        bool
//	string         string, or a type with UnmarshalText such as netip.Addr
//	datetime       time.Time, in UTC
//	an entity      string, the value of its refmode or the term that made it
//	any of these   any, as Result.Rows yields it, and pointers to these types
func All[T any](res *Result, pred string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		row := 0
		s, err := newScan(reflect.TypeFor[T](), res, pred)
		if err != nil {
			yield(zero, public(err))
			return
		}
		for tuple, err := range res.tuples(pred) {
			row++
			var x T
			if err == nil {
				err = public(s.scan(reflect.ValueOf(&x).Elem(), tuple, row))
			}
			if err != nil {
				yield(zero, err)
				return
			}
			if !yield(x, nil) {
				return
			}
		}
	}
}

// Scan returns the tuples of a predicate, sorted, as values of T. All describes
// what T may be.
func Scan[T any](res *Result, pred string) ([]T, error) {
	var out []T
	for x, err := range All[T](res, pred) {
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// ScanColumn returns one column of a predicate, in the order of its sorted
// tuples. All describes the types that hold a column; the reverse of ScanColumn
// is Facts.Columns.
func ScanColumn[T any](res *Result, pred, column string) ([]T, error) {
	cols, err := arguments(res, pred)
	if err != nil {
		return nil, public(err)
	}
	at := slices.IndexFunc(cols, func(c driver.Argument) bool { return c.Name == column })
	if at < 0 {
		var names []string
		for _, c := range cols {
			names = append(names, c.Name)
		}
		return nil, &EnvironmentError{Message: pred + " has no column " + column,
			Help: diag.DidYouMean(column, names)}
	}
	t := reflect.TypeFor[T]()
	set := setterOf(t, cols[at].Type)
	if set == nil {
		return nil, public(mismatch(pred, "the slice", cols[at], reflect.SliceOf(t)))
	}
	n, err := res.Len(pred)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, n)
	for tuple, err := range res.tuples(pred) {
		var x T
		if err == nil {
			if err = set(reflect.ValueOf(&x).Elem(), tuple[at]); err != nil {
				err = public(badValue(pred, len(out)+1, cols[at], err))
			}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// arguments returns the columns of a predicate of a result.
func arguments(res *Result, pred string) ([]driver.Argument, error) {
	if err := res.check(pred); err != nil {
		return nil, err
	}
	var out []driver.Argument
	for _, c := range res.result.Columns(pred) {
		out = append(out, driver.Argument{Name: c.Name, Type: c.Type})
	}
	return out, nil
}

// scan turns tuples of a predicate into values of a Go type.
type scan struct {
	pred   string
	cols   []driver.Argument
	fields []structField
	value  setter // of a type that stands for one value; else nil
}

func newScan(t reflect.Type, res *Result, pred string) (*scan, error) {
	cols, err := arguments(res, pred)
	if err != nil {
		return nil, err
	}
	s := &scan{pred: pred, cols: cols}
	if !isRow(t) {
		if len(cols) != 1 {
			return nil, &driver.EnvironmentError{
				Message: fmt.Sprintf("%s has %d columns, and %s holds one", pred, len(cols), t),
				Help:    "scan into a struct with a field for each column"}
		}
		if s.value = setterOf(t, cols[0].Type); s.value == nil {
			return nil, mismatch(pred, "the Go type", cols[0], t)
		}
		return s, nil
	}
	s.fields = fieldsOf(t, nil)
	for i := range s.fields {
		f := &s.fields[i]
		if f.at = columnOf(f, cols); f.at < 0 {
			if f.function, err = findAttribute(res, pred, f, cols); err != nil {
				return nil, err
			}
		}
		from, col := pred, driver.Argument{}
		switch {
		case f.at >= 0:
			col = cols[f.at]
		case f.function != nil:
			from, col = f.function.name, f.function.result
		case f.optional:
			continue
		default:
			return nil, noColumn(t, *f, pred, cols, res.Predicates())
		}
		if f.set = setterOf(f.typ, col.Type); f.set == nil {
			return nil, mismatch(from, fmt.Sprintf("field %s of %s", f.goName, t), col, f.typ)
		}
		if f.function != nil {
			if err := f.function.read(res); err != nil {
				return nil, err
			}
		}
	}
	return s, checkOnce(t, s.fields, pred, cols)
}

// scan sets a value of the Go type from a tuple; row is its number.
func (s *scan) scan(dst reflect.Value, tuple []scalar.Value, row int) error {
	if s.value != nil {
		if err := s.value(dst, tuple[0]); err != nil {
			return badValue(s.pred, row, s.cols[0], err)
		}
		return nil
	}
	for i := range s.fields {
		f := &s.fields[i]
		if f.set == nil {
			continue // no column
		}
		from, col, v, ok := s.pred, driver.Argument{}, scalar.Value{}, true
		if f.function == nil {
			col, v = s.cols[f.at], tuple[f.at]
		} else {
			from, col.Name = f.function.name, f.function.name
			v, ok = f.function.value(tuple)
		}
		if !ok {
			if kind := f.typ.Kind(); kind == reflect.Pointer || kind == reflect.Interface ||
				f.optional {
				continue
			}
			return &driver.EnvironmentError{
				Message: fmt.Sprintf("row %d of %s: %s has no value for field %s of %s", row, s.pred,
					from, f.goName, dst.Type()),
				Help: "make the field a pointer, which then is nil"}
		}
		if err := f.set(dst.FieldByIndex(f.index), v); err != nil {
			return badValue(s.pred, row, col,
				fmt.Errorf("field %s of %s: %w", f.goName, dst.Type(), err))
		}
	}
	return nil
}

// badValue is the error of a value that does not fit its Go type.
func badValue(pred string, row int, c driver.Argument, err error) error {
	return &driver.EnvironmentError{
		Message: fmt.Sprintf("row %d of %s, column %s: %v", row, pred, c.Name, err), Err: err}
}
