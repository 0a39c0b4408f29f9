package expr

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// kernel compiles a call to vector steps, if there are some for its types. It
// uses unchecked arithmetic where the operands' bounds prove that nothing
// overflows.
func (c *exprCompiler) kernel(call *queryplan.Call) (operand, bool) {
	switch name := call.Func.Name; name {
	case "add", "sub", "mul", "min", "max":
		return c.arithmetic(name, call)
	case "div", "mod":
		return c.quotient(name, call)
	case "neg", "abs":
		return c.unary(name, call)
	case "eq", "ne", "lt", "le", "gt", "ge":
		return c.comparison(name, call)
	case "and", "or", "xor", "not":
		return c.logic(name, call)
	case "holds":
		if !queryplan.MayFail(call.Args[0]) {
			return c.compile(call.Args[0]), true
		}
	case "convert":
		return c.conversion(call)
	case "wide", "high", "low":
		return c.words(name, call), true
	}
	return operand{}, false
}

// binary makes a step over two vectors.
func (c *exprCompiler) binary(a, b operand, rng interval.Interval,
	f func(m *Machine, dst, a, b []int64)) operand {
	o := operand{reg: c.newReg(), rng: rng}
	c.step(func(m *Machine) {
		n := m.n
		f(m, m.Vectors[o.reg][:n], m.Vectors[a.reg][:n], m.Vectors[b.reg][:n])
	})
	return o
}

func isWhole(k scalar.Kind) bool {
	return k == scalar.Int || k == scalar.Uint || k == scalar.Decimal
}

// sameTypes reports whether all arguments have the type t.
func sameTypes(args []queryplan.Expr, t scalar.Type) bool {
	for _, a := range args {
		if a.Type() != t {
			return false
		}
	}
	return true
}

// callRange bounds the results of a call, given its compiled arguments. A row
// of which an argument does not fit 64 bits is flagged, and a decimal that then
// does fit is within the bound of all words, which is that of such an argument.
func callRange(call *queryplan.Call, args ...operand) (rng interval.Interval, exact bool) {
	types := make([]scalar.Type, len(args))
	bounds := make([]interval.Interval, len(args))
	for i, a := range args {
		types[i], bounds[i] = call.Args[i].Type(), a.rng
	}
	return interval.Call(call.Func, call.Result, types, bounds)
}

func (c *exprCompiler) arithmetic(name string, call *queryplan.Call) (operand, bool) {
	t := call.Result
	ordering := name == "min" || name == "max"
	switch {
	case name == "mul" && t.Kind == scalar.Decimal:
		if k := call.Args[0].Type().Kind; k != scalar.Decimal && k != scalar.Int {
			return operand{}, false
		}
		if k := call.Args[1].Type().Kind; k != scalar.Decimal && k != scalar.Int {
			return operand{}, false
		}
		if call.Args[0].Type().Scale+call.Args[1].Type().Scale != t.Scale {
			return operand{}, false
		}
	case !sameTypes(call.Args, t):
		return operand{}, false
	}
	switch {
	case t.Kind == scalar.Float && t.Bits == 64:
		a, b := c.compile(call.Args[0]), c.compile(call.Args[1])
		return c.binary(a, b, interval.All, floatKernels[name]), true
	case t.Kind == scalar.Datetime && ordering, isWhole(t.Kind):
		if t.Kind == scalar.Uint && ordering {
			return operand{}, false
		}
		a, b := c.compile(call.Args[0]), c.compile(call.Args[1])
		rng, exact := callRange(call, a, b)
		switch {
		case exact, t.Bits == 64 && t.Kind != scalar.Decimal:
			return c.binary(a, b, rng, wholeKernels[name]), true
		case t.Kind == scalar.Decimal:
			return c.binary(a, b, rng, checkedKernels[name]), true
		}
		o := c.binary(a, b, rng, wholeKernels[name])
		c.wrap(o.reg, t)
		return o, true
	}
	return operand{}, false
}

