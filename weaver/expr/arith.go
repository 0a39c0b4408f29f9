package expr

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// narrowest applies an instruction to words in 32 bits where the operands and the
// result fit those, else in 64.
func (b *Block) narrowest(op func(x, y value.Value) value.Value, x, y Value, result interval.Interval) value.Value {
	if fits32(x.bounds(), y.bounds(), result) {
		return b.sext(op(b.trunc(x.Word, I32), b.trunc(y.Word, I32)), I64)
	}
	return op(x.Word, y.Word)
}

// product multiplies words. Factors of 32 bits are spelled as extended ones, since
// vectors have no other product of 64 bits that is fast.
func (b *Block) product(x, y Value, result interval.Interval) value.Value {
	if fits32(x.bounds(), y.bounds()) && !fits32(result) {
		narrow := func(v value.Value) value.Value { return b.sext(b.trunc(v, I32), I64) }
		return b.Cur.NewMul(narrow(x.Word), narrow(y.Word))
	}
	return b.narrowest(func(x, y value.Value) value.Value { return b.Cur.NewMul(x, y) }, x, y, result)
}

// arithmetic is the shape of add, sub and mul.
type arithmetic struct {
	name  string
	float func(b *Block, x, y value.Value) value.Value
	words func(b *Block, x, y Value, result interval.Interval) value.Value
	wide  func(b *Block, x, y Value) Value
}

func (a arithmetic) emit(b *Block, result scalar.Type, args []Value) Value {
	x, y := args[0], args[1]
	if result.Kind == scalar.Float {
		return Value{Word: b.canonical(result, a.float(b, b.float(x.Word), b.float(y.Word)))}
	}
	bound, exact := callBounds(a.name, result, args)
	switch {
	case exact:
		return bounded(a.words(b, x, y, bound), bound)
	case result.Kind == scalar.Decimal:
		return a.wide(b, x, y)
	}
	return bounded(b.wrapped(result, a.words(b, x, y, interval.All)), bound)
}

var (
	addition = arithmetic{
		name:  "add",
		float: func(b *Block, x, y value.Value) value.Value { return b.Cur.NewFAdd(x, y) },
		words: func(b *Block, x, y Value, result interval.Interval) value.Value {
			return b.narrowest(func(x, y value.Value) value.Value { return b.Cur.NewAdd(x, y) }, x, y, result)
		},
		wide: (*Block).wideAdd,
	}
	subtraction = arithmetic{
		name:  "sub",
		float: func(b *Block, x, y value.Value) value.Value { return b.Cur.NewFSub(x, y) },
		words: func(b *Block, x, y Value, result interval.Interval) value.Value {
			return b.narrowest(func(x, y value.Value) value.Value { return b.Cur.NewSub(x, y) }, x, y, result)
		},
		wide: (*Block).wideSub,
	}
	multiplication = arithmetic{
		name:  "mul",
		float: func(b *Block, x, y value.Value) value.Value { return b.Cur.NewFMul(x, y) },
		words: (*Block).product,
		wide:  (*Block).wideMul,
	}
)

// division is a division that is safe for all words: the divisor is 1 where that
// of the program is 0, or -1 of signed numbers, whose quotient can overflow.
type division struct {
	dividend, divisor value.Value
	// zero and minus say where the program's divisor is 0 and -1; they are nil
	// where a literal shows that it never is.
	zero, minus value.Value
	narrow      bool // in 32 bits
	unsigned    bool
}

func (b *Block) division(x, y Value, unsigned bool) division {
	d := division{dividend: x.Word, divisor: y.Word, unsigned: unsigned, narrow: fits32(x.bounds(), y.bounds())}
	t := I64
	if d.narrow {
		t = I32
		d.dividend, d.divisor = b.trunc(x.Word, t), b.trunc(y.Word, t)
	}
	// guard replaces a divisor unless a literal is known to be another one.
	guard := func(n int64) value.Value {
		if y.Literal != nil && int64(y.Literal.Bits()) != n {
			return nil
		}
		is := b.icmp(enum.IPredEQ, d.divisor, constant.NewInt(t, n))
		d.divisor = b.choose(is, constant.NewInt(t, 1), d.divisor)
		return is
	}
	d.zero = guard(0)
	if !unsigned {
		d.minus = guard(-1)
	}
	return d
}

// extended brings a result of the division to 64 bits.
func (b *Block) extended(d division, x value.Value) value.Value {
	switch {
	case !d.narrow:
		return x
	case d.unsigned:
		return b.zext(x, I64)
	}
	return b.sext(x, I64)
}

// quotient is truncated.
func (b *Block) quotient(d division, x Value) value.Value {
	var q value.Value
	if d.unsigned {
		q = b.Cur.NewUDiv(d.dividend, d.divisor)
	} else {
		q = b.Cur.NewSDiv(d.dividend, d.divisor)
	}
	q = b.extended(d, q)
	if d.minus != nil {
		q = b.choose(d.minus, b.Cur.NewSub(word(0), x.Word), q)
	}
	return q
}

// defined says where a division has a value; nil for everywhere.
func (b *Block) defined(d division) value.Value {
	if d.zero == nil {
		return nil
	}
	return b.not(d.zero)
}

