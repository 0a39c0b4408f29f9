package redfox

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/govalue"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// structFacts returns the facts that a slice of structs has for a predicate and
// for the functions below it, as slices for the arguments of each.
func structFacts(pred string, found []driver.FactPredicate, slice any) ([][]any, error) {
	rows := reflect.ValueOf(slice)
	if !rows.IsValid() || rows.Kind() != reflect.Slice || !isRow(rows.Type().Elem()) {
		return nil, &driver.EnvironmentError{
			Message: fmt.Sprintf("the facts for %s are %T, and no slice of structs", pred, slice)}
	}
	t := rows.Type().Elem()
	fields := fieldsOf(t, nil)
	var base driver.FactPredicate
	for _, p := range found {
		if p.Name == pred {
			base = p
		}
	}
	used := map[*structField]bool{}
	out := make([][]any, len(found))
	for i, p := range found {
		of, err := argumentFields(t, fields, base, p, pred)
		if err != nil {
			return nil, err
		}
		for _, f := range of {
			used[f] = true
		}
		if of != nil {
			if out[i], err = structColumns(t, rows, of, p); err != nil {
				return nil, err
			}
		}
	}
	for i := range fields {
		if f := &fields[i]; !used[f] && !f.optional {
			return nil, noColumn(t, *f, pred, base.Args, list.Map(found,
				func(p driver.FactPredicate) string { return p.Name }))
		}
	}
	return out, nil
}

// argumentFields returns the field for each argument of p: the base predicate
// or a function below it. It returns nil for a function of which no field has
// the values.
func argumentFields(t reflect.Type, fields []structField, base, p driver.FactPredicate,
	pred string) ([]*structField, error) {
	out := make([]*structField, len(p.Args))
	last, names := len(p.Args), p.Args // the arguments that are found by name
	if p.Name != pred {
		last = p.Keys
		isValue := func(f structField) bool {
			return isAttribute(&f, pred, p.Name) && columnOf(&f, base.Args) < 0
		}
		at := slices.IndexFunc(fields, isValue)
		if at < 0 || last+1 != len(p.Args) {
			return nil, nil
		}
		out[last] = &fields[at]
		if leads(p.Args[:last], base.Args) {
			names = base.Args
		}
	}
	for i := range fields {
		at := columnOf(&fields[i], names)
		if at < 0 || at >= last {
			continue
		}
		if other := out[at]; other != nil {
			return nil, twoFields(t, other.goName, fields[i].goName, names[at], pred)
		}
		out[at] = &fields[i]
	}
	for i, f := range out {
		if f == nil {
			return nil, &driver.EnvironmentError{Message: fmt.Sprintf(
				"%s has no field for column %s of %s", t, p.Args[i].Name, p.Name)}
		}
		if c := p.Args[i]; !fills(f.typ, c.Type) {
			return nil, mismatch(p.Name, fmt.Sprintf("field %s of %s", f.goName, t), c, f.typ)
		}
	}
	return out, nil
}

// structColumns returns the facts of a predicate from the fields for its
// arguments.
func structColumns(t reflect.Type, rows reflect.Value, fields []*structField,
	p driver.FactPredicate) (out []any, err error) {
	present, numbers := withoutNil(rows, fields)
	out = make([]any, len(fields))
	for i, f := range fields {
		if out[i], err = fieldColumn(present, numbers, f, p.Args[i].Type); err != nil {
			return nil, fmt.Errorf("field %s of %s, for column %s of %s: %w", f.goName, t,
				p.Args[i].Name, p.Name, err)
		}
	}
	return out, nil
}

// fills reports whether values of a Go type are values of a type of LogiQL. An
// integer fills decimals and floats that hold it.
func fills(t reflect.Type, typ scalar.Type) bool {
	switch {
	case t.Kind() == reflect.Pointer:
		return fills(t.Elem(), typ)
	case t.Kind() == reflect.Interface:
		return false
	case isMarshaled(t, typ):
		return true
	case isInteger(t):
		return typ.IsNumeric()
	}
	return setterOf(t, typ) != nil
}

