package scalar

import (
	"math"
)

// Value is one value of a primitive type. Values of one type are equal exactly
// when == says so: floats are kept canonical (one NaN, no negative zero).
//
// The word holds an Int as two's complement, a Uint, a Boolean as 0 or 1, a
// Float as IEEE bits of the float64, a Datetime as microseconds since 1970 UTC,
// and a Decimal as the low half of a 128-bit two's complement number scaled by
// 10^Scale. High is the other half; it is the sign extension of the word for
// every value of one word that fits its type, and for every kind but Decimal it
// is zero.
type Value struct {
	Type Type
	word uint64
	high int64
	str  string
}

// OfInt returns a value of a signed or unsigned integer type, wrapped to its
// width.
func OfInt(t Type, v int64) Value { return Value{Type: t, word: wrap(t, uint64(v))} }

// OfBool returns a boolean.
func OfBool(b bool) Value {
	v := Value{Type: BooleanType}
	if b {
		v.word = 1
	}
	return v
}

// OfFloat returns a float of type t, rounded to its width and made canonical.
func OfFloat(t Type, f float64) Value {
	if t.Bits == 32 {
		f = float64(float32(f))
	}
	if f != f {
		f = math.NaN()
	}
	if f == 0 {
		f = 0
	}
	return Value{Type: t, word: math.Float64bits(f)}
}

// OfString returns a string.
func OfString(s string) Value { return Value{Type: StringType, str: s} }

// OfDecimal returns a decimal of the given scale from its unscaled 64-bit
// number.
func OfDecimal(scale uint8, unscaled int64) Value {
	return Value{Type: DecimalOf(scale), word: uint64(unscaled), high: unscaled >> 63}
}

// OfDatetime returns a datetime from microseconds since 1970 UTC.
func OfDatetime(micros int64) Value { return Value{Type: DatetimeType, word: uint64(micros)} }

// OfBits returns a value of a fixed-size type from its 64-bit pattern as Value
// describes it. It is how engines turn column entries into values.
func OfBits(t Type, bits uint64) Value {
	v := Value{Type: t, word: bits}
	if t.Kind == Decimal {
		v.high = int64(bits) >> 63
	}
	return v
}

// Bits returns the 64-bit pattern of a value of a fixed-size type.
func (v Value) Bits() uint64 { return v.word }

// Int returns the number of an Int, Uint, Datetime or fitting Decimal.
func (v Value) Int() int64 { return int64(v.word) }

// Float returns the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.word) }

// Bool returns the truth of a Boolean.
func (v Value) Bool() bool { return v.word != 0 }

// Str returns the text of a String.
func (v Value) Str() string { return v.str }

// Fits reports whether the value can be stored: false only for a decimal
// intermediate that needs more than 64 bits, or of a wide one more than 38
// digits.
func (v Value) Fits() bool {
	if v.Type.IsWide() {
		return Int128{v.high, v.word}.hasDigits(MaxWideScale)
	}
	return v.FitsWord()
}

// FitsWord reports whether one word holds the value.
func (v Value) FitsWord() bool {
	return v.Type.Kind != Decimal || v.high == int64(v.word)>>63
}

// hasDigits reports whether a number has at most n digits.
func (a Int128) hasDigits(n int) bool {
	limit := Pow10(n)
	minus, _ := limit.Neg()
	return a.Cmp(limit) < 0 && a.Cmp(minus) > 0
}

func wrap(t Type, w uint64) uint64 {
	if t.Bits == 0 || t.Bits == 64 {
		return w
	}
	shift := 64 - uint(t.Bits)
	if t.Kind == Uint {
		return w << shift >> shift
	}
	return uint64(int64(w<<shift) >> shift)
}

// OfInt128 returns a decimal of type t from its unscaled 128-bit number.
func OfInt128(t Type, unscaled Int128) Value {
	return Value{Type: t, word: unscaled.Lo, high: unscaled.Hi}
}

// Words returns the words of a wide decimal, as values of the types WordOf
// gives.
func (v Value) Words() (high, low Value) {
	return OfBits(v.Type.WordOf(High), uint64(v.high)), OfBits(v.Type.WordOf(Low), v.word^1<<63)
}

// Part returns the word of a wide decimal that the type t is; v itself if it is
// none.
func (v Value) Part(t Type) Value {
	switch high, low := v.Words(); t.Word {
	case High:
		return high
	case Low:
		return low
	}
	return v
}

// JoinWords returns the wide decimal of scale digits after the point that has
// the given words.
func JoinWords(scale uint8, high, low int64) Value {
	return OfInt128(WideDecimalOf(scale), ofWords(high, low))
}

// ofWords returns the number of a pair of words; lowWord is the word of its
// lower half.
func ofWords(high, low int64) Int128 { return Int128{high, uint64(low) ^ 1<<63} }

// LowWord returns the word that holds the lower half of a number.
func (a Int128) LowWord() int64 { return int64(a.Lo ^ 1<<63) }

// Int128 returns the number of an Int or Uint, or the unscaled number of a
// Decimal.
func (v Value) Int128() Int128 {
	switch v.Type.Kind {
	case Decimal:
		return Int128{v.high, v.word}
	case Uint:
		return Uint128Of(v.word)
	}
	return Int128Of(int64(v.word))
}
