package expr

import (
	"math"

	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// converts reports whether there is a conversion.
func converts(to scalar.Type, args []scalar.Type) bool { return scalar.CanConvert(args[0], to) }

func emitConvert(b *Block, to scalar.Type, args []Value) Value {
	v := args[0]
	from := v.Type
	switch {
	case from == to:
		return v
	case from.Kind == scalar.Boolean:
		return bounded(b.zext(v.Word, I64), interval.Interval{Lo: 0, Hi: 1})
	case from.Kind == scalar.Float && to.Kind == scalar.Float:
		return Value{Word: b.canonical(to, b.float(v.Word))}
	case from.Kind == scalar.Float && to.Kind == scalar.Decimal:
		return b.floatToDecimal(to, v)
	case from.Kind == scalar.Float:
		return b.floatToInteger(to, v)
	case to.Kind == scalar.Float:
		return b.wholeToFloat(to, v)
	case to.Kind == scalar.Decimal && to.Scale >= from.Scale:
		return b.scaledUp(v, int(to.Scale)-int(from.Scale))
	case to.Kind == scalar.Decimal:
		return b.scaledDown(v, int(from.Scale)-int(to.Scale))
	}
	return b.wholeToInteger(to, v)
}

// wholeToInteger converts an integer or a decimal, where the type can hold it.
func (b *Block) wholeToInteger(to scalar.Type, v Value) Value {
	bound, _ := callBounds("convert", to, []Value{v})
	if v.Type.Scale > 0 {
		from := v.Type
		v = b.scaledDown(v, int(from.Scale))
		v.Type = scalar.DecimalOf(0)
	}
	r := Value{Word: v.Word, low: v.low, lowOf: v.lowOf}
	lo, hi := integerRange(to)
	if v.Wide != nil {
		r.Word = b.trunc(v.Wide, I64)
		r.Present = b.all(b.icmp(enum.IPredSGE, v.Wide, big128(lo)),
			b.icmp(enum.IPredSLE, v.Wide, big128(hi)))
		return r.within(bound)
	}
	have := v.bounds()
	if v.Type == scalar.UintType {
		// Only the upper end can be passed, and not that of uint.
		if to.Kind == scalar.Int || to.Bits < 64 {
			if !(have.Lo >= 0 && have.Hi <= hi.Int64()) {
				r.Present = b.icmp(enum.IPredULE, v.Word, word(hi.Int64()))
			}
		}
		return r.within(bound)
	}
	if have.Lo < lo.Int64() || !lo.Fits64() {
		r.Present = b.icmp(enum.IPredSGE, v.Word, word(lo.Int64()))
	}
	if hi.Fits64() && have.Hi > hi.Int64() {
		r.Present = b.all(r.Present, b.icmp(enum.IPredSLE, v.Word, word(hi.Int64())))
	}
	return r.within(bound)
}

// within returns the value with bounds of its word.
func (v Value) within(r interval.Interval) Value {
	v.Lo, v.Hi, v.Bounded = r.Lo, r.Hi, r != interval.All
	return v
}

// integerRange returns the least and the greatest number of an integer type.
func integerRange(t scalar.Type) (lo, hi scalar.Int128) {
	if t.Kind == scalar.Uint {
		return scalar.Int128{}, scalar.Uint128Of(math.MaxUint64 >> (64 - t.Bits))
	}
	r := interval.OfType(t)
	return scalar.Int128Of(r.Lo), scalar.Int128Of(r.Hi)
}

// floatToInteger rounds half away from zero. The ends of the integers of 64
// bits are compared as powers of two, which are floats.
func (b *Block) floatToInteger(to scalar.Type, v Value) Value {
	f := b.roundAway(b.float(v.Word))
	lo, hi := -math.Ldexp(1, int(to.Bits)-1), math.Ldexp(1, int(to.Bits)-1)
	if to.Kind == scalar.Uint {
		lo, hi = 0, math.Ldexp(1, int(to.Bits))
	}
	ok := b.all(b.fcmp(enum.FPredOGE, f, double(lo)), b.fcmp(enum.FPredOLT, f, double(hi)))
	safe := b.choose(ok, f, double(0))
	if to == scalar.UintType {
		return Value{Word: b.Cur.NewFPToUI(safe, I64), Present: ok}
	}
	return Value{Word: b.Cur.NewFPToSI(safe, I64), Present: ok}.within(interval.OfType(to))
}

func (b *Block) floatToDecimal(to scalar.Type, v Value) Value {
	f := b.roundAway(b.Cur.NewFMul(b.float(v.Word), double(math.Pow10(int(to.Scale)))))
	if to.IsWide() {
		ok := b.fcmp(enum.FPredOLE, b.intrinsic("llvm.fabs.f64", types.Double, f),
			double(scalar.WideFloat))
		return Value{Wide: b.floatToWide(b.choose(ok, f, double(0))), Present: ok, wideBits: 127}
	}
	ok := b.all(b.fcmp(enum.FPredOGE, f, double(-0x1p63)), b.fcmp(enum.FPredOLT, f, double(0x1p63)))
	return Value{Word: b.Cur.NewFPToSI(b.choose(ok, f, double(0)), I64), Present: ok}
}

// roundAway rounds a double half away from zero. What is left of the point is
// exact, and so is the rest.
func (b *Block) roundAway(f value.Value) value.Value {
	whole := b.intrinsic("llvm.trunc.f64", types.Double, f)
	rest := b.intrinsic("llvm.fabs.f64", types.Double, b.Cur.NewFSub(f, whole))
	one := b.intrinsic("llvm.copysign.f64", types.Double, double(1), f)
	return b.choose(b.fcmp(enum.FPredOGE, rest, double(0.5)), b.Cur.NewFAdd(whole, one), whole)
}

// floatToWide is the i128 that a whole double of less than 2^127 is: its 53
// bits, moved to where the exponent says. No processor has an instruction for
// it.
func (b *Block) floatToWide(f value.Value) value.Value {
	bits := b.Cur.NewBitCast(b.intrinsic("llvm.fabs.f64", types.Double, f), I64)
	exponent := b.Cur.NewLShr(bits, word(52))
	isZero := b.icmp(enum.IPredEQ, exponent, word(0)) // a whole number is not subnormal
	mantissa := b.Cur.NewOr(b.Cur.NewAnd(bits, word(1<<52-1)), word(1<<52))
	shift := b.Cur.NewSub(exponent, word(1075))
	left := b.icmp(enum.IPredSGE, shift, word(0))
	up := b.Cur.NewShl(b.zext(mantissa, I128), b.zext(b.choose(left, shift, word(0)), I128))
	down := b.Cur.NewLShr(mantissa,
		b.choose(b.Cur.NewOr(left, isZero), word(0), b.Cur.NewSub(word(0), shift)))
	size := b.choose(left, up, b.zext(b.choose(isZero, word(0), down), I128))
	return b.choose(b.fcmp(enum.FPredOLT, f, double(0)), b.Cur.NewSub(wide(0), size), size)
}

// wholeToFloat divides the nearest float of the unscaled number by the power of
// ten.
func (b *Block) wholeToFloat(to scalar.Type, v Value) Value {
	var f value.Value
	switch {
	case v.Wide != nil:
		f = b.wideToFloat(v.Wide)
	case fits32(v.bounds()):
		f = b.Cur.NewSIToFP(b.low(v), types.Double)
	case v.Type.Kind == scalar.Uint:
		f = b.Cur.NewUIToFP(v.Word, types.Double)
	default:
		f = b.Cur.NewSIToFP(v.Word, types.Double)
	}
	if v.Type.Scale > 0 {
		f = b.Cur.NewFDiv(f, double(math.Pow10(int(v.Type.Scale))))
	}
	return Value{Word: b.canonical(to, f)}
}

// wideToFloat is the nearest double of an i128, ties to even. The 64 leading
// bits are converted, the lowest one set if anything below is: far below the 53
// bits that decide the rounding.
func (b *Block) wideToFloat(x value.Value) value.Value {
	m := b.magnitude(x)
	_, hi := b.halves(m)
	zeros := b.intrinsic("llvm.ctlz.i64", I64, hi, constant.False)
	shift := b.Cur.NewSub(word(64), zeros)
	count := b.zext(shift, I128)
	top := b.Cur.NewLShr(m, count)
	lost := b.icmp(enum.IPredNE, b.Cur.NewShl(top, count), m)
	lead := b.Cur.NewOr(b.trunc(top, I64), b.zext(lost, I64))
	scale := b.float(b.Cur.NewShl(b.Cur.NewAdd(shift, word(1023)), word(52)))
	f := b.Cur.NewFMul(b.Cur.NewUIToFP(lead, types.Double), scale)
	return b.choose(b.negative(x), b.Cur.NewFNeg(f), f)
}
