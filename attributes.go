package redfox

import (
	"encoding/binary"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// attribute is a function such as person:email, whose keys are the leading
// columns of person. It need not have a value for each tuple.
type attribute struct {
	name   string
	keys   int
	result driver.Argument
	values map[string]scalar.Value // by keyText
}

// findAttribute returns the function of a result that has the values of a
// field; nil if there is none.
func findAttribute(res *Result, pred string, f *structField,
	cols []driver.Argument) (*attribute, error) {
	for _, name := range res.Predicates() {
		if !isAttribute(f, pred, name) {
			continue
		}
		args, err := arguments(res, name)
		if err != nil {
			return nil, err
		}
		keys := res.result.Keys(name)
		if keys+1 == len(args) && leads(args[:keys], cols) {
			return &attribute{name: name, keys: keys, result: args[keys]}, nil
		}
	}
	return nil, nil
}

// read reads the values of the function.
func (a *attribute) read(res *Result) error {
	a.values = map[string]scalar.Value{}
	for tuple, err := range res.tuples(a.name) {
		if err != nil {
			return err
		}
		a.values[keyText(tuple[:a.keys])] = tuple[a.keys]
	}
	return nil
}

// leads reports whether keys have the types of the leading columns.
func leads(keys, cols []driver.Argument) bool {
	if len(keys) > len(cols) {
		return false
	}
	for i, k := range keys {
		if k.Type != cols[i].Type {
			return false
		}
	}
	return true
}

// value returns the value for a tuple, and whether there is one.
func (a *attribute) value(tuple []scalar.Value) (scalar.Value, bool) {
	v, ok := a.values[keyText(tuple[:a.keys])]
	return v, ok
}

// keyText returns a text that differs for different values of the same types.
func keyText(key []scalar.Value) string {
	var out []byte
	for _, v := range key {
		n := v.Int128()
		out = binary.BigEndian.AppendUint64(out, uint64(n.Hi))
		out = binary.BigEndian.AppendUint64(out, v.Bits())
		out = binary.AppendUvarint(out, uint64(len(v.Str())))
		out = append(out, v.Str()...)
	}
	return string(out)
}
