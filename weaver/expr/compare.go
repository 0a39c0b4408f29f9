package expr

import (
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// orders are the comparisons on signed and on unsigned numbers.
var orders = map[string]struct{ signed, unsigned enum.IPred }{
	"eq": {enum.IPredEQ, enum.IPredEQ},
	"ne": {enum.IPredNE, enum.IPredNE},
	"lt": {enum.IPredSLT, enum.IPredULT},
	"le": {enum.IPredSLE, enum.IPredULE},
	"gt": {enum.IPredSGT, enum.IPredUGT},
	"ge": {enum.IPredSGE, enum.IPredUGE},
}

func comparison(op string) func(b *Block, _ scalar.Type, args []Value) Value {
	return func(b *Block, _ scalar.Type, args []Value) Value {
		return Value{Word: b.compare(op, args[0], args[1])}
	}
}

// compare is an i1: whether the comparison holds in scalar.Compare's order.
func (b *Block) compare(op string, x, y Value) value.Value {
	pred := orders[op]
	switch {
	case x.Type.Kind == scalar.Boolean:
		return b.icmp(pred.unsigned, x.Word, y.Word)
	case x.Wide != nil || y.Wide != nil:
		return b.icmp(pred.signed, b.wide(x), b.wide(y))
	case x.Type.Kind == scalar.Float:
		return b.compareFloats(op, x, y)
	case fits32(x.bounds(), y.bounds()):
		return b.icmp(pred.signed, b.low(x), b.low(y))
	case x.Type.Kind == scalar.Uint:
		return b.icmp(pred.unsigned, x.Word, y.Word)
	}
	return b.icmp(pred.signed, x.Word, y.Word)
}

// compareFloats has NaN equal to itself and after all other floats. Floats are
// canonical, so that equal ones have equal words.
func (b *Block) compareFloats(op string, x, y Value) value.Value {
	switch op {
	case "eq", "ne":
		return b.icmp(orders[op].signed, x.Word, y.Word)
	case "gt", "ge":
		x, y = y, x
	}
	p, q := b.float(x.Word), b.float(y.Word)
	if op == "lt" || op == "gt" {
		return b.Cur.NewAnd(b.fcmp(enum.FPredORD, p, p), b.fcmp(enum.FPredULT, p, q))
	}
	return b.Cur.NewOr(b.fcmp(enum.FPredUNO, q, q), b.fcmp(enum.FPredOLE, p, q))
}

// CompareWords emits one of the comparisons eq, ne, lt, le, gt and ge on the
// words of strings: codes of one dictionary, which has to be sorted for all but
// eq and ne.
func CompareWords(b *Block, op string, x, y Value) Value {
	r := Value{Type: scalar.BooleanType, Present: b.all(x.Present, y.Present)}
	r.Word = b.icmp(orders[op].signed, x.Word, y.Word)
	return r
}

func emitMin(b *Block, result scalar.Type, args []Value) Value {
	return b.extreme("min", "lt", result, args)
}

func emitMax(b *Block, result scalar.Type, args []Value) Value {
	return b.extreme("max", "gt", result, args)
}

// extreme is the second argument where the comparison holds of it and the
// first.
func (b *Block) extreme(name, op string, result scalar.Type, args []Value) Value {
	x, y := args[0], args[1]
	second := b.compare(op, y, x)
	if x.Wide != nil || y.Wide != nil {
		return Value{Wide: b.choose(second, b.wide(y), b.wide(x)),
			wideBits: max(x.size(), y.size())}
	}
	w := b.choose(second, y.Word, x.Word)
	if result.Kind == scalar.Boolean {
		return Value{Word: w}
	}
	bound := interval.All
	if result.Kind != scalar.Float {
		bound, _ = callBounds(name, result, args)
	}
	v := bounded(w, bound)
	if result.Kind != scalar.Float && fits32(x.bounds(), y.bounds()) {
		v = v.withLow(b.choose(second, b.low(y), b.low(x)))
	}
	return v
}
