package scalar

import (
	"errors"
	"fmt"
	"math"
)

// errScale words the refusal of a decimal result with too many digits.
func errScale(op string, a, b Type, scale, most int) error {
	return fmt.Errorf("the result of %s %s %s would have %d digits after the point; a decimal has at most %d",
		a, op, b, scale, most)
}

// decimalOf returns the decimal type of a scale that is wide if one of the
// types is.
func decimalOf(types []Type, scale uint8) Type {
	for _, t := range types {
		if t.IsWide() {
			return WideDecimalOf(scale)
		}
	}
	return DecimalOf(scale)
}

var errDivisionByZero = errors.New("division by zero has no value")

// sumForm types + and -: the common type, and for + also strings.
func sumForm(withStrings bool) func([]Type) ([]Type, Type, error) {
	return func(args []Type) ([]Type, Type, error) {
		a, b := args[0], args[1]
		if withStrings && a == StringType && b == StringType {
			return args, StringType, nil
		}
		return commonNumber(args)
	}
}

func commonNumber(args []Type) ([]Type, Type, error) {
	t := args[0]
	for _, u := range args {
		var ok bool
		if t, ok = operand(t, u); !ok || !u.IsNumeric() || !t.IsNumeric() {
			return nil, Type{}, errNoForm
		}
	}
	return repeat(t, len(args)), t, nil
}

func repeat(t Type, n int) []Type {
	out := make([]Type, n)
	for i := range out {
		out[i] = t
	}
	return out
}

// decimalOperands returns the types of a decimal product's or quotient's
// operands, which keep their own scales; integers have scale 0.
func decimalOperands(args []Type) ([]Type, bool) {
	a, b := args[0], args[1]
	if a.Kind != Decimal && b.Kind != Decimal || a.Kind == Float || b.Kind == Float {
		return nil, false
	}
	out := []Type{a, b}
	for i, t := range out {
		if isInteger(t) {
			out[i] = DecimalOf(0)
		} else if t.Kind != Decimal {
			return nil, false
		}
	}
	return out, true
}

func productForm(args []Type) ([]Type, Type, error) {
	params, ok := decimalOperands(args)
	if !ok {
		return commonNumber(args)
	}
	scale := int(params[0].Scale) + int(params[1].Scale)
	result := decimalOf(params, uint8(scale))
	if most := result.Digits(); scale > most {
		return nil, Type{}, errScale("*", args[0], args[1], scale, most)
	}
	return params, result, nil
}

// QuotientScale is the scale of a decimal quotient and of avg.
func QuotientScale(a, b uint8) uint8 { return max(6, a, b) }

func quotientForm(args []Type) ([]Type, Type, error) {
	params, ok := decimalOperands(args)
	if !ok {
		return commonNumber(args)
	}
	// The dividend is scaled up by this many digits, for which 128 bits have to
	// do.
	result := decimalOf(params, QuotientScale(params[0].Scale, params[1].Scale))
	if up := int(result.Scale) + int(params[1].Scale) - int(params[0].Scale); up > MaxWideScale {
		return nil, Type{},
			fmt.Errorf("the dividend of %s / %s would need %d more digits; a decimal has at most %d", args[0], args[1], up, MaxWideScale)
	}
	return params, result, nil
}

func evalAdd(result Type, args []Value) (Value, bool) {
	a, b := args[0], args[1]
	switch result.Kind {
	case String:
		return OfString(a.str + b.str), true
	case Float:
		return OfFloat(result, a.Float()+b.Float()), true
	case Decimal:
		r, ok := a.Int128().Add(b.Int128())
		return OfInt128(result, r), ok
	}
	return OfInt(result, int64(a.word+b.word)), true
}

func evalSub(result Type, args []Value) (Value, bool) {
	a, b := args[0], args[1]
	switch result.Kind {
	case Float:
		return OfFloat(result, a.Float()-b.Float()), true
	case Decimal:
		r, ok := a.Int128().Sub(b.Int128())
		return OfInt128(result, r), ok
	}
	return OfInt(result, int64(a.word-b.word)), true
}

func evalMul(result Type, args []Value) (Value, bool) {
	a, b := args[0], args[1]
	switch result.Kind {
	case Float:
		return OfFloat(result, a.Float()*b.Float()), true
	case Decimal:
		r, ok := a.Int128().Mul(b.Int128())
		return OfInt128(result, r), ok
	}
	return OfInt(result, int64(a.word*b.word)), true
}

