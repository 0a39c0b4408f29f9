package expr

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// functions holds the native forms, by the functions' names. Apply sees to the
// arguments' presence, but for holds.
var functions = map[string]function{
	"add": {emit: addition.emit},
	"sub": {emit: subtraction.emit},
	"mul": {emit: multiplication.emit},
	"div": {emit: emitDiv},
	"mod": {emit: emitMod},
	"neg": {emit: emitNeg},
	"abs": {emit: emitAbs},
	"min": {emit: emitMin},
	"max": {emit: emitMax},

	"eq": {emit: comparison("eq")},
	"ne": {emit: comparison("ne")},
	"lt": {emit: comparison("lt")},
	"le": {emit: comparison("le")},
	"gt": {emit: comparison("gt")},
	"ge": {emit: comparison("ge")},

	"and":   truth(func(b *Block, x, y value.Value) value.Value { return b.Cur.NewAnd(x, y) }),
	"or":    truth(func(b *Block, x, y value.Value) value.Value { return b.Cur.NewOr(x, y) }),
	"xor":   truth(func(b *Block, x, y value.Value) value.Value { return b.Cur.NewXor(x, y) }),
	"not":   {emit: emitNot},
	"holds": {emit: emitHolds},

	"bitand": bitwise("bitand", func(b *Block, x, y value.Value) value.Value {
		return b.Cur.NewAnd(x, y)
	}),
	"bitor": bitwise("bitor", func(b *Block, x, y value.Value) value.Value {
		return b.Cur.NewOr(x, y)
	}),
	"bitxor": bitwise("bitxor", func(b *Block, x, y value.Value) value.Value {
		return b.Cur.NewXor(x, y)
	}),
	"bitnot": {emit: emitBitNot},
	"shl":    {emit: emitShl},
	"shr":    {emit: emitShr},

	"convert": {takes: converts, emit: emitConvert},
	"wide":    {emit: emitWide},
	"high":    {emit: emitHigh},
	"low":     {emit: emitLow},
	"mean":    {emit: emitMean},

	"float_exponent":  {emit: emitFloatExponent},
	"float_digit":     {emit: emitFloatDigit},
	"float_of_digits": {emit: emitFloatOfDigits},

	"float:floor":    rounding("llvm.floor.f64"),
	"float:ceil":     rounding("llvm.ceil.f64"),
	"float:truncate": rounding("llvm.trunc.f64"),
	"float:sqrt":     rounding("llvm.sqrt.f64"),

	"round":          {emit: emitRound},
	"decimal:round2": {emit: emitRound2},

	"datetime:create":   {emit: emitCreate},
	"datetime:part":     {emit: emitPart},
	"datetime:add":      {emit: emitDatetimeAdd},
	"datetime:subtract": {emit: emitDatetimeSubtract},
}

// truth emits a function of two booleans.
func truth(op func(b *Block, x, y value.Value) value.Value) function {
	return function{emit: func(b *Block, _ scalar.Type, args []Value) Value {
		return Value{Word: op(b, args[0].Word, args[1].Word)}
	}}
}

func emitNot(b *Block, _ scalar.Type, args []Value) Value {
	return Value{Word: b.Cur.NewXor(args[0].Word, constant.True)}
}

// emitHolds is true where its argument is present and true.
func emitHolds(b *Block, _ scalar.Type, args []Value) Value {
	return Value{Word: b.all(args[0].Present, args[0].Word)}
}

// rounding emits a function that LLVM has as an intrinsic.
func rounding(intrinsic string) function {
	return function{emit: func(b *Block, result scalar.Type, args []Value) Value {
		return Value{Word: b.canonical(result,
			b.intrinsic(intrinsic, types.Double, b.float(args[0].Word)))}
	}}
}
