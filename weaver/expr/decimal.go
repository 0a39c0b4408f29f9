package expr

import (
	"math/big"

	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// divideDecimals scales the dividend up so that the quotient of integers has
// the result's scale, and rounds half away from zero.
func (b *Block) divideDecimals(result scalar.Type, x, y Value) Value {
	dividend := b.scaledUp(x, int(result.Scale)+int(y.Type.Scale)-int(x.Type.Scale))
	dividend.Type = x.Type
	bound, exact := callBounds("div", result, []Value{x, y})
	if dividend.Wide == nil && y.Wide == nil && exact {
		d := b.division(dividend, y, false)
		return b.negated(d, dividend, b.result(d, b.rounded(d), bound))
	}
	q, ok := b.wideQuotient(b.wide(dividend), b.wide(y))
	return Value{Wide: q, Present: b.all(dividend.Present, ok), wideBits: dividend.size()}
}

// rounded is the quotient rounded half away from zero.
func (b *Block) rounded(d division) value.Value {
	t := I64
	if d.narrow {
		t = I32
	}
	zero := constant.NewInt(t, 0)
	q := b.Cur.NewSDiv(d.dividend, d.divisor)
	rest := b.Cur.NewSub(d.dividend, b.Cur.NewMul(q, d.divisor))
	// The magnitudes do not overflow as unsigned numbers: 2 * rest >= divisor.
	magnitude := func(v value.Value) value.Value {
		return b.choose(b.negative(v), b.Cur.NewSub(zero, v), v)
	}
	size, of := magnitude(rest), magnitude(d.divisor)
	up := b.icmp(enum.IPredUGE, size, b.Cur.NewSub(of, size))
	away := b.choose(b.negative(b.Cur.NewXor(d.dividend, d.divisor)), constant.NewInt(t, -1),
		constant.NewInt(t, 1))
	return b.Cur.NewAdd(q, b.choose(up, away, zero))
}

// scaledDown divides by 10^n, n from 1 to 38, rounding half away from zero.
func (b *Block) scaledDown(v Value, n int) Value {
	if v.Wide != nil || n > scalar.MaxScale {
		q, _ := b.wideQuotient(b.wide(v), power(I128, n))
		// 10^n is above 2^(3n).
		return Value{Wide: q, wideBits: max(v.size()-3*n+1, 1)}
	}
	r := v.bounds()
	t, x := I64, v.Word
	if fits32(r) && n <= 9 {
		t, x = I32, b.low(v)
	}
	unit := power(t, n)
	half := new(big.Int).Rsh(unit.X, 1)
	q := b.Cur.NewSDiv(x, unit)
	rest := b.Cur.NewSub(x, b.Cur.NewMul(q, unit))
	up := b.icmp(enum.IPredSGE, rest, &constant.Int{Typ: t, X: half})
	down := b.icmp(enum.IPredSLE, rest, &constant.Int{Typ: t, X: new(big.Int).Neg(half)})
	rounded := b.sum(q, b.zext(up, t), b.sext(down, t))
	if t == I32 {
		return b.extended32(rounded, false, rescaled(r, n))
	}
	return bounded(rounded, rescaled(r, n))
}

// rescaled bounds the quotients by 10^n.
func rescaled(r interval.Interval, n int) interval.Interval {
	down := func(w int64) int64 {
		q, _ := scalar.Int128Of(w).Rescale(n, 0)
		return q.Int64()
	}
	return interval.Interval{Lo: down(r.Lo), Hi: down(r.Hi)}
}

// emitRound rounds to whole numbers.
func emitRound(b *Block, result scalar.Type, args []Value) Value {
	if result.Kind == scalar.Float {
		return Value{Word: b.canonical(result, b.roundAway(b.float(args[0].Word)))}
	}
	return b.roundDigits(args[0], int(result.Scale))
}

// roundDigits rounds the last n digits away, which become zeros.
func (b *Block) roundDigits(v Value, n int) Value {
	if n <= 0 {
		return v
	}
	if n >= 39 {
		return Value{Word: word(0), Bounded: true}
	}
	if n <= 18 {
		q := b.scaledDown(v, n)
		q.Type = v.Type
		return b.scaledUp(q, n)
	}
	q, _ := b.wideQuotient(b.wide(v), power(I128, n))
	// 10^n is above 2^(3n).
	return b.scaledUp(Value{Type: v.Type, Wide: q, wideBits: max(v.size()-3*n+1, 1)}, n)
}

// emitRound2 rounds to a number of digits after the point, or before it if that
// is negative. One that is no literal makes its power of ten by squaring.
func emitRound2(b *Block, result scalar.Type, args []Value) Value {
	v, digits := args[0], args[1]
	scale := int64(result.Scale)
	if digits.Literal != nil {
		return b.roundDigits(v, int(scale-min(max(digits.Literal.Int(), scale-39), scale)))
	}
	n := digits.Word
	keeps := b.icmp(enum.IPredSGE, n, word(scale))
	vanishes := b.icmp(enum.IPredSLE, n, word(scale-39))
	exponent := b.Cur.NewSub(word(scale), b.choose(b.Cur.NewOr(keeps, vanishes), word(scale), n))
	unit := value.Value(wide(1))
	for bit := range 6 {
		set := b.icmp(enum.IPredNE, b.Cur.NewAnd(exponent, word(1<<bit)), word(0))
		factor := b.choose(set, power(I128, 1<<bit), wide(1))
		if bit == 0 {
			unit = factor
		} else {
			unit = b.Cur.NewMul(unit, factor)
		}
	}
	x := b.wide(v)
	q, _ := b.wideQuotient(x, unit)
	r := b.wideMul(Value{Type: v.Type, Wide: q}, Value{Type: v.Type, Wide: unit})
	r.Wide = b.choose(keeps, x, b.choose(vanishes, wide(0), r.Wide))
	r.Present = b.Cur.NewOr(r.Present, b.Cur.NewOr(keeps, vanishes))
	return r
}
