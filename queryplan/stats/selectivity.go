package stats

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Filtered estimates a result after conditions that all have to hold.
func Filtered(in *Estimate, conds []queryplan.Expr) *Estimate { return filtered(in, conds) }

// filtered multiplies the conditions' selectivities, as if they were
// independent, except that the bounds of one column narrow one range: two ends
// of an interval are not two thirds of a third. Conditions on columns of one
// table are tried on its sample, together, so that it does not matter how they
// depend on each other.
func filtered(in *Estimate, conds []queryplan.Expr) *Estimate {
	factor := 1.0
	cols := map[string]ColumnEstimate{} // what conditions say of columns
	views := slices.Clone(in.views)
	expected := make([]float64, len(views)) // without a look at the rows
	for i := range expected {
		expected[i] = 1
	}
	for _, cond := range conds {
		to := &factor
		for i, v := range views {
			if over := v.expr(cond); over != nil {
				views[i] = v.filter(over)
				to = &expected[i]
				break
			}
		}
		col, cmp, value, ok := comparison(cond)
		if !ok {
			*to *= selectivity(in, cond)
			continue
		}
		c, seen := cols[col]
		if !seen {
			c = in.column(col)
		}
		narrowed, part := narrow(c, cmp, value)
		if c.HasMoments {
			if x, y := cond.(*queryplan.Call).Args[0], cond.(*queryplan.Call).Args[1]; !seen {
				if share, ok := in.compared(cond.(*queryplan.Call).Func.Name, x, y); ok {
					part = share
				}
			}
		}
		*to *= part
		cols[col] = narrowed
	}
	for i, v := range views {
		if v != in.views[i] {
			factor *= share(in.views[i], v, expected[i])
		}
	}
	out := &Estimate{Rows: in.Rows * factor, Cols: in.copyCols(factor), views: views}
	for name, c := range cols {
		c.Distinct, c.from = min(c.Distinct, out.column(name).Distinct), out.column(name).from
		out.Cols[name] = c
	}
	return out
}

// comparison recognises a comparison of a column with a constant.
func comparison(e queryplan.Expr) (col, cmp string, value scalar.Value, ok bool) {
	call, isCall := e.(*queryplan.Call)
	if !isCall || len(call.Args) != 2 {
		return "", "", value, false
	}
	mirrored := map[string]string{"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge",
		"ge": "le"}
	cmp = call.Func.Name
	if mirrored[cmp] == "" {
		return "", "", value, false
	}
	x, y := call.Args[0], call.Args[1]
	if _, constFirst := x.(*queryplan.Const); constFirst {
		x, y, cmp = y, x, mirrored[cmp]
	}
	ref, isRef := x.(*queryplan.ColRef)
	c, isConst := y.(*queryplan.Const)
	if !isRef || !isConst {
		return "", "", value, false
	}
	return ref.Col.Name, cmp, c.Value, true
}

// narrow applies a comparison to a column and returns the share of the tuples
// that pass: by the range if it is known, else by the defaults.
func narrow(c ColumnEstimate, cmp string, value scalar.Value) (ColumnEstimate, float64) {
	x, isNumber := number(value)
	known := c.HasRange && isNumber
	switch cmp {
	case "eq":
		if known && (x < c.Min || x > c.Max) {
			return ColumnEstimate{Distinct: 1}, 0
		}
		out := ColumnEstimate{Distinct: 1}
		if known {
			out.Min, out.Max, out.HasRange = x, x, true
		}
		return out, c.shareOf(value)
	case "ne":
		out := c
		out.Distinct = max(1, c.Distinct-1)
		return out, 1 - min(c.shareOf(value), 1-equalShare)
	}
	if !known {
		c.Distinct = max(1, c.Distinct*rangeShare)
		return c, rangeShare
	}
	out, width := c, c.Max-c.Min
	out.Top = nil
	if cmp == "lt" || cmp == "le" {
		out.Max = min(c.Max, x)
	} else {
		out.Min = max(c.Min, x)
	}
	share := 1.0
	switch {
	case out.Max < out.Min:
		share = 0
	case width > 0:
		share = (out.Max - out.Min) / width
	case cmp == "lt" || cmp == "gt":
		share = otherShare
	}
	// A range that seems empty may only be narrower than the statistics see.
	share = max(share, min(1, 0.5/max(1, c.Distinct)))
	out.Distinct = max(1, c.Distinct*share)
	return out, share
}

// selectivity estimates a condition that is no comparison with a constant.
func selectivity(in *Estimate, e queryplan.Expr) float64 {
	call, ok := e.(*queryplan.Call)
	if !ok {
		if c, isConst := e.(*queryplan.Const); isConst && c.Value.Bool() {
			return 1
		} else if isConst {
			return 0
		}
		return 0.5
	}
	switch call.Func.Name {
	case "and":
		return filtered(in, queryplan.Conjuncts(e)).Rows / max(1, in.Rows)
	case "or":
		a, b := conditionShare(in, call.Args[0]), conditionShare(in, call.Args[1])
		return a + b - a*b
	case "not":
		return 1 - conditionShare(in, call.Args[0])
	case "holds":
		return conditionShare(in, call.Args[0])
	case "eq":
		// The column with more values decides.
		d := 1.0
		for _, a := range call.Args {
			d = max(d, exprEstimate(in, a).Distinct)
		}
		return max(1/d, equalShare*equalShare)
	case "ne":
		return 1 - equalShare
	case "lt", "le", "gt", "ge":
		if share, ok := in.compared(call.Func.Name, call.Args[0], call.Args[1]); ok {
			return share
		}
		return rangeShare
	case "string:like", "string:matches":
		return equalShare
	case "string:notlike":
		return 1 - equalShare
	}
	return otherShare
}

func conditionShare(in *Estimate, e queryplan.Expr) float64 {
	if in.Rows <= 0 {
		return otherShare
	}
	return filtered(in, queryplan.Conjuncts(e)).Rows / in.Rows
}

// number returns the number that a value stands for in a range: the unscaled
// one of a decimal, microseconds of a datetime.
func number(v scalar.Value) (float64, bool) {
	switch v.Type.Kind {
	case scalar.Int, scalar.Datetime, scalar.Boolean:
		return float64(v.Int()), true
	case scalar.Uint:
		return float64(v.Bits()), true
	case scalar.Float:
		return v.Float(), true
	case scalar.Decimal:
		return v.Int128().Float64(), true
	}
	return 0, false
}
