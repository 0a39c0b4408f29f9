package stats

import (
	"math"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Moments are the mean and the standard deviation of a column of numbers:
// decimals as the numbers that they stand for, datetimes in microseconds.
type Moments struct{ Mean, Deviation float64 }

// below returns the share of values less than x under a normal distribution.
func (m Moments) below(x float64) float64 {
	if m.Deviation <= 0 {
		switch {
		case m.Mean < x:
			return 1
		case m.Mean > x:
			return 0
		}
		return 0.5
	}
	return 0.5 * math.Erfc((m.Mean-x)/m.Deviation/math.Sqrt2)
}

// moments returns the moments of an expression over a result: of a column,
// those that are known or those of its sample or range; of a function, those
// for independent operands.
func (e *Estimate) moments(x queryplan.Expr) (m Moments, ok bool) {
	switch x := x.(type) {
	case *queryplan.Const:
		v, ok := quantity(x.Value)
		return Moments{Mean: v}, ok
	case *queryplan.ColRef:
		c := e.column(x.Col.Name)
		if c.HasMoments {
			return c.Moments, true
		}
		if m, ok := e.sampledMoments(x); ok {
			return m, true
		}
		if !c.HasRange {
			return m, false
		}
		unit := math.Pow10(-int(x.Col.Type.Scale))
		return Moments{(c.Min + c.Max) / 2 * unit, (c.Max - c.Min) * unit / math.Sqrt(12)}, true
	case *queryplan.Call:
		var args []Moments
		for _, a := range x.Args {
			m, ok := e.moments(a)
			if !ok {
				return m, false
			}
			args = append(args, m)
		}
		return applied(x.Func.Name, args)
	}
	return m, false
}

// applied returns the moments of a function's results.
func applied(name string, args []Moments) (m Moments, ok bool) {
	switch {
	case name == "convert":
		return args[0], true
	case name == "neg":
		return Moments{-args[0].Mean, args[0].Deviation}, true
	case len(args) != 2:
		return m, false
	}
	x, y := args[0], args[1]
	switch name {
	case "add":
		return Moments{x.Mean + y.Mean, math.Hypot(x.Deviation, y.Deviation)}, true
	case "sub":
		return Moments{x.Mean - y.Mean, math.Hypot(x.Deviation, y.Deviation)}, true
	case "mul":
		second := (x.Deviation*x.Deviation + x.Mean*x.Mean) *
			(y.Deviation*y.Deviation + y.Mean*y.Mean)
		mean := x.Mean * y.Mean
		return Moments{mean, math.Sqrt(max(0, second-mean*mean))}, true
	case "div":
		if y.Deviation == 0 && y.Mean != 0 {
			return Moments{x.Mean / y.Mean, x.Deviation / math.Abs(y.Mean)}, true
		}
	}
	return m, false
}

// sampledMoments returns the moments of a column of numbers over the rows of a
// sample.
func (e *Estimate) sampledMoments(x *queryplan.ColRef) (m Moments, ok bool) {
	for _, v := range e.views {
		over := v.expr(x)
		if over == nil {
			continue
		}
		of := v.table.Sample.evaluate(over)
		rows := v.rows
		if v.n < fewValues {
			rows = of.has
		}
		n, sum, squares := 0.0, 0.0, 0.0
		for i, q := range of.quantities {
			if rows.has(i) && of.has.has(i) {
				n, sum, squares = n+1, sum+q, squares+q*q
			}
		}
		if n < fewValues {
			return m, false
		}
		m.Mean = sum / n
		m.Deviation = math.Sqrt(max(0, squares/n-m.Mean*m.Mean))
		return m, true
	}
	return m, false
}

// aggregated estimates a result of an aggregate whose groups have tuples tuples
// on average. Their number has a Poisson distribution, so a total is the sum of
// a random number of terms.
func (e *Estimate) aggregated(a queryplan.Agg, in queryplan.Column, tuples float64) ColumnEstimate {
	out := ColumnEstimate{Distinct: math.Inf(1)}
	if a.Fn == queryplan.Count {
		out.Moments, out.HasMoments = Moments{tuples, math.Sqrt(tuples)}, true
		out.Distinct = 1 + 8*math.Sqrt(tuples)
		return out
	}
	m, ok := e.moments(&queryplan.ColRef{Col: in})
	switch a.Fn {
	case queryplan.Min, queryplan.Max:
		out = e.column(a.In)
		out.HasMoments = false
	case queryplan.Total:
		out.Moments = Moments{m.Mean * tuples, math.Sqrt(tuples) * math.Hypot(m.Mean, m.Deviation)}
		out.HasMoments = ok
	case queryplan.Avg:
		out.Moments, out.HasMoments = Moments{m.Mean, m.Deviation / math.Sqrt(max(1, tuples))}, ok
	}
	return out
}

// compared estimates the share of tuples for which a comparison of two
// expressions holds, from their moments.
func (e *Estimate) compared(cmp string, x, y queryplan.Expr) (share float64, ok bool) {
	switch cmp {
	case "gt", "ge":
		x, y = y, x
	case "lt", "le":
	default:
		return 0, false
	}
	a, okA := e.moments(x)
	b, okB := e.moments(y)
	if !okA || !okB {
		return 0, false
	}
	difference, _ := applied("sub", []Moments{a, b})
	const least = 1e-4 // the tails of what is not normal are longer
	return min(max(difference.below(0), least), 1-least), true
}

// quantity returns the number that a value stands for.
func quantity(v scalar.Value) (float64, bool) {
	x, ok := number(v)
	if v.Type.Kind == scalar.Decimal {
		x *= math.Pow10(-int(v.Type.Scale))
	}
	return x, ok
}
