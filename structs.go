package redfox

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/govalue"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// The Go types that are values although they are structs.
var (
	decimalType = reflect.TypeFor[Decimal]()
	timeType    = reflect.TypeFor[time.Time]()
	ratType     = reflect.TypeFor[big.Rat]()
	textReader  = reflect.TypeFor[encoding.TextUnmarshaler]()
	textWriter  = reflect.TypeFor[encoding.TextMarshaler]()
)

// isRow reports whether a Go type stands for a tuple and not for one value.
func isRow(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != decimalType && t != timeType &&
		!reflect.PointerTo(t).Implements(textReader)
}

// structField is a field of a struct that stands for a tuple.
type structField struct {
	index    []int // as reflect.Value.FieldByIndex takes it
	goName   string
	typ      reflect.Type
	column   string     // of the tag; "" without a tag
	optional bool       // the predicate may lack the column
	at       int        // the column, from 0; -1 if the predicate lacks it
	set      setter     // of results
	function *attribute // that has the values; nil for a column
}

// fieldsOf lists the fields of a struct, those of embedded structs among them.
func fieldsOf(t reflect.Type, index []int) []structField {
	var out []structField
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("redfox")
		at := append(append([]int{}, index...), i)
		switch {
		case tag == "-":
		case f.Anonymous && !tagged && isRow(f.Type):
			out = append(out, fieldsOf(f.Type, at)...)
		case f.IsExported():
			name, option, _ := strings.Cut(tag, ",")
			out = append(out, structField{index: at, goName: f.Name, typ: f.Type, column: name,
				optional: option == "optional"})
		}
	}
	return out
}

// columnOf returns the column of a field: by the number or the name in the tag,
// or by the field's name, in which case and underscores make no difference. It
// returns -1 if there is none.
func columnOf(f *structField, cols []driver.Argument) int {
	found := -1
	for at, c := range cols {
		switch {
		case f.column == c.Name || f.column == fmt.Sprint(at+1):
			return at
		case f.column != "":
		case f.goName == c.Name:
			return at
		case found < 0 && plain(f.goName) == plain(c.Name):
			found = at
		}
	}
	return found
}

// isAttribute reports whether a field takes the values of a function such as
// person:email, of the tuples of person.
func isAttribute(f *structField, pred, function string) bool {
	name, ok := strings.CutPrefix(function, pred+":")
	if f.column != "" {
		return ok && f.column == name
	}
	return ok && plain(f.goName) == plain(name)
}

// checkOnce returns the error of two fields of one column.
func checkOnce(t reflect.Type, fields []structField, pred string, cols []driver.Argument) error {
	taken := map[int]string{}
	for _, f := range fields {
		if f.at < 0 {
			continue
		}
		if other, ok := taken[f.at]; ok {
			return twoFields(t, other, f.goName, cols[f.at], pred)
		}
		taken[f.at] = f.goName
	}
	return nil
}

func twoFields(t reflect.Type, a, b string, c driver.Argument, pred string) error {
	return &driver.EnvironmentError{Message: fmt.Sprintf(
		"fields %s and %s of %s are both column %s of %s", a, b, t, c.Name, pred)}
}

// plain returns a name without what tells Go's spelling from LogiQL's.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// noColumn is the error of a field without a column among those of a predicate
// and without a function among others.
func noColumn(t reflect.Type, f structField, pred string, cols []driver.Argument,
	others []string) error {
	var names []string
	for _, c := range cols {
		names = append(names, c.Name)
	}
	for _, other := range others {
		if name, ok := strings.CutPrefix(other, pred+":"); ok {
			names = append(names, name)
		}
	}
	wanted := f.column
	if wanted == "" {
		wanted = plain(f.goName)
	}
	help := pred + " has no columns"
	if len(names) > 0 {
		help = diag.DidYouMean(wanted, names)
	}
	return &driver.EnvironmentError{
		Message: fmt.Sprintf("%s has no column for field %s of %s", pred, f.goName, t),
		Help:    help + ` (the tag redfox:"column" names one, and redfox:"-" leaves the field out)`}
}

// mismatch is the error of a Go type that does not hold a type of LogiQL.
// where names the place of the Go type: "field Age of main.Person".
func mismatch(pred, where string, c driver.Argument, t reflect.Type) error {
	return &driver.EnvironmentError{
		Message: fmt.Sprintf("column %s of %s is %s, and %s is %s", c.Name, pred, c.Type, where, t),
		Help:    "a column of " + c.Type.String() + " goes with " + goTypes[c.Type.Kind]}
}