// isMarshaled reports whether a column takes the text of a Go type.
func isMarshaled(t reflect.Type, typ scalar.Type) bool {
	return t != decimalType && t != timeType && isText(typ) &&
		reflect.PointerTo(t).Implements(textWriter)
}

// withoutNil lists the rows whose fields are all present, and their numbers in
// the slice, from 1.
func withoutNil(rows reflect.Value, fields []*structField) (present []reflect.Value,
	numbers []int) {
	isNil := func(f *structField, row reflect.Value) bool {
		x := row.FieldByIndex(f.index)
		for x.Kind() == reflect.Pointer && !x.IsNil() {
			x = x.Elem()
		}
		return x.Kind() == reflect.Pointer
	}
	for i := range rows.Len() {
		row := rows.Index(i)
		if !slices.ContainsFunc(fields, func(f *structField) bool { return isNil(f, row) }) {
			present, numbers = append(present, row), append(numbers, i+1)
		}
	}
	return present, numbers
}

// fieldColumn returns the values of a field as a slice that the driver takes.
// The driver counts its rows in errors, so that values are converted here if
// rows were left out.
func fieldColumn(rows []reflect.Value, numbers []int, f *structField,
	typ scalar.Type) (any, error) {
	t := f.typ
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	get := func(row reflect.Value) reflect.Value {
		x := row.FieldByIndex(f.index)
		for x.Kind() == reflect.Pointer {
			x = x.Elem()
		}
		return x
	}
	whole := len(rows) == 0 || numbers[len(rows)-1] == len(rows)
	switch zero := reflect.Zero(t); {
	case !whole || t == decimalType || isMarshaled(t, typ):
		out := make([]scalar.Value, len(rows))
		for i, row := range rows {
			v, err := fieldValue(get(row), typ)
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", numbers[i], err)
			}
			out[i] = v
		}
		return out, nil
	case t == timeType:
		return collect(rows, func(row reflect.Value) time.Time {
			return get(row).Interface().(time.Time)
		}), nil
	case t.Kind() == reflect.String:
		return collect(rows, func(row reflect.Value) string { return get(row).String() }), nil
	case t.Kind() == reflect.Bool:
		return collect(rows, func(row reflect.Value) bool { return get(row).Bool() }), nil
	case zero.CanFloat():
		return collect(rows, func(row reflect.Value) float64 { return get(row).Float() }), nil
	case zero.CanUint():
		return collect(rows, func(row reflect.Value) uint64 { return get(row).Uint() }), nil
	}
	return collect(rows, func(row reflect.Value) int64 { return get(row).Int() }), nil
}

func collect[T any](rows []reflect.Value, get func(reflect.Value) T) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = get(row)
	}
	return out
}

// fieldValue returns the value of a field, of a Go type that fills the type.
func fieldValue(x reflect.Value, typ scalar.Type) (scalar.Value, error) {
	switch {
	case x.Type() == decimalType:
		return x.Interface().(Decimal).value(typ)
	case x.Type() == ratType && typ.Kind == scalar.Decimal: // whose text is a fraction
		r := x.Interface().(big.Rat)
		d, err := DecimalFromRat(&r, int(typ.Scale))
		if err == nil && d.Rat().Cmp(&r) != 0 {
			err = fmt.Errorf("%v is no %s: it would be rounded", &r, typ)
		}
		if err != nil {
			return scalar.Value{}, err
		}
		return d.value(typ)
	case isMarshaled(x.Type(), typ):
		p := reflect.New(x.Type())
		p.Elem().Set(x)
		text, err := p.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return scalar.Value{}, err
		}
		return scalar.ParseText(typ, string(text))
	case x.Kind() == reflect.String:
		return scalar.ParseText(typ, x.String())
	case x.Kind() == reflect.Bool:
		return scalar.OfBool(x.Bool()), nil
	}
	return govalue.To(typ, x.Interface())
}
