package woven

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Literal returns the word of a parameter about one of an entry's literals; not ok if
// the parameter is about something else.
func (b *Bound) Literal(e *abi.Entry, p abi.Param) (word int64, ok bool) {
	switch p.Kind {
	case abi.LiteralWord, abi.LiteralHigh, abi.PlaceLow, abi.PlaceHigh:
	default:
		return 0, false
	}
	l := e.Literals[p.Index]
	if l.Value.Type.Kind != scalar.String {
		return literalWord(l.Value, p.Kind == abi.LiteralHigh), true
	}
	code, low, high := b.Data.Code(l.Domain, l.Value.Str())
	return map[abi.Kind]int64{abi.LiteralWord: code, abi.PlaceLow: low, abi.PlaceHigh: high}[p.Kind], true
}

// literalWord returns the word of a value, or the upper half of a decimal's 128
// bits.
func literalWord(v scalar.Value, high bool) int64 {
	word := int64(v.Bits())
	if v.Type.Kind == scalar.Decimal {
		n := v.Int128()
		if high {
			return n.Hi
		}
		return int64(n.Lo)
	}
	if high {
		return word >> 63
	}
	return word
}

// Constants returns the words of a column of constant rows.
func (b *Bound) Constants(src *harmony.Values, col int) []int64 {
	words := make([]int64, len(src.Rows))
	d := b.Domains.Values(src, col)
	for k, row := range src.Rows {
		if d != nil {
			words[k], _, _ = b.Data.Code(d.ID, row[col].Str())
		} else {
			words[k] = int64(row[col].Bits())
		}
	}
	return words
}
