package expr

import (
	"math"

	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// emitWide joins the words of a wide decimal.
func emitWide(b *Block, result scalar.Type, args []Value) Value {
	low := b.flipped(args[1].Word)
	if bound, exact := callBounds("wide", result, args); exact {
		return bounded(low, bound)
	}
	high := b.Cur.NewShl(b.zext(args[0].Word, I128), wide(64))
	return Value{Wide: b.Cur.NewOr(high, b.zext(low, I128))}
}

// emitHigh leaves what has more than 38 digits in 128 bits, where it does not
// fit.
func emitHigh(b *Block, _ scalar.Type, args []Value) Value {
	x := args[0]
	if x.Wide == nil {
		r := x.bounds()
		return bounded(b.Cur.NewAShr(x.Word, word(63)),
			interval.Interval{Lo: r.Lo >> 63, Hi: r.Hi >> 63})
	}
	_, high := b.halves(x.Wide)
	// 2^126 has 38 digits.
	if x.size() <= 126 {
		return Value{Word: high}
	}
	limit := scalar.Pow10(scalar.MaxWideScale)
	minus, _ := limit.Neg()
	fits := b.Cur.NewAnd(b.icmp(enum.IPredSLT, x.Wide, big128(limit)),
		b.icmp(enum.IPredSGT, x.Wide, big128(minus)))
	return Value{Wide: b.choose(fits, b.sext(high, I128), x.Wide)}
}

func emitLow(b *Block, _ scalar.Type, args []Value) Value {
	x := args[0]
	if x.Wide == nil {
		return Value{Word: b.flipped(x.Word)}
	}
	low, _ := b.halves(x.Wide)
	return Value{Word: b.flipped(low)}
}

// emitMean divides the sums of words by the number of rows.
func emitMean(b *Block, result scalar.Type, args []Value) Value {
	lo, hi := b.halves(b.wide(args[1]))
	unit := power(I64, int(result.Scale)-int(args[0].Type.Scale))
	mean, ok := b.changed("rf_i128_mean", b.wide(args[0]), lo, hi, args[2].Word, unit)
	return Value{Wide: mean, Present: ok}
}

// flipped makes the lower half of a number of the word that stands for it, and
// back.
func (b *Block) flipped(w value.Value) value.Value { return b.Cur.NewXor(w, word(math.MinInt64)) }
