package bounds

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Value is what is known of the results of an expression.
type Value struct {
	Bound interval.Interval
	// Fits says that each result is a word within the bound. It is false for a
	// decimal that may exceed 64 bits; the bound then holds for the results
	// that do not.
	Fits bool
}

// Operand is an argument of a function.
type Operand struct {
	Value
	Type  scalar.Type
	Const *scalar.Value // nil if it is not a constant
}

// Constant returns what is known of a constant without a dictionary.
func Constant(v scalar.Value) Value {
	if v.Type.Kind == scalar.String || !v.FitsWord() {
		return Value{interval.OfType(v.Type), v.FitsWord()}
	}
	return Value{interval.Of(int64(v.Bits())), true}
}

// Call returns what is known of the results of a function.
func Call(f *scalar.Func, result scalar.Type, args []Operand) Value {
	// An integer that wraps around is a word of its type again.
	whole := result.Kind != scalar.Decimal
	types, bounds := make([]scalar.Type, len(args)), make([]interval.Interval, len(args))
	for i, a := range args {
		if !a.Fits {
			return Value{interval.OfType(result), whole}
		}
		types[i], bounds[i] = a.Type, a.Bound
	}
	if f.Name == "datetime:part" && args[1].Const != nil {
		if unit, ok := scalar.ParseUnit(args[1].Const.Str()); ok {
			return Value{interval.DatetimePart(unit, bounds[0]), true}
		}
	}
	bound, exact := interval.Call(f, result, types, bounds)
	return Value{bound, exact || whole}
}

// Implied recognises the comparison of an argument, whose place it returns,
// with a constant. The bound has the words for which the comparison holds.
func Implied(f *scalar.Func, args []Operand) (place int, bound interval.Interval, ok bool) {
	if len(args) != 2 {
		return 0, bound, false
	}
	name := f.Name
	if args[0].Const != nil {
		place, name = 1, interval.Mirrored(name)
	}
	k := args[1-place].Const
	if args[place].Const != nil || k == nil || args[0].Type != args[1].Type ||
		!interval.Orders(k.Type) || !k.FitsWord() {
		return 0, bound, false
	}
	bound, ok = interval.Comparison(name, int64(k.Bits()))
	return place, bound, ok
}

// Compares reports whether a function compares its two arguments, so that
// strings need codes of one dictionary.
func Compares(f *scalar.Func) bool {
	switch f.Name {
	case "eq", "ne", "lt", "le", "gt", "ge":
		return true
	}
	return false
}
