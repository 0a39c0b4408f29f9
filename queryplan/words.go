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
