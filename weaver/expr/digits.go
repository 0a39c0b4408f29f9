package expr

import (
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// floatExponent is the exponent of a float's word, and whether the float is
// normal.
func (b *Block) floatExponent(w value.Value) (exponent, isNormal value.Value) {
	e := b.Cur.NewAnd(b.Cur.NewLShr(w, word(52)), word(scalar.InfiniteExponent))
	isNormal = b.icmp(enum.IPredNE, e, word(0))
	return b.choose(isNormal, e, word(1)), isNormal
}

func emitFloatExponent(b *Block, result scalar.Type, args []Value) Value {
	e, _ := b.floatExponent(args[0].Word)
	bound, _ := callBounds("float_exponent", result, args)
	v := bounded(e, bound)
	v.Present = b.icmp(enum.IPredNE, args[0].Word, word(0)) // zeros have no sign
	return v
}

// emitFloatDigit shifts the float's 53 bits to where they stand in 128, and the
// digit down. Digits of one float share all but the second shift.
func emitFloatDigit(b *Block, result scalar.Type, args []Value) Value {
	f, k := args[0].Word, args[2].Word
	e, isNormal := b.floatExponent(f)
	shift := b.Cur.NewSub(e, args[1].Word)
	ok := b.Cur.NewAnd(b.icmp(enum.IPredULE, shift, word(scalar.MostDigitSpread)),
		b.icmp(enum.IPredULT, k, word(scalar.FloatDigits)))
	m := b.Cur.NewOr(b.Cur.NewAnd(f, word(1<<52-1)), b.Cur.NewShl(b.zext(isNormal, I64), word(52)))
	number := b.Cur.NewShl(b.zext(m, I128), b.zext(b.choose(ok, shift, word(0)), I128))
	at := b.Cur.NewMul(b.choose(ok, k, word(0)), word(scalar.DigitBits))
	digit := b.Cur.NewAnd(b.trunc(b.Cur.NewLShr(number, b.zext(at, I128)), I64),
		word(scalar.MostFloatDigit))
	sign := b.Cur.NewAShr(f, word(63))
	bound, _ := callBounds("float_digit", result, args)
	return bounded(b.choose(ok, b.Cur.NewSub(b.Cur.NewXor(digit, sign), sign), word(0)), bound)
}

func emitFloatOfDigits(b *Block, result scalar.Type, args []Value) Value {
	var sum value.Value = b.sext(args[0].Word, I128)
	for k := int64(1); k < scalar.FloatDigits; k++ {
		sum = b.Cur.NewAdd(sum, b.Cur.NewShl(b.sext(args[k].Word, I128), wide(k*scalar.DigitBits)))
	}
	e := args[scalar.FloatDigits].Word
	e = b.choose(b.icmp(enum.IPredSGT, e, word(1)), e, word(1))
	const greatest = scalar.InfiniteExponent - 1
	e = b.choose(b.icmp(enum.IPredSLT, e, word(greatest)), e, word(greatest))
	// 2^(e-1075) is a normal number from 53 on.
	normal := b.icmp(enum.IPredSGT, e, word(52))
	small := b.Cur.NewShl(word(1), b.choose(normal, word(0), b.Cur.NewSub(e, word(1))))
	unit := b.choose(normal, b.Cur.NewShl(b.Cur.NewSub(e, word(52)), word(52)), small)
	f := b.Cur.NewFMul(b.wideToFloat(sum), b.float(unit))
	return Value{Word: b.canonical(result, f)}
}
