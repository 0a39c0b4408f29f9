package store

import (
	"math/big"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// A wide decimal is two columns here, too: its words, side by side, as scalar.Word has
// them. Readers make both of the one column that a file has, writers join them.

// arguments returns the arguments that a predicate has for its user, of which the first
// keys determine the rest: one for both words of a wide decimal.
func (s *Schema) arguments() (args []Field, keys int) {
	for i, a := range s.Args {
		if a.Type.Word == scalar.Low {
			continue
		}
		if i < s.Keys {
			keys++
		}
		args = append(args, Field{a.Name, a.Type.Joined()})
	}
	return args, keys
}

// places returns, for each column, the number of its argument from 1.
func (s *Schema) places() []int {
	args, _ := s.arguments()
	out := make([]int, len(args))
	for i := range out {
		out[i] = i + 1
	}
	return twice(s, out)
}

// twice returns a list for arguments as one for columns: what it has of a wide decimal
// stands for both words.
func twice[T any](s *Schema, list []T) []T {
	out := make([]T, 0, len(s.Args))
	arg := -1
	for _, a := range s.Args {
		if a.Type.Word != scalar.Low {
			arg++
		}
		out = append(out, list[arg])
	}
	return out
}

// outputField is what is written of a column, or of the two that hold a wide decimal.
type outputField struct {
	*Column
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

// wordOf returns a word of a number of the origin, or why there is none.
func (c *conversion) wordOf(n scalar.Int128) (word int64, why string) {
	up := int(c.to.Scale) - c.from.scale
	r, ok := n.Rescale(c.from.scale, int(c.to.Scale))
	v := scalar.OfInt128(c.to.Joined(), r)
	switch {
	case !ok || !v.Fits():
		return 0, tooLarge(c.to)
	case up < 0:
		if back, _ := r.Mul(scalar.Pow10(-up)); back != n {
			return 0, lostDigits(c.to)
		}
	}
	return v.Part(c.to).Int(), ""
}

// bigWord is wordOf for numbers of any size.
func (c *conversion) bigWord(n *big.Int) (word int64, why string) {
	if n.BitLen() > 127 {
		return 0, tooLarge(c.to)
	}
	low := new(big.Int).And(n, maxLow)
	return c.wordOf(scalar.Int128{Hi: new(big.Int).Rsh(n, 64).Int64(), Lo: low.Uint64()})
}

var maxLow = new(big.Int).SetUint64(1<<64 - 1)
