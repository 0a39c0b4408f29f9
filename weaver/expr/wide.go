package expr

import (
	"math/big"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// wide returns a number in 128 bits.
func (b *Block) wide(v Value) value.Value {
	switch {
	case v.Wide != nil:
		return v.Wide
	case v.Type.Kind == scalar.Uint:
		return b.zext(v.Word, I128)
	}
	return b.sext(v.Word, I128)
}

// fitsWord says whether 64 bits hold an i128.
func (b *Block) fitsWord(x value.Value) value.Value {
	return b.icmp(enum.IPredEQ, b.sext(b.trunc(x, I64), I128), x)
}

func (b *Block) wideAdd(x, y Value) Value {
	n := max(x.size(), y.size()) + 1
	p, q := b.wide(x), b.wide(y)
	sum := b.Cur.NewAdd(p, q)
	v := Value{Wide: sum, wideBits: min(n, 127)}
	if n > 127 {
		// A sum overflows where its sign is neither operand's.
		v.Present = b.not(b.negative(b.Cur.NewAnd(b.Cur.NewXor(p, sum), b.Cur.NewXor(q, sum))))
	}
	return v
}

func (b *Block) wideSub(x, y Value) Value {
	n := max(x.size(), y.size()) + 1
	p, q := b.wide(x), b.wide(y)
	diff := b.Cur.NewSub(p, q)
	v := Value{Wide: diff, wideBits: min(n, 127)}
	if n > 127 {
		v.Present = b.not(b.negative(b.Cur.NewAnd(b.Cur.NewXor(p, q), b.Cur.NewXor(p, diff))))
	}
	return v
}

func (b *Block) wideMul(x, y Value) Value {
	// -2^m times -2^n is the one product of 2^(m+n).
	n := x.size() + y.size() + 1
	p, q := b.wide(x), b.wide(y)
	if n <= 127 {
		return Value{Wide: b.Cur.NewMul(p, q), wideBits: n}
	}
	negative := b.negative(b.Cur.NewXor(p, q))
	pair := b.intrinsic("llvm.umul.with.overflow.i128", types.NewStruct(I128, I1), b.magnitude(p),
		b.magnitude(q))
	size := b.Cur.NewExtractValue(pair, 0)
	product := b.choose(negative, b.Cur.NewSub(wide(0), size), size)
	over := b.Cur.NewExtractValue(pair, 1)
	// The product must have the sign that it should, unless it is 0.
	wrong := b.Cur.NewAnd(b.Cur.NewXor(b.negative(product), negative),
		b.icmp(enum.IPredNE, size, wide(0)))
	return Value{Wide: product, Present: b.not(b.Cur.NewOr(over, wrong)), wideBits: 127}
}

// magnitude is an i128 without its sign, as an unsigned number.
func (b *Block) magnitude(x value.Value) value.Value {
	return b.choose(b.negative(x), b.Cur.NewSub(wide(0), x), x)
}

// scaledUp multiplies by 10^n. The result is a word where bounds show that it
// fits.
func (b *Block) scaledUp(v Value, n int) Value {
	// A uint that may have its highest bit set needs 128 bits in any case.
	r := v.bounds()
	word64 := v.Wide == nil && !(v.Type == scalar.UintType && r == interval.All)
	switch unit := power(I128, n).X; {
	case n == 0 && (word64 || v.Wide != nil):
		return v
	case word64:
		lo := new(big.Int).Mul(big.NewInt(r.Lo), unit)
		hi := new(big.Int).Mul(big.NewInt(r.Hi), unit)
		switch {
		case !lo.IsInt64() || !hi.IsInt64():
		case !unit.IsInt64():
			// Only zeros have such products.
			return bounded(word(0), interval.Of(0))
		default:
			factor := Value{Type: v.Type, Word: power(I64, n), Lo: unit.Int64(), Hi: unit.Int64(),
				Bounded: true}
			out := interval.Interval{Lo: lo.Int64(), Hi: hi.Int64()}
			return b.product(v, factor, out)
		}
	}
	unit := power(I128, n)
	x := b.wide(v)
	size := v.size() + unit.X.BitLen()
	product := Value{Wide: b.Cur.NewMul(x, unit), wideBits: min(size, 127)}
	if size > 127 {
		// Comparing with the greatest factor spares a product of 256 bits.
		limit := new(big.Int).Lsh(big.NewInt(1), 127)
		least := new(big.Int).Neg(new(big.Int).Quo(limit, unit.X))
		most := new(big.Int).Quo(new(big.Int).Sub(limit, big.NewInt(1)), unit.X)
		product.Present = b.all(
			b.icmp(enum.IPredSGE, x, &constant.Int{Typ: I128, X: least}),
			b.icmp(enum.IPredSLE, x, &constant.Int{Typ: I128, X: most}))
	}
	return product
}

// wideQuotient divides by a number that is not 0 wherever the result is used,
// and rounds half away from zero. ok says where that is so and the quotient
// fits 128 bits.
func (b *Block) wideQuotient(x, y value.Value) (q, ok value.Value) {
	ylo, yhi := b.halves(y)
	return b.changed("rf_i128_quotient", x, ylo, yhi)
}

// changed passes a number of 128 bits to a primitive that replaces it and
// returns whether the new one is a value.
func (b *Block) changed(primitive string, x value.Value, args ...value.Value) (y, ok value.Value) {
	lo, hi := b.variable(I64), b.variable(I64)
	xlo, xhi := b.halves(x)
	b.store(xlo, lo)
	b.store(xhi, hi)
	fits := b.Call(primitive, append([]value.Value{lo, hi}, args...)...)
	low := b.zext(b.Cur.NewLoad(I64, lo), I128)
	high := b.Cur.NewShl(b.zext(b.Cur.NewLoad(I64, hi), I128), wide(64))
	return b.Cur.NewOr(high, low), b.icmp(enum.IPredNE, fits, constant.NewInt(I32, 0))
}

func (b *Block) store(x, to value.Value) {
	b.Cur.Insts = append(b.Cur.Insts, &ir.InstStore{Src: x, Dst: to})
}
