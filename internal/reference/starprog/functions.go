package starprog

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// function is a function of the language: its name or infix form in LogiQL, and
// how SQL says the same of arguments that are written already.
type function struct {
	name, infix string
	sql         func(e *Expr, args []string) string
}

// functions are those that the generator uses. Divisors of zero become NULL,
// for which no condition of SQL holds: that is a value that does not exist.
var functions = map[string]function{
	"add":    {infix: "+", sql: arithmetic("+")},
	"sub":    {infix: "-", sql: arithmetic("-")},
	"mul":    {infix: "*", sql: arithmetic("*")},
	"div":    {infix: "/", sql: quotient},
	"negate": {sql: template("(-%s)")},
	"mod":    {name: "int:mod", sql: template("(%s %% nullif(%s, 0))")},
	"least":  {name: "int:min", sql: template("least(%s, %s)")},
	"concat": {infix: "+", sql: template("(%s || %s)")},
	"length": {name: "string:length", sql: template("length(%s)")},
	"upper":  {name: "string:upper", sql: template("upper(%s)")},
	"left":   {name: "string:substring", sql: left},
	"year":   {name: "datetime:part", sql: template("date_part('year', %s)")},
	"month":  {name: "datetime:part", sql: template("date_part('month', %s)")},
	"months": {name: "datetime:add", sql: template("(%s + to_months(%s::INTEGER))")},
	"days":   {name: "datetime:add", sql: template("(%s + to_days(%s::INTEGER))")},
}

// template makes SQL of a format with a place for each argument that it needs.
func template(format string) func(*Expr, []string) string {
	places := strings.Count(format, "%s")
	return func(_ *Expr, args []string) string {
		values := make([]any, places)
		for i := range values {
			values[i] = args[i]
		}
		return fmt.Sprintf(format, values...)
	}
}

// arithmetic computes decimals with 38 digits, so that DuckDB derives the
// scales that LogiQL has.
func arithmetic(op string) func(*Expr, []string) string {
	return func(e *Expr, args []string) string {
		if e.Type.Kind != scalar.Decimal {
			return fmt.Sprintf("wrap64(CAST(%s AS HUGEINT) %s CAST(%s AS HUGEINT))", args[0], op,
				args[1])
		}
		return fmt.Sprintf("(%s %s %s)", widened(args[0], e.Args[0].Type), op,
			widened(args[1], e.Args[1].Type))
	}
}

// widened is a decimal of 38 digits with the scale of the value's type.
func widened(sql string, t scalar.Type) string {
	return fmt.Sprintf("CAST(%s AS DECIMAL(38,%d))", sql, t.Scale)
}

// quotient truncates integers and rounds decimals half away from zero.
func quotient(e *Expr, args []string) string {
	if e.Type.Kind != scalar.Decimal {
		return fmt.Sprintf("(%s // nullif(%s, 0))", args[0], args[1])
	}
	a, b := e.Args[0].Type, e.Args[1].Type
	up := int(e.Type.Scale) + int(b.Scale) - int(a.Scale)
	return rounded(unscaled(args[0], a)+" * "+powerOfTen(up), unscaled(args[1], b), e.Type.Scale)
}

// unscaled is a decimal's digits as an integer.
func unscaled(sql string, t scalar.Type) string {
	return fmt.Sprintf("CAST(%s * %s AS HUGEINT)", widened(sql, t), powerOfTen(int(t.Scale)))
}

func powerOfTen(n int) string { return "1" + strings.Repeat("0", n) }

// rounded is the decimal whose digits are the quotient of two integers, rounded
// half away from zero. div_round is a macro of the session.
func rounded(dividend, divisor string, scale uint8) string {
	q := fmt.Sprintf("div_round(%s, %s)", dividend, divisor)
	if scale == 0 {
		return fmt.Sprintf("CAST(%s AS DECIMAL(38,0))", q)
	}
	return fmt.Sprintf("(CAST(%s AS DECIMAL(%d,0)) * CAST(0.%s1 AS DECIMAL(%d,%d)))", q, 38-scale,
		strings.Repeat("0", int(scale)-1), scale, scale)
}

// divRound is the macro that rounded calls, over integers of 128 bits.
const divRound = `create or replace macro div_round(n, d) as case when d = 0 then null else
	sign(n) * sign(d) * ((2 * abs(n::HUGEINT) + abs(d::HUGEINT)) // (2 * abs(d::HUGEINT))) end`

// wrap64 is the macro for integers that wrap around in 64 bits.
const wrap64 = `create or replace macro wrap64(x) as cast(case
	when x between -9223372036854775808 and 9223372036854775807 then x
	else ((x + 9223372036854775808) % 18446744073709551616 + 18446744073709551616)
		% 18446744073709551616
		- 9223372036854775808 end as BIGINT)`

// left is the beginning of a string; SQL counts characters from 1.
func left(e *Expr, args []string) string {
	return fmt.Sprintf("substring(%s, 1, %s)", args[0], args[2])
}

// call is an application of a function, or nil where it has none of these
// types.
func call(name string, args ...*Expr) *Expr {
	e := &Expr{Kind: Call, Name: name, Args: args, Domain: computed}
	first := args[0].Type
	switch name {
	case "add", "sub", "mul", "div":
		e.Type = numberType(name, first, args[1].Type)
	case "mod", "length", "year", "month", "least":
		e.Type = scalar.IntType
	default:
		e.Type = first
	}
	switch name {
	case "year", "month":
		e.Args = append(args, constant(scalar.OfString(name)))
	case "months", "days":
		e.Args = append(args, constant(scalar.OfString(name)))
	case "left":
		e.Args = []*Expr{args[0], constant(scalar.OfInt(scalar.IntType, 0)), args[1]}
	}
	return e
}

// numberType is the type of a result of arithmetic: + and - have the larger
// scale, * adds scales, and / has six digits or more.
func numberType(op string, a, b scalar.Type) scalar.Type {
	if a.Kind == scalar.Int && b.Kind == scalar.Int {
		return scalar.IntType
	}
	scale := max(a.Scale, b.Scale)
	switch op {
	case "mul":
		scale = a.Scale + b.Scale
	case "div":
		scale = max(6, scale)
	}
	if a.IsWide() || b.IsWide() {
		return scalar.WideDecimalOf(scale)
	}
	return scalar.DecimalOf(scale)
}

// computed is the domain of what no column has.
const computed = -1

func constant(v scalar.Value) *Expr {
	return &Expr{Kind: Constant, Type: v.Type, Value: v, Domain: computed}
}
