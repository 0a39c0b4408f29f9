package queryplan

import (
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// The columns of a wide decimal's words have the decimal's name and one of
// these.
const (
	highSuffix = "$high"
	lowSuffix  = "$low"
)

// Words returns the columns that hold a wide decimal, which always stand side
// by side; any other column stays one.
func (c Column) Words() []Column {
	if !c.Type.IsWide() {
		return []Column{c}
	}
	return []Column{
		{c.Name + highSuffix, c.Type.WordOf(scalar.High)},
		{c.Name + lowSuffix, c.Type.WordOf(scalar.Low)},
	}
}

// Joined returns the column of which c is a word, or else c itself.
func (c Column) Joined() Column {
	switch c.Type.Word {
	case scalar.High:
		return Column{strings.TrimSuffix(c.Name, highSuffix), c.Type.Joined()}
	case scalar.Low:
		return Column{strings.TrimSuffix(c.Name, lowSuffix), c.Type.Joined()}
	}
	return c
}

// SplitWords is the inverse of JoinedColumns.
func SplitWords(cols []Column) []Column {
	out := make([]Column, 0, len(cols))
	for _, c := range cols {
		out = append(out, c.Words()...)
	}
	return out
}

// JoinedColumns returns columns as the program has them: one for each wide
// decimal in place of its words.
func JoinedColumns(cols []Column) []Column {
	out := make([]Column, 0, len(cols))
	for _, c := range cols {
		if c.Type.Word != scalar.Low {
			out = append(out, c.Joined())
		}
	}
	return out
}

// TotalOfWide returns the total of n wide decimals, given the totals of their
// words: that of the upper ones, which is such a word, and that of the lower
// ones as a wide decimal. An upper word h and a lower word l are the number
// 2^64 h + l + 2^63, so the total is 2^64 high + low + 2^63 n. It has no value
// if it does not fit.
func TotalOfWide(t scalar.Type, high, low, n Expr) Expr {
	word := func(w scalar.Word, bits int64) Expr {
		return &Const{Value: scalar.OfBits(t.WordOf(w), uint64(bits))}
	}
	sum := func(name string, a, b Expr) Expr {
		return &Call{Func: scalar.Lookup(name), Args: []Expr{a, b}, Result: t}
	}
	count := &Call{Func: scalar.Lookup("convert"), Args: []Expr{n}, Result: scalar.DecimalOf(0)}
	bias := WideOf(word(scalar.High, 0), word(scalar.Low, 0)) // 2^63
	upper := WideOf(high, word(scalar.Low, scalar.Int128{}.LowWord()))
	return sum("add", sum("add", upper, low), sum("mul", count, bias))
}

// WideOf returns the wide decimal of two words.
func WideOf(high, low Expr) Expr {
	return &Call{Func: scalar.Lookup("wide"), Args: []Expr{high, low}, Result: high.Type().Joined()}
}