func emitDiv(b *Block, result scalar.Type, args []Value) Value {
	x, y := args[0], args[1]
	switch result.Kind {
	case scalar.Float:
		d := b.float(y.Word)
		q := b.canonical(result, b.Cur.NewFDiv(b.float(x.Word), d))
		return Value{Word: q, Present: b.fcmp(enum.FPredUNE, d, double(0))}
	case scalar.Decimal:
		return b.divideDecimals(result, x, y)
	}
	bound, exact := callBounds("div", result, args)
	d := b.division(x, y, result.Kind == scalar.Uint)
	q := b.quotient(d, x)
	if !exact {
		q = b.wrapped(result, q)
	}
	v := bounded(q, bound)
	v.Present = b.defined(d)
	return v
}

func emitMod(b *Block, result scalar.Type, args []Value) Value {
	x, y := args[0], args[1]
	bound, _ := callBounds("mod", result, args)
	d := b.division(x, y, result.Kind == scalar.Uint)
	var r value.Value
	if d.unsigned {
		r = b.Cur.NewURem(d.dividend, d.divisor)
	} else {
		// The remainder of -1 is that of the 1 in its place.
		r = b.Cur.NewSRem(d.dividend, d.divisor)
	}
	v := bounded(b.extended(d, r), bound)
	v.Present = b.defined(d)
	return v
}

func emitNeg(b *Block, result scalar.Type, args []Value) Value {
	x := args[0]
	if result.Kind == scalar.Float {
		return Value{Word: b.canonical(result, b.Cur.NewFNeg(b.float(x.Word)))}
	}
	zero := Value{Type: x.Type, Word: word(0), Bounded: true}
	bound, exact := callBounds("neg", result, args)
	switch {
	case exact:
		return bounded(subtraction.words(b, zero, x, bound), bound)
	case result.Kind == scalar.Decimal:
		return b.wideSub(zero, x)
	}
	return bounded(b.wrapped(result, b.Cur.NewSub(word(0), x.Word)), bound)
}

func emitAbs(b *Block, result scalar.Type, args []Value) Value {
	x := args[0]
	switch {
	case result.Kind == scalar.Uint:
		return x
	case result.Kind == scalar.Float:
		f := b.intrinsic("llvm.fabs.f64", types.Double, b.float(x.Word))
		return Value{Word: b.canonical(result, f)}
	}
	bound, _ := callBounds("abs", result, args)
	if x.Wide == nil && x.bounds().Lo >= 0 {
		return bounded(x.Word, bound)
	}
	minus := emitNeg(b, result, args)
	if minus.Wide == nil {
		return bounded(b.choose(b.negative(x.Word), minus.Word, x.Word), bound)
	}
	v := b.wide(x)
	negative := b.negative(v)
	// Only the negation of a negative number can fail.
	present := minus.Present
	if present != nil {
		present = b.Cur.NewOr(present, b.not(negative))
	}
	return Value{Wide: b.choose(negative, minus.Wide, v), Present: present, wideBits: minus.wideBits}
}

// bitwise emits a function of words that leaves their extension beyond the width as
// it is.
func bitwise(name string, op func(b *Block, x, y value.Value) value.Value) function {
	return function{emit: func(b *Block, result scalar.Type, args []Value) Value {
		bound, _ := callBounds(name, result, args)
		words := func(x, y value.Value) value.Value { return op(b, x, y) }
		return bounded(b.narrowest(words, args[0], args[1], bound), bound)
	}}
}

func emitBitNot(b *Block, result scalar.Type, args []Value) Value {
	return Value{Word: b.wrapped(result, b.Cur.NewXor(args[0].Word, word(-1)))}
}

// emitShl relies on counts of 64 and more being cut, since LLVM's shift knows none.
func emitShl(b *Block, result scalar.Type, args []Value) Value {
	x, n := args[0], args[1]
	moved := b.Cur.NewShl(x.Word, b.Cur.NewAnd(n.Word, word(63)))
	w := b.choose(b.icmp(enum.IPredULT, n.Word, word(64)), moved, word(0))
	return Value{Word: b.wrapped(result, w), Present: b.countable(n)}
}

// emitShr relies on words being extended: bits beyond the width move in.
func emitShr(b *Block, result scalar.Type, args []Value) Value {
	x, n := args[0], args[1]
	bound, _ := callBounds("shr", result, args)
	small := b.icmp(enum.IPredULT, n.Word, word(64))
	var w value.Value
	if result.Kind == scalar.Uint {
		w = b.choose(small, b.Cur.NewLShr(x.Word, b.Cur.NewAnd(n.Word, word(63))), word(0))
	} else {
		w = b.Cur.NewAShr(x.Word, b.choose(small, n.Word, word(63)))
	}
	v := bounded(w, bound)
	v.Present = b.countable(n)
	return v
}

// countable says where a shift's count is not negative; nil for everywhere.
func (b *Block) countable(n Value) value.Value {
	if n.bounds().Lo >= 0 {
		return nil
	}
	return b.icmp(enum.IPredSGE, n.Word, word(0))
}