func evalDiv(result Type, args []Value) (Value, bool) {
	a, b := args[0], args[1]
	switch result.Kind {
	case Float:
		if b.Float() == 0 {
			return Value{}, false
		}
		return OfFloat(result, a.Float()/b.Float()), true
	case Decimal:
		return divideDecimals(result, a, b)
	case Uint:
		if b.word == 0 {
			return Value{}, false
		}
		return OfInt(result, int64(a.word/b.word)), true
	}
	if b.word == 0 {
		return Value{}, false
	}
	return OfInt(result, a.Int()/b.Int()), true
}

// divideDecimals scales the dividend up so that the integer quotient has the
// result's scale. A dividend that then needs more than 128 bits has no
// quotient.
func divideDecimals(result Type, a, b Value) (Value, bool) {
	up := int(result.Scale) + int(b.Type.Scale) - int(a.Type.Scale)
	dividend, ok := a.Int128().Mul(Pow10(up))
	if !ok {
		return Value{}, false
	}
	q, ok := dividend.QuoRound(b.Int128())
	return OfInt128(result, q), ok
}

func evalMod(result Type, args []Value) (Value, bool) {
	a, b := args[0], args[1]
	switch {
	case b.word == 0:
		return Value{}, false
	case result.Kind == Uint:
		return OfInt(result, int64(a.word%b.word)), true
	}
	return OfInt(result, a.Int()%b.Int()), true
}

// checkDivisor refuses a constant zero as second argument.
func checkDivisor(constants []*Value) error {
	d := constants[1]
	if d == nil || !d.Type.IsNumeric() {
		return nil
	}
	if d.word == 0 && d.high == 0 {
		return errDivisionByZero
	}
	return nil
}

func evalNeg(result Type, args []Value) (Value, bool) {
	a := args[0]
	switch result.Kind {
	case Float:
		return OfFloat(result, -a.Float()), true
	case Decimal:
		r, ok := a.Int128().Neg()
		return OfInt128(result, r), ok
	}
	return OfInt(result, -a.Int()), true
}

func evalAbs(result Type, args []Value) (Value, bool) {
	a := args[0]
	if result.Kind == Float {
		return OfFloat(result, math.Abs(a.Float())), true
	}
	if result.Kind != Uint && a.Int128().Sign() < 0 {
		return evalNeg(result, args)
	}
	return a, true
}

// signedForm takes one number that may be negative and keeps its type.
func signedForm(args []Type) ([]Type, Type, error) {
	if t := args[0]; t.Kind == Int || t.Kind == Float || t.Kind == Decimal {
		return args, t, nil
	}
	return nil, Type{}, errNoForm
}

func integerForm(args []Type) ([]Type, Type, error) {
	for _, t := range args {
		if !isInteger(t) {
			return nil, Type{}, errNoForm
		}
	}
	return commonNumber(args)
}

// shiftForm takes an integer of any type and a count.
func shiftForm(args []Type) ([]Type, Type, error) {
	if !isInteger(args[0]) || !accepts(args[1], IntType) {
		return nil, Type{}, errNoForm
	}
	return []Type{args[0], IntType}, args[0], nil
}

func evalShl(result Type, args []Value) (Value, bool) {
	n := args[1].Int()
	if n < 0 {
		return Value{}, false
	}
	return OfInt(result, int64(args[0].word<<uint64(n))), true
}

// evalShr relies on words being sign-extended for Int and zero-extended for
// Uint: bits beyond the width shift in as the sign.
func evalShr(result Type, args []Value) (Value, bool) {
	n := args[1].Int()
	if n < 0 {
		return Value{}, false
	}
	if result.Kind == Uint {
		return OfInt(result, int64(args[0].word>>uint64(n))), true
	}
	return OfInt(result, args[0].Int()>>uint64(n)), true
}

func checkShift(constants []*Value) error {
	if n := constants[1]; n != nil && n.Int() < 0 {
		return fmt.Errorf("a shift by %d has no value; the count must not be negative", n.Int())
	}
	return nil
}

// bitwise makes an eval of a function on words. It commutes with sign and zero
// extension, so that OfInt's wrapping changes nothing but bitnot of a Uint.
func bitwise(f func(a, b uint64) uint64) func(Type, []Value) (Value, bool) {
	return func(result Type, args []Value) (Value, bool) {
		return OfInt(result, int64(f(args[0].word, args[1].word))), true
	}
}

