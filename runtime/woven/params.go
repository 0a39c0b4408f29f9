package woven

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Constant returns the word of a parameter that is the same for all of a run on
// every engine: about one of an entry's literals, or about how a table of a
// dictionary or constant rows are stored. It is not ok if the parameter is
// about something else.
func (b *Bound) Constant(e *abi.Entry, p abi.Param) (word int64, ok bool) {
	switch p.Kind {
	case abi.TableBase, abi.TableStep, abi.TableWidth:
		return layoutOf(b.Data.Tables[p.Index].Column).Word(p)
	case abi.ValuesBase, abi.ValuesStep, abi.ValuesWidth:
		return layout.Words.Word(p)
	case abi.LiteralWord, abi.LiteralHigh, abi.PlaceLow, abi.PlaceHigh:
		return b.literal(e.Literals[p.Index], p.Kind), true
	}
	return 0, false
}

// LoadedLayout returns how an engine with a policy stores a loaded column. It
// depends on nothing but the column and the policy, so that a column can be
// copied to a device before it is known which plans read it.
func LoadedLayout(c *store.Column, policy layout.Policy) layout.Column {
	out := layoutOf(c)
	bits, first := c.Packing()
	if policy.Pack > 0 && c.Bytes() >= policy.Pack && bits > 0 && bits < 64 &&
		10*bits <= policy.PackTenths*8*out.Width {
		out.Width = abi.PackedWidth + bits
		out.Base += out.Step * int64(first)
	}
	return out
}

// layoutOf returns how a loaded column is stored on the host.
func layoutOf(c *store.Column) layout.Column {
	return layout.Column{Base: c.Base, Step: c.Step, Width: int(c.Width)}
}

// literal returns a word of a literal.
func (b *Bound) literal(l abi.Literal, kind abi.Kind) int64 {
	if l.Value.Type.Kind != scalar.String {
		return literalWord(l.Value, kind == abi.LiteralHigh)
	}
	code, low, high := b.Data.Code(l.Domain, l.Value.Str())
	return map[abi.Kind]int64{abi.LiteralWord: code, abi.PlaceLow: low, abi.PlaceHigh: high}[kind]
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
