package columns

import (
	"math"

	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Positions bounds the positions of rows.
var Positions = interval.Interval{Lo: 0, Hi: work.MaxPositions - 1}

// findRanges bounds the columns of a plan's variables.
func findRanges(p *queryplan.Plan, dicts *dictionaries,
	stored map[*queryplan.Var][]*store.Column) bounds.Columns[*queryplan.Var] {
	loaded := bounds.Columns[*queryplan.Var]{}
	for _, v := range p.Vars {
		loaded[v] = bounds.None(len(v.Cols))
		for i, c := range stored[v] {
			loaded[v][i] = prepare.Bounds(c)
			if d := dicts.Vars[v][i]; d != nil && !loaded[v][i].Empty() {
				loaded[v][i] = d.Bounds()
			}
		}
	}
	return bounds.Solve(&ranger{plan: p, dicts: dicts}, loaded)
}

// ranger is the analysis of bounds.
type ranger struct {
	plan  *queryplan.Plan
	dicts *dictionaries
	vars  bounds.Columns[*queryplan.Var]
}

// Added visits the bounds of each command's result.
func (r *ranger) Added(cols bounds.Columns[*queryplan.Var],
	visit func(v *queryplan.Var, added []interval.Interval)) {
	r.vars = cols
	for _, c := range r.plan.Commands() {
		v, n := queryplan.CommandVar(c), queryplan.CommandNode(c)
		if v == nil || n == nil {
			continue
		}
		of := follow(r, n)
		added := make([]interval.Interval, len(v.Cols))
		for i, c := range n.Columns() {
			added[i] = of[c.Name]
		}
		visit(v, added)
	}
}

// Widest bounds a column by its type or dictionary.
func (r *ranger) Widest(v *queryplan.Var, i int) interval.Interval {
	if d := r.dicts.Vars[v][i]; d != nil {
		return d.Bounds()
	}
	return interval.OfType(v.Cols[i].Type)
}

func (r *ranger) stored(v *queryplan.Var, i int) interval.Interval { return r.vars[v][i] }

func (r *ranger) constants(n *queryplan.Values, i int) interval.Interval {
	bound := interval.None
	for _, row := range n.Rows {
		if d := r.dicts.Values[n][i]; d != nil {
			return d.Bounds()
		}
		bound = bound.Union(interval.Of(int64(row[i].Bits())))
	}
	return bound
}

func (r *ranger) computed(e queryplan.Expr, cols map[string]interval.Interval) interval.Interval {
	if d := r.dicts.Exprs[e]; d != nil {
		return d.Bounds()
	}
	return ValueOf(e, cols).Bound
}

func (r *ranger) aggregated(a *queryplan.Agg, in interval.Interval) interval.Interval {
	return interval.Aggregate(a.Fn.String(), a.Out.Type, in)
}

func (r *ranger) numbers() interval.Interval { return interval.Interval{Lo: 0, Hi: math.MaxInt64} }

func (r *ranger) positions() interval.Interval { return Positions }

func (r *ranger) filtered(cond queryplan.Expr, cols map[string]interval.Interval) {
	Refine(cond, cols)
}

func (r *ranger) joined(kind queryplan.JoinKind, a, b interval.Interval) interval.Interval {
	if kind == queryplan.Anti {
		return a
	}
	return a.Intersect(b)
}

func (r *ranger) either(a, b interval.Interval) interval.Interval { return a.Union(b) }

// ValueOf bounds the words of an expression, given bounds of columns.
func ValueOf(e queryplan.Expr, cols map[string]interval.Interval) bounds.Value {
	switch e := e.(type) {
	case *queryplan.ColRef:
		return bounds.Value{Bound: cols[e.Col.Name], Fits: true}
	case *queryplan.Const:
		return bounds.Constant(e.Value)
	}
	call := e.(*queryplan.Call)
	args := operandsOf(call)
	for i, a := range call.Args {
		args[i].Value = ValueOf(a, cols)
	}
	return bounds.Call(call.Func, call.Result, args)
}

// operandsOf returns the types and constants among the arguments of a call.
func operandsOf(call *queryplan.Call) []bounds.Operand {
	args := make([]bounds.Operand, len(call.Args))
	for i, a := range call.Args {
		args[i].Type = a.Type()
		if k, ok := a.(*queryplan.Const); ok {
			args[i].Const = &k.Value
		}
	}
	return args
}

// Refine narrows the bounds of columns that a condition compares with
// constants.
func Refine(cond queryplan.Expr, cols map[string]interval.Interval) {
	for _, e := range queryplan.Conjuncts(cond) {
		if name, bound, ok := ColumnBound(e); ok {
			if have, ok := cols[name]; ok {
				cols[name] = have.Intersect(bound)
			}
		}
	}
}

// ColumnBound recognises the comparison of a column with a constant. The bound
// has the words for which it holds.
func ColumnBound(e queryplan.Expr) (column string, bound interval.Interval, ok bool) {
	call, isCall := e.(*queryplan.Call)
	if !isCall {
		return "", bound, false
	}
	place, bound, ok := bounds.Implied(call.Func, operandsOf(call))
	if !ok {
		return "", bound, false
	}
	col, ok := call.Args[place].(*queryplan.ColRef)
	if !ok {
		return "", bound, false
	}
	return col.Col.Name, bound, true
}