// floatForm takes n numbers as floats.
func floatForm(args []Type) ([]Type, Type, error) {
	params, t, err := commonNumber(args)
	if err == nil && t.Kind != Float {
		t = FloatType
		params = repeat(t, len(args))
	}
	return params, t, err
}

func floatFunc(f func(float64) float64) func(Type, []Value) (Value, bool) {
	return func(result Type, args []Value) (Value, bool) {
		return OfFloat(result, f(args[0].Float())), true
	}
}

func evalPow(result Type, args []Value) (Value, bool) {
	return OfFloat(result, math.Pow(args[0].Float(), args[1].Float())), true
}

// roundForm rounds floats and decimals to whole numbers of the same type.
func roundForm(args []Type) ([]Type, Type, error) {
	if t := args[0]; t.Kind == Float || t.Kind == Decimal {
		return args, t, nil
	}
	return nil, Type{}, errNoForm
}

func evalRound(result Type, args []Value) (Value, bool) {
	if result.Kind == Float {
		return OfFloat(result, math.Round(args[0].Float())), true
	}
	return roundDecimal(args[0], 0)
}

func round2Form(args []Type) ([]Type, Type, error) {
	number := args[0]
	if isInteger(number) {
		number = DecimalOf(0)
	}
	if number.Kind != Decimal || !accepts(args[1], IntType) {
		return nil, Type{}, errNoForm
	}
	return []Type{number, IntType}, number, nil
}

func evalRound2(_ Type, args []Value) (Value, bool) { return roundDecimal(args[0], args[1].Int()) }

// roundDecimal rounds half away from zero to the given digits after the point,
// or before it where digits is negative; the scale stays.
func roundDecimal(v Value, digits int64) (Value, bool) {
	scale := int64(v.Type.Scale)
	switch {
	case digits >= scale:
		return v, true
	case digits <= scale-int64(len(powersOfTen)):
		return OfInt128(v.Type, Int128{}), true
	}
	unit := Pow10(int(scale - digits))
	q, _ := v.Int128().QuoRound(unit)
	r, ok := q.Mul(unit)
	return OfInt128(v.Type, r), ok
}

// orderedForm takes values of one type, widened where they are numbers.
func orderedForm(args []Type) ([]Type, Type, error) { return sameForm(args, operand) }

func sameForm(args []Type, common func(a, b Type) (Type, bool)) ([]Type, Type, error) {
	t := args[0]
	for _, u := range args[1:] {
		var ok bool
		if t, ok = common(t, u); !ok {
			return nil, Type{}, errNoForm
		}
	}
	if t.Kind == Invalid || t.Kind == Entity {
		return nil, Type{}, errNoForm
	}
	return repeat(t, len(args)), t, nil
}

// equalForm types = and !=, which entities have, too.
func equalForm(args []Type) ([]Type, Type, error) {
	if args[0].Kind == Entity && args[0] == args[1] {
		return args, BooleanType, nil
	}
	return compareForm(args)
}

func compareForm(args []Type) ([]Type, Type, error) {
	params, _, err := sameForm(args, Common)
	return params, BooleanType, err
}

func comparison(holds func(order int) bool) func(Type, []Value) (Value, bool) {
	return func(_ Type, args []Value) (Value, bool) {
		return OfBool(holds(Compare(args[0], args[1]))), true
	}
}

func evalMin(_ Type, args []Value) (Value, bool) {
	if Compare(args[1], args[0]) < 0 {
		return args[1], true
	}
	return args[0], true
}

func evalMax(_ Type, args []Value) (Value, bool) {
	if Compare(args[1], args[0]) > 0 {
		return args[1], true
	}
	return args[0], true
}

// fixed is the overload of a function with one form.
func fixed(result Type, params ...Type) func([]Type) ([]Type, Type, error) {
	return func(args []Type) ([]Type, Type, error) {
		for i, t := range args {
			if !accepts(t, params[i]) {
				return nil, Type{}, errNoForm
			}
		}
		return params, result, nil
	}
}

func truthFunc(f func(a, b bool) bool) func(Type, []Value) (Value, bool) {
	return func(_ Type, args []Value) (Value, bool) {
		return OfBool(f(args[0].Bool(), args[1].Bool())), true
	}
}
