package write

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// A wide decimal is two adjacent columns, one for each of its words
// (scalar.Word). Readers split the column of a file into both, and writers join
// them.

// outputField is a field of the output: a column, or the two columns of a wide
// decimal.
type outputField struct {
	*store.Column
	name string
	at   int // the index of the column, or of the first of two
}

// fields returns the fields of the output.
func (o *Output) fields() []outputField {
	var out []outputField
	for i, c := range o.Columns {
		if c.Type.Word != scalar.Low {
			out = append(out, outputField{c, o.Names[len(out)], i})
		}
	}
	return out
}

// wide reports whether the field is two columns.
func (f *outputField) wide() bool { return f.Type.Word == scalar.High }

// columns returns the number of columns of the field.
func (f *outputField) columns() int {
	if f.wide() {
		return 2
	}
	return 1
}

// value returns the value of the field in a row of a block.
func (f *outputField) value(block [][]int64, row int) scalar.Value {
	w := block[f.at][row]
	if f.wide() {
		return scalar.JoinWords(f.Type.Scale, w, block[f.at+1][row])
	}
	return f.ValueOf(w)
}