// wrap cuts a result to the width of its integer type.
func (c *exprCompiler) wrap(reg int, t scalar.Type) {
	up := 64 - t.Bits
	signed := t.Kind == scalar.Int
	c.step(func(m *Machine) {
		r := m.Vectors[reg][:m.n]
		if signed {
			for i, v := range r {
				r[i] = v << (up & 63) >> (up & 63)
			}
			return
		}
		for i, v := range r {
			r[i] = int64(uint64(v) << (up & 63) >> (up & 63))
		}
	})
}

var wholeKernels = map[string]func(m *Machine, dst, a, b []int64){
	"add": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	},
	"sub": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
	},
	"mul": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	},
	"min": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = min(a[i], b[i])
		}
	},
	"max": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = max(a[i], b[i])
		}
	},
}

// checkedKernels flag the rows whose decimal result leaves 64 bits.
var checkedKernels = map[string]func(m *Machine, dst, a, b []int64){
	"add": func(m *Machine, dst, a, b []int64) {
		for i := range dst {
			s := a[i] + b[i]
			if (a[i]^s)&(b[i]^s) < 0 {
				m.flag(i, inexact)
			}
			dst[i] = s
		}
	},
	"sub": func(m *Machine, dst, a, b []int64) {
		for i := range dst {
			s := a[i] - b[i]
			if (a[i]^b[i])&(a[i]^s) < 0 {
				m.flag(i, inexact)
			}
			dst[i] = s
		}
	},
	"mul": func(m *Machine, dst, a, b []int64) {
		for i := range dst {
			p, ok := multiply(a[i], b[i])
			if !ok {
				m.flag(i, inexact)
			}
			dst[i] = p
		}
	},
}

// multiply returns a * b and whether it fits 64 bits.
func multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The signed high half is the unsigned one, less the other factor for each
	// negative one.
	high := int64(hi) - a>>63&b - b>>63&a
	return int64(lo), high == int64(lo)>>63
}

var floatKernels = map[string]func(m *Machine, dst, a, b []int64){
	"add": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = work.FloatWord(work.Float(a[i]) + work.Float(b[i]))
		}
	},
	"sub": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = work.FloatWord(work.Float(a[i]) - work.Float(b[i]))
		}
	},
	"mul": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = work.FloatWord(work.Float(a[i]) * work.Float(b[i]))
		}
	},
	"min": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = a[i]
			if scalar.Ordered(scalar.Float, b[i]) < scalar.Ordered(scalar.Float, a[i]) {
				dst[i] = b[i]
			}
		}
	},
	"max": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = a[i]
			if scalar.Ordered(scalar.Float, b[i]) > scalar.Ordered(scalar.Float, a[i]) {
				dst[i] = b[i]
			}
		}
	},
}

// quotient compiles division and remainder of ints, and division of floats.
func (c *exprCompiler) quotient(name string, call *queryplan.Call) (operand, bool) {
	t := call.Result
	if !sameTypes(call.Args, t) {
		return operand{}, false
	}
	switch {
	case t.Kind == scalar.Int:
		a, b := c.compile(call.Args[0]), c.compile(call.Args[1])
		rng, _ := callRange(call, a, b)
		if name == "mod" {
			return c.binary(a, b, rng, func(m *Machine, dst, a, b []int64) {
				for i := range dst {
					if b[i] == 0 {
						m.flag(i, noValue)
						continue
					}
					dst[i] = a[i] % b[i]
				}
			}), true
		}
		o := c.binary(a, b, rng, func(m *Machine, dst, a, b []int64) {
			for i := range dst {
				if b[i] == 0 {
					m.flag(i, noValue)
					continue
				}
				dst[i] = a[i] / b[i]
			}
		})
		if t.Bits < 64 {
			c.wrap(o.reg, t)
		}
		return o, true
	case t == scalar.FloatType && name == "div":
		a, b := c.compile(call.Args[0]), c.compile(call.Args[1])
		return c.binary(a, b, interval.All, func(m *Machine, dst, a, b []int64) {
			for i := range dst {
				if work.Float(b[i]) == 0 {
					m.flag(i, noValue)
					continue
				}
				dst[i] = work.FloatWord(work.Float(a[i]) / work.Float(b[i]))
			}
		}), true
	}
	return operand{}, false
}

