package parquet

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	goruntime "runtime"
	"strconv"
	"sync"

	"github.com/redfoxdb/redfox/internal/parallel"
)

// Metadata is stored in Thrift's compact protocol. A Go struct is a Thrift
// struct; the tag of a field holds its number. Pointers and slices are optional
// and absent when they are nil; all other fields are required. A union is a
// struct of pointers.

// The types of the compact protocol.
const (
	thriftStop byte = iota
	thriftTrue
	thriftFalse
	thriftInt8
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

// maxNesting bounds the depth of unknown fields, which are skipped.
const maxNesting = 64

// thriftLayout holds the fields of a struct in the order of their numbers.
type thriftLayout struct {
	fields   []thriftField
	required uint64 // bit i stands for fields[i]
}

type thriftField struct{ number, index int }

var layouts sync.Map // reflect.Type to *thriftLayout

func layoutOf(t reflect.Type) *thriftLayout {
	if l, ok := layouts.Load(t); ok {
		return l.(*thriftLayout)
	}
	l := &thriftLayout{}
	for i := range t.NumField() {
		f := t.Field(i)
		number, err := strconv.Atoi(f.Tag.Get("thrift"))
		if err != nil {
			continue
		}
		if k := f.Type.Kind(); k != reflect.Pointer && k != reflect.Slice {
			l.required |= 1 << len(l.fields)
		}
		l.fields = append(l.fields, thriftField{number, i})
	}
	layouts.Store(t, l)
	return l
}

// wireType returns the protocol's type of a Go type; a boolean is thriftTrue.
func wireType(t reflect.Type) byte {
	switch t.Kind() {
	case reflect.Bool:
		return thriftTrue
	case reflect.Int8:
		return thriftInt8
	case reflect.Int16:
		return thriftInt16
	case reflect.Int32:
		return thriftInt32
	case reflect.Int64:
		return thriftInt64
	case reflect.String:
		return thriftBinary
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return thriftBinary
		}
		return thriftList
	case reflect.Pointer:
		return wireType(t.Elem())
	}
	return thriftStruct
}

// unmarshal decodes the struct that data begins with, and returns its length in
// bytes. It returns errShort if data ends within the struct.
func unmarshal(data []byte, into any) (int, error) {
	r := thriftReader{data: data}
	err := r.structure(reflect.ValueOf(into).Elem())
	return len(data) - len(r.data), err
}

type thriftReader struct{ data []byte }

func (r *thriftReader) structure(v reflect.Value) error {
	layout := layoutOf(v.Type())
	var seen uint64
	number := 0
	for {
		typ, n, err := r.header(number)
		if err != nil {
			return err
		}
		if typ == thriftStop {
			break
		}
		number = n
		known := false
		for i, f := range layout.fields {
			if f.number != number {
				continue
			}
			if err := r.value(v.Field(f.index), typ); err != nil {
				return err
			}
			seen |= 1 << i
			known = true
		}
		if !known {
			if err := r.skip(typ, maxNesting); err != nil {
				return err
			}
		}
	}
	if missing := layout.required &^ seen; missing != 0 {
		return damaged("its metadata lack a field of %s", v.Type().Name())
	}
	return nil
}

// header reads the type and number of a field, given the number of the field
// before it.
func (r *thriftReader) header(before int) (typ byte, number int, err error) {
	b, err := r.byte()
	if err != nil || b == thriftStop {
		return thriftStop, 0, err
	}
	if b>>4 != 0 {
		return b & 15, before + int(b>>4), nil
	}
	n, err := r.integer()
	return b & 15, int(n), err
}

