package write

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// A wide decimal is two columns here, too: its words, side by side, as
// scalar.Word has them. Readers make both of the one column that a file has,
// writers join them.

// outputField is what is written of a column, or of the two that hold a wide
// decimal.
type outputField struct {
	*store.Column
	name string
	at   int // the place of the column, or of the first of two
}

// fields returns what is written.
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

// columns is how many columns the field is.
func (f *outputField) columns() int {
	if f.wide() {
		return 2
	}
	return 1
}

// value returns a field of a row of a block.
func (f *outputField) value(block [][]int64, row int) scalar.Value {
	w := block[f.at][row]
	if f.wide() {
		return scalar.JoinWords(f.Type.Scale, w, block[f.at+1][row])
	}
	return f.ValueOf(w)
}