func (c *exprCompiler) unary(name string, call *queryplan.Call) (operand, bool) {
	t := call.Result
	if !sameTypes(call.Args, t) {
		return operand{}, false
	}
	whole := t == scalar.IntType || t.Kind == scalar.Decimal
	if !whole && t != scalar.FloatType {
		return operand{}, false
	}
	a := c.compile(call.Args[0])
	if t.Kind == scalar.Float {
		return c.binary(a, a, interval.All, func(_ *Machine, dst, a, _ []int64) {
			for i := range dst {
				if f := work.Float(a[i]); name == "neg" {
					dst[i] = work.FloatWord(-f)
				} else {
					dst[i] = work.FloatWord(math.Abs(f))
				}
			}
		}), true
	}
	rng, _ := callRange(call, a)
	return c.binary(a, a, rng, func(m *Machine, dst, a, _ []int64) {
		for i, v := range a {
			if v == math.MinInt64 && t.Kind == scalar.Decimal {
				m.flag(i, inexact)
			}
			if name == "neg" || v < 0 {
				v = -v
			}
			dst[i] = v
		}
	}), true
}

// comparisons over words in their type's order, after scalar.Ordered.
var comparisons = map[string]func(m *Machine, dst, a, b []int64){
	"eq": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = int64(work.Bit(a[i] == b[i]))
		}
	},
	"ne": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = int64(work.Bit(a[i] != b[i]))
		}
	},
	"lt": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = int64(work.Bit(a[i] < b[i]))
		}
	},
	"le": func(_ *Machine, dst, a, b []int64) {
		for i := range dst {
			dst[i] = int64(work.Bit(a[i] <= b[i]))
		}
	},
}

func (c *exprCompiler) comparison(name string, call *queryplan.Call) (operand, bool) {
	x, y := call.Args[0], call.Args[1]
	t := x.Type()
	if t != y.Type() {
		return operand{}, false
	}
	if name == "gt" || name == "ge" {
		x, y = y, x
		name = map[string]string{"gt": "lt", "ge": "le"}[name]
	}
	if t.Kind == scalar.String {
		return c.stringComparison(name, x, y)
	}
	a, b := c.compile(x), c.compile(y)
	if name != "eq" && name != "ne" && (t.Kind == scalar.Uint || t.Kind == scalar.Float) {
		less := name == "lt"
		kind := t.Kind
		return c.binary(a, b, interval.OfType(scalar.BooleanType),
			func(_ *Machine, dst, a, b []int64) {
				for i := range dst {
					p, q := scalar.Ordered(kind, a[i]), scalar.Ordered(kind, b[i])
					dst[i] = int64(work.Bit(p < q || p == q && !less))
				}
			}), true
	}
	return c.binary(a, b, interval.OfType(scalar.BooleanType), comparisons[name]), true
}

// stringComparison compares codes: of two columns with one dictionary, or of a
// column with the place that a constant has in the dictionary's order.
func (c *exprCompiler) stringComparison(name string, x, y queryplan.Expr) (operand, bool) {
	a, isCol := x.(*queryplan.ColRef)
	b, isCol2 := y.(*queryplan.ColRef)
	truth := interval.OfType(scalar.BooleanType)
	if isCol && isCol2 {
		p, q := c.compile(a), c.compile(b)
		if !p.dict.Grows || name == "eq" || name == "ne" {
			return c.binary(p, q, truth, comparisons[name]), true
		}
		least := work.Bit(name == "le")
		return c.binary(p, q, truth, func(_ *Machine, dst, a, b []int64) {
			for i := range dst {
				dst[i] = int64(work.Bit(p.dict.Dict.Compare(uint32(a[i]), uint32(b[i])) < least))
			}
		}), true
	}
	if k, ok := x.(*queryplan.Const); ok && isCol2 {
		// const < col holds where not col <= const, that is code >= the first
		// code above the constant.
		col := c.compile(b)
		if col.dict.Grows {
			return operand{}, false
		}
		lo, hi := col.dict.Place(k.Value.Str())
		switch name {
		case "lt":
			return c.binary(operand{reg: c.constant(hi)}, col, truth, comparisons["le"]), true
		case "le":
			return c.binary(operand{reg: c.constant(lo)}, col, truth, comparisons["le"]), true
		}
		x, y, b, isCol = y, x, nil, true
		a = x.(*queryplan.ColRef)
	}
	if k, ok := y.(*queryplan.Const); ok && isCol {
		col := c.compile(a)
		if col.dict.Grows {
			return operand{}, false
		}
		lo, hi := col.dict.Place(k.Value.Str())
		switch name {
		case "lt":
			return c.binary(col, operand{reg: c.constant(lo)}, truth, comparisons["lt"]), true
		case "le":
			return c.binary(col, operand{reg: c.constant(hi)}, truth, comparisons["lt"]), true
		}
		if lo == hi {
			lo = -1 // no code: nothing is equal
		}
		return c.binary(col, operand{reg: c.constant(lo)}, truth, comparisons[name]), true
	}
	return operand{}, false
}