func (r *thriftReader) byte() (byte, error) {
	if len(r.data) == 0 {
		return 0, errShort
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b, nil
}

func (r *thriftReader) unsigned() (uint64, error) {
	n, size := binary.Uvarint(r.data)
	if size == 0 {
		return 0, errShort
	}
	if size < 0 {
		return 0, damaged("its metadata have a number of more than 64 bits")
	}
	r.data = r.data[size:]
	return n, nil
}

func (r *thriftReader) integer() (int64, error) {
	n, err := r.unsigned()
	return int64(n>>1) ^ -int64(n&1), err
}

// bytes reads a length and as many bytes, which alias the input.
func (r *thriftReader) bytes() ([]byte, error) {
	n, err := r.unsigned()
	if err != nil {
		return nil, err
	}
	if n > uint64(len(r.data)) {
		return nil, errShort
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b, nil
}

// list reads the element type and the length of a list.
func (r *thriftReader) list() (typ byte, n int, err error) {
	b, err := r.byte()
	if err != nil {
		return 0, 0, err
	}
	length := uint64(b >> 4)
	if length == 15 {
		if length, err = r.unsigned(); err != nil {
			return 0, 0, err
		}
	}
	if length > uint64(len(r.data)) { // an element takes a byte or more
		return 0, 0, errShort
	}
	return b & 15, int(length), nil
}

func (r *thriftReader) value(v reflect.Value, typ byte) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	want := wireType(v.Type())
	if typ == thriftFalse && want == thriftTrue {
		v.SetBool(false)
		return nil
	}
	if typ != want {
		return damaged("its metadata have a field of another type than %s", v.Type())
	}
	switch want {
	case thriftTrue:
		v.SetBool(true)
	case thriftInt8:
		b, err := r.byte()
		v.SetInt(int64(int8(b)))
		return err
	case thriftInt16, thriftInt32, thriftInt64:
		n, err := r.integer()
		if err == nil && v.OverflowInt(n) {
			err = damaged("its metadata have a number of too many bits")
		}
		v.SetInt(n)
		return err
	case thriftBinary:
		b, err := r.bytes()
		if v.Kind() == reflect.String {
			v.SetString(string(b))
		} else {
			v.SetBytes(append([]byte{}, b...))
		}
		return err
	case thriftList:
		return r.elements(v)
	case thriftStruct:
		return r.structure(v)
	}
	return nil
}

// elements reads a list. The slice grows as elements are read, so that a
// damaged length allocates nothing.
func (r *thriftReader) elements(v reflect.Value) error {
	typ, n, err := r.list()
	if err != nil {
		return err
	}
	if typ == thriftStruct && n >= manyStructs && v.Type().Elem().Kind() == reflect.Struct {
		if done, err := r.structures(v, n); done || err != nil {
			return err
		}
	}
	list := reflect.MakeSlice(v.Type(), 0, min(n, 64))
	for i := range n {
		list = reflect.Append(list, reflect.Zero(v.Type().Elem()))
		if err := r.value(list.Index(i), typ); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

const (
	// manyStructs is the length from which several threads read a list of
	// structs, such as row groups. longStruct is how many bytes one has then on
	// average, so that a damaged length allocates little.
	manyStructs = 128
	longStruct  = 64
)

// structures reads n structs with several threads. It is not done if they are
// short.
func (r *thriftReader) structures(v reflect.Value, n int) (done bool, err error) {
	rest := *r
	parts := make([][]byte, 0, n)
	for range n {
		from := rest.data
		if err := rest.skip(thriftStruct, maxNesting); err != nil {
			return false, err
		}
		parts = append(parts, from[:len(from)-len(rest.data)])
	}
	if len(r.data)-len(rest.data) < longStruct*n {
		return false, nil
	}
	list := reflect.MakeSlice(v.Type(), n, n)
	shares := min(goruntime.GOMAXPROCS(0), n)
	errs := make([]error, shares)
	parallel.Do(shares, shares, func(s int) {
		for i := s * n / shares; i < (s+1)*n/shares && errs[s] == nil; i++ {
			part := thriftReader{data: parts[i]}
			errs[s] = part.structure(list.Index(i))
		}
	})
	if err := cmp.Or(errs...); err != nil { // the first one in the file
		return false, err
	}
	v.Set(list)
	r.data = rest.data
	return true, nil
}

// skip passes over a value.
func (r *thriftReader) skip(typ byte, depth int) error {
	if depth == 0 {
		return damaged("its metadata are nested too deep")
	}
	switch typ {
	case thriftTrue, thriftFalse:
		return nil
	case thriftInt8:
		_, err := r.byte()
		return err
	case thriftInt16, thriftInt32, thriftInt64:
		_, err := r.unsigned()
		return err
	case thriftDouble:
		if len(r.data) < 8 {
			return errShort
		}
		r.data = r.data[8:]
		return nil
	case thriftBinary:
		_, err := r.bytes()
		return err
	case thriftList, thriftSet:
		elem, n, err := r.list()
		for ; n > 0 && err == nil; n-- {
			err = r.skipElement(elem, depth)
		}
		return err
	case thriftMap:
		n, err := r.unsigned()
		if n == 0 || err != nil {
			return err
		}
		types, err := r.byte()
		for ; n > 0 && err == nil; n-- {
			if err = r.skipElement(types>>4, depth); err == nil {
				err = r.skipElement(types&15, depth)
			}
		}
		return err
	case thriftStruct:
		for {
			field, _, err := r.header(0)
			if err != nil || field == thriftStop {
				return err
			}
			if err := r.skip(field, depth-1); err != nil {
				return err
			}
		}
	}
	return damaged("its metadata have a field of unknown type %d", typ)
}

// skipElement passes over an element of a collection, in which a boolean takes
// a byte.
func (r *thriftReader) skipElement(typ byte, depth int) error {
	if typ == thriftTrue || typ == thriftFalse {
		typ = thriftInt8
	}
	return r.skip(typ, depth-1)
}

// marshal appends the encoding of a struct.
func marshal(dst []byte, s any) []byte {
	return appendStruct(dst, reflect.Indirect(reflect.ValueOf(s)))
}

func appendStruct(dst []byte, v reflect.Value) []byte {
	before := 0
	for _, f := range layoutOf(v.Type()).fields {
		field := v.Field(f.index)
		if k := field.Kind(); (k == reflect.Pointer || k == reflect.Slice) && field.IsNil() {
			continue
		}
		field = reflect.Indirect(field)
		typ := wireType(field.Type())
		if typ == thriftTrue && !field.Bool() {
			typ = thriftFalse
		}
		// All numbers are below 16, and so their distances.
		dst = append(dst, byte(f.number-before)<<4|typ)
		before = f.number
		dst = appendValue(dst, field)
	}
	return append(dst, thriftStop)
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch typ := wireType(v.Type()); typ {
	case thriftTrue: // the field's header has the value
	case thriftInt8:
		dst = append(dst, byte(v.Int()))
	case thriftInt16, thriftInt32, thriftInt64:
		dst = binary.AppendVarint(dst, v.Int())
	case thriftBinary:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		if v.Kind() == reflect.String {
			return append(dst, v.String()...)
		}
		return append(dst, v.Bytes()...)
	case thriftList:
		elem := wireType(v.Type().Elem())
		if n := v.Len(); n < 15 {
			dst = append(dst, byte(n)<<4|elem)
		} else {
			dst = binary.AppendUvarint(append(dst, 15<<4|elem), uint64(n))
		}
		for i := range v.Len() {
			dst = appendValue(dst, v.Index(i))
		}
	case thriftStruct:
		return appendStruct(dst, v)
	}
	return dst
}

// damaged is an error of a file that contradicts itself.
func damaged(format string, args ...any) error {
	return fmt.Errorf("the Parquet file is damaged: "+format, args...)
}
