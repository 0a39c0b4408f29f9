package expr

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// operation adds an instruction on two numbers of one width.
type operation func(b *Block, x, y value.Value) value.Value

func add(b *Block, x, y value.Value) value.Value { return b.Cur.NewAdd(x, y) }
func sub(b *Block, x, y value.Value) value.Value { return b.Cur.NewSub(x, y) }
func mul(b *Block, x, y value.Value) value.Value { return b.Cur.NewMul(x, y) }

// apply applies an operation whose low bits only depend on those of its
// operands. Its result is within bounds.
func (b *Block) apply(op operation, x, y Value, result interval.Interval) Value {
	v := bounded(op(b, x.Word, y.Word), result)
	if fits32(x.bounds(), y.bounds(), result) {
		v = v.withLow(op(b, b.low(x), b.low(y)))
	}
	return v
}

// product multiplies words. Factors of 32 bits are spelled as extended ones,
// since vectors have no other product of 64 bits that is fast.
func (b *Block) product(x, y Value, result interval.Interval) Value {
	if !fits32(x.bounds(), y.bounds()) {
		return b.apply(mul, x, y, result)
	}
	v := bounded(b.Cur.NewMul(b.sext(b.low(x), I64), b.sext(b.low(y), I64)), result)
	if fits32(result) {
		v = v.withLow(b.Cur.NewMul(b.low(x), b.low(y)))
	}
	return v
}

// wrapping applies an operation modulo the width of an integer type.
func (b *Block) wrapping(op operation, t scalar.Type, x, y Value) Value {
	if t.Bits == 64 {
		return bounded(op(b, x.Word, y.Word), interval.All)
	}
	return b.wrapped(t, op(b, b.low(x), b.low(y)))
}

// arithmetic is the shape of add, sub and mul.
type arithmetic struct {
	name  string
	op    operation
	float operation
	exact func(b *Block, x, y Value, result interval.Interval) Value
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
		return a.exact(b, x, y, bound)
	case result.Kind == scalar.Decimal:
		return a.wide(b, x, y)
	}
	return b.wrapping(a.op, result, x, y)
}

var (
	addition = arithmetic{
		name: "add", op: add, wide: (*Block).wideAdd,
		float: func(b *Block, x, y value.Value) value.Value { return b.Cur.NewFAdd(x, y) },
		exact: func(b *Block, x, y Value, r interval.Interval) Value {
			return b.apply(add, x, y, r)
		},
	}
	subtraction = arithmetic{
		name: "sub", op: sub, wide: (*Block).wideSub,
		float: func(b *Block, x, y value.Value) value.Value { return b.Cur.NewFSub(x, y) },
		exact: func(b *Block, x, y Value, r interval.Interval) Value {
			return b.apply(sub, x, y, r)
		},
	}
	multiplication = arithmetic{
		name: "mul", op: mul, wide: (*Block).wideMul,
		float: func(b *Block, x, y value.Value) value.Value { return b.Cur.NewFMul(x, y) },
		exact: (*Block).product,
	}
)

// division is a division that is safe for all words: the divisor is 1 where
// that of the program is 0, or -1 of signed numbers, whose quotient can
// overflow.
type division struct {
	dividend, divisor value.Value
	// zero and minus say where the program's divisor is 0 and -1; they are nil
	// where a literal shows that it never is.
	zero, minus value.Value
	narrow      bool // in 32 bits
	unsigned    bool
}

func (b *Block) division(x, y Value, unsigned bool) division {
	d := division{dividend: x.Word, divisor: y.Word, unsigned: unsigned,
		narrow: fits32(x.bounds(), y.bounds())}
	t := I64
	if d.narrow {
		t = I32
		d.dividend, d.divisor = b.low(x), b.low(y)
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

// result is a value of a quotient or a remainder.
func (b *Block) result(d division, x value.Value, r interval.Interval) Value {
	v := bounded(x, r)
	if d.narrow {
		v = b.extended32(x, d.unsigned, r)
	}
	if d.zero != nil {
		v.Present = b.not(d.zero)
	}
	return v
}

// negated replaces a quotient where the divisor is -1.
func (b *Block) negated(d division, x Value, q Value) Value {
	if d.minus != nil {
		q.Word = b.choose(d.minus, b.Cur.NewSub(word(0), x.Word), q.Word)
	}
	return q
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
	if d.unsigned {
		return b.result(d, b.Cur.NewUDiv(d.dividend, d.divisor), bound)
	}
	q := b.negated(d, x, b.result(d, b.Cur.NewSDiv(d.dividend, d.divisor), bound))
	if !exact && result.Bits < 64 {
		// The least number divided by -1.
		present := q.Present
		q = b.wrapped(result, b.low(q))
		q.Present = present
	}
	return q
}

func emitMod(b *Block, result scalar.Type, args []Value) Value {
	bound, _ := callBounds("mod", result, args)
	d := b.division(args[0], args[1], result.Kind == scalar.Uint)
	if d.unsigned {
		return b.result(d, b.Cur.NewURem(d.dividend, d.divisor), bound)
	}
	// The remainder of -1 is that of the 1 in its place.
	return b.result(d, b.Cur.NewSRem(d.dividend, d.divisor), bound)
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
		return b.apply(sub, zero, x, bound)
	case result.Kind == scalar.Decimal:
		return b.wideSub(zero, x)
	}
	return b.wrapping(sub, result, zero, x)
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
		return x.within(bound)
	}
	minus := emitNeg(b, result, args)
	if minus.Wide == nil {
		v := bounded(b.choose(b.negative(x.Word), minus.Word, x.Word), bound)
		if low := b.low(x); fits32(x.bounds(), bound) {
			v = v.withLow(b.choose(b.negative(low), b.low(minus), low))
		}
		return v
	}
	v := b.wide(x)
	negative := b.negative(v)
	// Only the negation of a negative number can fail.
	present := minus.Present
	if present != nil {
		present = b.Cur.NewOr(present, b.not(negative))
	}
	return Value{Wide: b.choose(negative, minus.Wide, v), Present: present,
		wideBits: minus.wideBits}
}

// bitwise emits a function of words that leaves their extension beyond the
// width as it is.
func bitwise(name string, op operation) function {
	return function{emit: func(b *Block, result scalar.Type, args []Value) Value {
		bound, _ := callBounds(name, result, args)
		return b.apply(op, args[0], args[1], bound)
	}}
}

func emitBitNot(b *Block, result scalar.Type, args []Value) Value {
	ones := Value{Type: result, Word: word(-1)}
	return b.wrapping(func(b *Block, x, y value.Value) value.Value {
		return b.Cur.NewXor(x, y)
	}, result, args[0], ones)
}

// emitShl relies on counts of 64 and more being cut, since LLVM's shift knows
// none.
func emitShl(b *Block, result scalar.Type, args []Value) Value {
	x, n := args[0], args[1]
	moved := b.Cur.NewShl(x.Word, b.Cur.NewAnd(n.Word, word(63)))
	v := Value{Word: b.choose(b.icmp(enum.IPredULT, n.Word, word(64)), moved, word(0))}
	if result.Bits < 64 {
		v = b.wrapped(result, b.low(v))
	}
	v.Present = b.countable(n)
	return v
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
