package expr

import (
	"math"
	"math/big"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// all is the conjunction of the conditions that are not nil; nil if there is
// none.
func (b *Block) all(conditions ...value.Value) value.Value {
	var out value.Value
	for _, c := range conditions {
		switch {
		case c == nil || c == out:
		case out == nil:
			out = c
		default:
			out = b.Cur.NewAnd(out, c)
		}
	}
	return out
}

func (b *Block) not(x value.Value) value.Value { return b.Cur.NewXor(x, constant.True) }

func (b *Block) icmp(pred enum.IPred, x,
	y value.Value) value.Value {
	return b.Cur.NewICmp(pred, x, y)
}

func (b *Block) fcmp(pred enum.FPred, x,
	y value.Value) value.Value {
	return b.Cur.NewFCmp(pred, x, y)
}

func (b *Block) choose(cond, yes,
	no value.Value) value.Value {
	return b.Cur.NewSelect(cond, yes, no)
}

// negative is an i1: whether a signed number is below zero.
func (b *Block) negative(x value.Value) value.Value {
	return b.icmp(enum.IPredSLT, x, constant.NewInt(x.Type().(*types.IntType), 0))
}

func (b *Block) trunc(x value.Value, to *types.IntType) value.Value { return b.Cur.NewTrunc(x, to) }
func (b *Block) sext(x value.Value, to *types.IntType) value.Value  { return b.Cur.NewSExt(x, to) }
func (b *Block) zext(x value.Value, to *types.IntType) value.Value  { return b.Cur.NewZExt(x, to) }

// sum adds three numbers.
func (b *Block) sum(x, y, z value.Value) value.Value { return b.Cur.NewAdd(x, b.Cur.NewAdd(y, z)) }

// halves splits an i128.
func (b *Block) halves(x value.Value) (lo, hi value.Value) {
	return b.trunc(x, I64), b.trunc(b.Cur.NewLShr(x, wide(64)), I64)
}

// float is the number of a float's word.
func (b *Block) float(word value.Value) value.Value { return b.Cur.NewBitCast(word, types.Double) }

// word returns the constant n of 64 bits, and wide that of 128.
func word(n int64) *constant.Int { return constant.NewInt(I64, n) }

func wide(n int64) *constant.Int { return constant.NewInt(I128, n) }

// double returns the constant f, spelled by its bits, which always is exact.
func double(f float64) constant.Constant {
	return constant.NewBitCast(word(int64(math.Float64bits(f))), types.Double)
}

// big128 is the constant of a 128-bit number.
func big128(n scalar.Int128) *constant.Int {
	x := new(big.Int).Lsh(big.NewInt(n.Hi), 64)
	return &constant.Int{Typ: I128, X: x.Add(x, new(big.Int).SetUint64(n.Lo))}
}

// power returns 10^n as a constant of the type.
func power(t *types.IntType, n int) *constant.Int {
	return &constant.Int{Typ: t, X: new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)}
}

// intrinsic calls one of LLVM's own functions, declaring it where the module
// has not yet.
func (b *Block) intrinsic(name string, result types.Type, args ...value.Value) value.Value {
	return b.Cur.NewCall(b.declare(name, result, args), args...)
}

func (b *Block) declare(name string, result types.Type, args []value.Value) *ir.Func {
	for _, f := range b.Fn.Parent.Funcs {
		if f.Name() == name {
			return f
		}
	}
	params := list.Map(args, func(a value.Value) *ir.Param { return ir.NewParam("", a.Type()) })
	return b.Fn.Parent.NewFunc(name, result, params...)
}

// wrapped is the value of an integer type of 32 bits or less that has the low
// bits of an i32.
func (b *Block) wrapped(t scalar.Type, x value.Value) Value {
	r := interval.OfType(t)
	if t.Bits == 32 {
		return b.extended32(x, t.Kind == scalar.Uint, r)
	}
	narrow := b.trunc(x, types.NewInt(uint64(t.Bits)))
	if t.Kind == scalar.Uint {
		return b.extended32(b.zext(narrow, I32), true, r)
	}
	return b.extended32(b.sext(narrow, I32), false, r)
}

// canonical makes a float's word of a double: rounded to the type's width,
// without a sign of zero, and with one NaN.
func (b *Block) canonical(t scalar.Type, f value.Value) value.Value {
	if t.Bits == 32 {
		f = b.Cur.NewFPExt(b.Cur.NewFPTrunc(f, types.Float), types.Double)
	}
	f = b.Cur.NewFAdd(f, double(0))
	bits := b.Cur.NewBitCast(f, I64)
	return b.choose(b.fcmp(enum.FPredUNO, f, f), word(int64(math.Float64bits(math.NaN()))), bits)
}
