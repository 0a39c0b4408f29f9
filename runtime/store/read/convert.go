package read

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// origin is the type of a column of a Parquet file or an Arrow record.
type origin struct {
	kind     scalar.Kind
	unsigned bool // of an Int
	scale    int  // of a Decimal: digits after the point
	// A Datetime counts multiples of unit microseconds, or fractions 1/parts of
	// a microsecond. One of the two is 1.
	unit, parts int64
}

// conversion turns numbers of an origin into words of a type, exactly.
type conversion struct {
	from origin
	to   scalar.Type
	// The word is the number times up, divided by down; one of them is 1. Zero
	// stands for a power of ten beyond 64 bits.
	up, down int64
}

// newConversion returns the conversion between types, or false when there is
// none: integers and decimals of any scale become one another and floats where
// that loses nothing; all else keeps its kind.
func newConversion(from origin, to scalar.Type) (conversion, bool) {
	c := conversion{from: from, to: to, up: 1, down: 1}
	number := from.kind == scalar.Int || from.kind == scalar.Decimal
	switch to.Kind {
	case scalar.Int, scalar.Uint:
		c.rescale(from.scale, 0)
		return c, number
	case scalar.Decimal:
		c.rescale(from.scale, int(to.Scale))
		return c, number
	case scalar.Float:
		c.rescale(from.scale, 0)
		return c, number || from.kind == scalar.Float
	case scalar.Datetime:
		c.up, c.down = from.unit, from.parts
	}
	return c, from.kind == to.Kind
}

func (c *conversion) rescale(from, to int) {
	if from <= to {
		c.up = pow10(to - from)
	} else {
		c.down = pow10(from - to)
	}
}

// pow10 returns 10^n, or 0 when that does not fit 64 bits.
func pow10(n int) int64 {
	if n > 18 {
		return 0
	}
	return int64(scalar.Pow10(n).Lo)
}

// mismatched explains why no value of a column can be read.
func mismatched(found string, declared scalar.Type) string {
	return fmt.Sprintf("the file has %s, the declared type is %s", found, declared.Joined())
}

// declareHelp advises how to declare a column of the origin, and which function
// converts it to the wanted type. It returns "" if no type can hold the column.
func declareHelp(from origin, wanted scalar.Type) string {
	var t scalar.Type
	switch from.kind {
	case scalar.Float:
		t = scalar.FloatType
	case scalar.Int:
		t = scalar.IntType
		if from.unsigned {
			t = scalar.UintType
		}
	case scalar.Decimal:
		t = scalar.WideDecimalOf(uint8(from.scale))
	case scalar.String:
		t = scalar.StringType
	case scalar.Boolean:
		t = scalar.BooleanType
	case scalar.Datetime:
		t = scalar.DatetimeType
	default:
		return ""
	}
	help := fmt.Sprintf("declare the argument as %s", t)
	if !scalar.CanConvert(t, wanted.Joined()) {
		return help
	}
	help += fmt.Sprintf(", and convert it in rules with %s:%s:convert", conversionPrefix(t),
		conversionPrefix(wanted))
	if wanted.Kind == scalar.Decimal { // the scale of conversions is fixed
		made := scalar.DecimalType
		if wanted.Joined().IsWide() {
			made = scalar.WideDecimalOf(made.Scale)
		}
		help += fmt.Sprintf(", which makes a %s", made)
	}
	return help
}

// conversionPrefix returns the prefix that the names of conversions have for a
// type.
func conversionPrefix(t scalar.Type) string {
	name, _, _ := strings.Cut(t.Joined().String(), "[")
	if bits := t.Joined().Bits; bits != 0 && bits != 64 {
		name += fmt.Sprint(bits) // int32, decimal128
	}
	return name
}

func lostDigits(t scalar.Type) string {
	return "the value has digits that " + article(t) + " cannot hold"
}

func tooLarge(t scalar.Type) string { return "the value is too large for " + article(t) }

// convert turns numbers into words. If unsigned is set, the numbers are bit
// patterns of uint64. A number without a word becomes the result of refuse.
func (c *conversion) convert(
	words []int64, unsigned bool, refuse func(i int, reason string) int64,
) {
	switch {
	case c.to.Kind == scalar.Float:
		c.floats(words, unsigned)
		return
	case c.to.Word != scalar.Whole:
		for i, w := range words {
			n := scalar.Int128Of(w)
			if unsigned {
				n = scalar.Uint128Of(uint64(w))
			}
			var why string
			if words[i], why = c.wordOf(n); why != "" {
				words[i] = refuse(i, why)
			}
		}
		return
	}
	if unsigned && c.to.Kind != scalar.Uint {
		for i, w := range words {
			if w < 0 {
				words[i] = refuse(i, fmt.Sprintf("%d is not %s", uint64(w), article(c.to)))
			}
		}
	}
	switch {
	case c.down != 1:
		for i, w := range words {
			switch {
			case w == 0:
			case c.down == 0 || w%c.down != 0:
				words[i] = refuse(i, lostDigits(c.to))
			default:
				words[i] = w / c.down
			}
		}
	case c.up != 1:
		limit := int64(0)
		if c.up != 0 {
			limit = math.MaxInt64 / c.up
		}
		for i, w := range words {
			if w > limit || w < -limit {
				words[i] = refuse(i, tooLarge(c.to))
			} else {
				words[i] = w * c.up
			}
		}
	}
	c.checkRange(words, unsigned, refuse)
}

// checkRange refuses numbers beyond the width of an integer type.
func (c *conversion) checkRange(
	words []int64, unsigned bool, refuse func(i int, reason string) int64,
) {
	switch bits := c.to.Bits; {
	case c.to.Kind == scalar.Int && bits < 64:
		for i, w := range words {
			if !fitsInt(w, bits) {
				words[i] = refuse(i, fmt.Sprintf("%d is not %s", w, article(c.to)))
			}
		}
	case c.to.Kind == scalar.Uint && !(unsigned && bits == 64):
		for i, w := range words {
			if !unsigned && w < 0 {
				words[i] = refuse(i, fmt.Sprintf("%d is not %s", w, article(c.to)))
			} else if bits < 64 && uint64(w)>>bits != 0 {
				words[i] = refuse(i, fmt.Sprintf("%d is not %s", uint64(w), article(c.to)))
			}
		}
	}
}

func (c *conversion) floats(words []int64, unsigned bool) {
	scale := math.Pow10(c.from.scale)
	for i, w := range words {
		f := float64(w)
		if unsigned {
			f = float64(uint64(w))
		}
		words[i] = int64(scalar.OfFloat(c.to, f/scale).Bits())
	}
}

// wordOf returns the word of a number of the origin, or the reason why there is
// none.
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