// goTypes says which Go types hold the values of a kind.
var goTypes = map[scalar.Kind]string{
	scalar.Boolean:  "bool",
	scalar.Int:      "Go's integer types",
	scalar.Uint:     "Go's integer types",
	scalar.Float:    "float64, or float32 if it is float[32]",
	scalar.Decimal:  "redfox.Decimal, or a type with UnmarshalText such as big.Rat",
	scalar.Datetime: "time.Time",
	scalar.String:   "string, or a type with UnmarshalText",
}

// setter sets a Go value. The error is the reason why the value does not fit.
type setter func(dst reflect.Value, v scalar.Value) error

// setterOf returns what sets Go values of a type to values of a type of LogiQL;
// nil if the Go type does not hold them.
func setterOf(t reflect.Type, typ scalar.Type) setter {
	switch t {
	case decimalType:
		return only(typ.Kind == scalar.Decimal, func(dst reflect.Value, v scalar.Value) {
			*dst.Addr().Interface().(*Decimal) = decimalOf(v)
		})
	case timeType:
		return only(typ.Kind == scalar.Datetime, func(dst reflect.Value, v scalar.Value) {
			*dst.Addr().Interface().(*time.Time) = time.UnixMicro(v.Int()).UTC()
		})
	}
	if isText(typ) && reflect.PointerTo(t).Implements(textReader) {
		return func(dst reflect.Value, v scalar.Value) error {
			return dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(
				[]byte(scalar.Format(v)))
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pointerSetter(t, typ)
	case reflect.Interface:
		return only(t.NumMethod() == 0, func(dst reflect.Value, v scalar.Value) {
			dst.Set(reflect.ValueOf(goValue(v)))
		})
	case reflect.Bool:
		return only(typ.Kind == scalar.Boolean, func(dst reflect.Value, v scalar.Value) {
			dst.SetBool(v.Bool())
		})
	case reflect.String:
		return only(typ.Kind == scalar.String, func(dst reflect.Value, v scalar.Value) {
			dst.SetString(v.Str())
		})
	case reflect.Float32, reflect.Float64:
		exact := t.Kind() == reflect.Float64 || typ.Bits == 32
		return only(typ.Kind == scalar.Float && exact, func(dst reflect.Value, v scalar.Value) {
			dst.SetFloat(v.Float())
		})
	}
	if isInteger(t) && (typ.Kind == scalar.Int || typ.Kind == scalar.Uint) {
		return setInteger
	}
	return nil
}

// only returns a setter that always fits, or nil if there is none.
func only(holds bool, set func(reflect.Value, scalar.Value)) setter {
	if !holds {
		return nil
	}
	return func(dst reflect.Value, v scalar.Value) error {
		set(dst, v)
		return nil
	}
}

func pointerSetter(t reflect.Type, typ scalar.Type) setter {
	set := setterOf(t.Elem(), typ)
	if set == nil {
		return nil
	}
	return func(dst reflect.Value, v scalar.Value) error {
		dst.Set(reflect.New(t.Elem()))
		return set(dst.Elem(), v)
	}
}

func setInteger(dst reflect.Value, v scalar.Value) error {
	// The word of a signed value is negative exactly when the value is; that of
	// an unsigned one when it exceeds int64.
	negative := v.Int() < 0
	fits := true
	switch unsigned := v.Type.Kind == scalar.Uint; {
	case dst.CanInt():
		fits = (!unsigned || !negative) && !dst.OverflowInt(v.Int())
		dst.SetInt(v.Int())
	default:
		fits = (unsigned || !negative) && !dst.OverflowUint(v.Bits())
		dst.SetUint(v.Bits())
	}
	if !fits {
		return fmt.Errorf("%s does not fit %s", scalar.Format(v), dst.Type())
	}
	return nil
}

// isText reports whether values of a type are handed as text to types that read
// text.
func isText(typ scalar.Type) bool { return typ.Kind == scalar.String || typ.Kind == scalar.Decimal }

func isInteger(t reflect.Type) bool {
	return reflect.Int <= t.Kind() && t.Kind() <= reflect.Uintptr
}

// goValue returns a value as Result.Rows yields it.
func goValue(v scalar.Value) any {
	x := govalue.Of(v)
	if d, ok := x.(govalue.Decimal); ok {
		return Decimal{d.Unscaled, d.Scale}
	}
	return x
}