func (c *exprCompiler) logic(name string, call *queryplan.Call) (operand, bool) {
	a := c.compile(call.Args[0])
	b := a
	if len(call.Args) == 2 {
		b = c.compile(call.Args[1])
	}
	return c.binary(a, b, interval.OfType(scalar.BooleanType), func(_ *Machine, dst, a, b []int64) {
		switch name {
		case "and":
			for i := range dst {
				dst[i] = a[i] & b[i]
			}
		case "or":
			for i := range dst {
				dst[i] = a[i] | b[i]
			}
		case "xor":
			for i := range dst {
				dst[i] = a[i] ^ b[i]
			}
		case "not":
			for i := range dst {
				dst[i] = a[i] ^ 1
			}
		}
	}), true
}

// conversion compiles the conversions that lose nothing, apart from those to
// strings, and those from decimals to floats.
func (c *exprCompiler) conversion(call *queryplan.Call) (operand, bool) {
	from, to := call.Args[0].Type(), call.Result
	switch {
	case from == to, from.Kind == scalar.Boolean &&
		(to.Kind == scalar.Int || to.Kind == scalar.Uint),
		(from.Kind == scalar.Int || from.Kind == scalar.Uint) &&
			(to.Kind == scalar.Int || to.Kind == scalar.Uint) && scalar.CanWiden(from, to):
		return c.compile(call.Args[0]), true
	case to == scalar.FloatType && (from.Kind == scalar.Int || from.Kind == scalar.Decimal):
		a := c.compile(call.Args[0])
		unit := math.Pow10(int(from.Scale))
		return c.binary(a, a, interval.All, func(_ *Machine, dst, a, _ []int64) {
			for i, v := range a {
				dst[i] = work.FloatWord(float64(v) / unit)
			}
		}), true
	case to.Kind == scalar.Decimal && (from.Kind == scalar.Int || from.Kind == scalar.Decimal) &&
		from.Scale <= to.Scale:
		power := scalar.Pow10(int(to.Scale - from.Scale))
		if !power.Fits64() {
			return operand{}, false
		}
		a := c.compile(call.Args[0])
		if power == scalar.Int128Of(1) {
			return a, true
		}
		unit := power.Int64()
		rng, exact := callRange(call, a)
		by := operand{reg: c.constant(unit)}
		if exact {
			return c.binary(a, by, rng, wholeKernels["mul"]), true
		}
		return c.binary(a, by, rng, checkedKernels["mul"]), true
	}
	return operand{}, false
}

// words compiles the functions that make wide decimals of their words, and
// words of wide decimals. Those that do not fit 64 bits are flagged, as all
// decimals are.
func (c *exprCompiler) words(name string, call *queryplan.Call) operand {
	a := c.compile(call.Args[0])
	switch name {
	case "high":
		return c.binary(a, a, interval.All, func(_ *Machine, dst, a, _ []int64) {
			for i, w := range a {
				dst[i] = w >> 63
			}
		})
	case "low":
		return c.binary(a, a, interval.All, func(_ *Machine, dst, a, _ []int64) {
			for i, w := range a {
				dst[i] = w ^ math.MinInt64
			}
		})
	}
	b := c.compile(call.Args[1])
	rng, _ := callRange(call, a, b)
	return c.binary(a, b, rng, func(m *Machine, dst, high, low []int64) {
		for i, w := range low {
			w ^= math.MinInt64
			if high[i] != w>>63 {
				m.flag(i, inexact)
			}
			dst[i] = w
		}
	})
}
