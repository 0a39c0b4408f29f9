package portable

import (
	"math"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// ranger bounds the columns of a plan's variables by abstract interpretation
// over intervals (Cousot and Cousot, POPL 1977): bounds of loaded columns are
// propagated through the commands to a fixpoint, a bound that keeps growing is
// widened to that of its type, and two more rounds narrow what was widened too
// far.
type ranger struct {
	domains *domains
	vars    map[*queryplan.Var][]interval.Interval
	growths map[*queryplan.Var][]int
}

// maxGrowths is how often a bound may grow before it is widened. Bounds that
// only come from loaded columns settle long before.
const maxGrowths = 16

// columnRange bounds the words of a loaded column.
func columnRange(c *store.Column, dom *domain) interval.Interval {
	if dom == nil || c == nil || c.Len() == 0 {
		return prepare.Bounds(c)
	}
	return dom.find().bounds()
}

func findRanges(p *queryplan.Plan, ds *domains, column func(v *queryplan.Var, i int) *store.Column) map[*queryplan.Var][]interval.Interval {
	r := &ranger{domains: ds, vars: map[*queryplan.Var][]interval.Interval{}, growths: map[*queryplan.Var][]int{}}
	for _, v := range p.Vars {
		r.vars[v] = make([]interval.Interval, len(v.Cols))
		r.growths[v] = make([]int, len(v.Cols))
		for i := range v.Cols {
			r.vars[v][i] = columnRange(column(v, i), ds.vars[v][i])
		}
	}
	for changed := true; changed; {
		changed = false
		r.eachFilled(p, func(v *queryplan.Var, cols []interval.Interval) {
			for i, c := range cols {
				old := r.vars[v][i]
				grown := old.Union(c)
				if grown == old {
					continue
				}
				changed = true
				if r.growths[v][i]++; r.growths[v][i] > maxGrowths {
					grown = old.Widened(grown, r.typeRange(v, i))
				}
				r.vars[v][i] = grown
			}
		})
	}
	for range 2 {
		narrowed := map[*queryplan.Var][]interval.Interval{}
		r.eachFilled(p, func(v *queryplan.Var, cols []interval.Interval) {
			if narrowed[v] == nil {
				narrowed[v] = make([]interval.Interval, len(cols))
				for i := range cols {
					narrowed[v][i] = interval.None
				}
			}
			for i, c := range cols {
				narrowed[v][i] = narrowed[v][i].Union(c)
			}
		})
		for v, cols := range narrowed {
			r.vars[v] = cols
		}
	}
	return r.vars
}

func (r *ranger) typeRange(v *queryplan.Var, i int) interval.Interval {
	if d := r.domains.vars[v][i]; d != nil {
		return d.find().bounds()
	}
	return interval.OfType(v.Cols[i].Type)
}

// eachFilled calls f with the bounds of what each command adds to a variable.
func (r *ranger) eachFilled(p *queryplan.Plan, f func(v *queryplan.Var, cols []interval.Interval)) {
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			v, n := queryplan.CommandVar(c), queryplan.CommandNode(c)
			if v == nil || n == nil {
				continue
			}
			cols := r.node(n)
			out := make([]interval.Interval, len(v.Cols))
			for i, c := range n.Columns() {
				out[i] = cols[c.Name]
			}
			f(v, out)
		}
	}
}

// node returns the bounds of an operator's result.
func (r *ranger) node(n queryplan.Node) map[string]interval.Interval {
	switch n := n.(type) {
	case *queryplan.Scan:
		out := map[string]interval.Interval{}
		for i, name := range n.Names {
			if name != "" {
				out[name] = r.vars[n.Var][i]
			}
		}
		return out
	case *queryplan.Values:
		out := map[string]interval.Interval{}
		for i, c := range n.Cols {
			dom := r.domains.values[n][i]
			bound := interval.None
			for _, row := range n.Rows {
				if dom != nil {
					bound = dom.find().bounds()
					break
				}
				w := int64(row[i].Bits())
				bound = bound.Union(interval.Of(w))
			}
			out[c.Name] = bound
		}
		return out
	case *queryplan.Filter:
		out := r.node(n.Input)
		refine(n.Cond, out)
		return out
	case *queryplan.Map:
		in := r.node(n.Input)
		out := make(map[string]interval.Interval, len(in)+len(n.Exprs))
		for name, b := range in {
			out[name] = b
		}
		for _, e := range n.Exprs {
			if d := r.domains.exprs[e.Expr]; d != nil {
				out[e.Name] = d.find().bounds()
			} else {
				out[e.Name], _ = exprRange(e.Expr, in)
			}
		}
		return out
	case *queryplan.Project:
		in, out := r.node(n.Input), map[string]interval.Interval{}
		for _, c := range n.Cols {
			out[c.To] = in[c.From]
		}
		return out
	case *queryplan.Join:
		out := r.node(n.Left)
		if n.Kind == queryplan.Anti {
			return out
		}
		for name, b := range r.node(n.Right) {
			if have, ok := out[name]; ok {
				out[name] = have.Intersect(b)
			} else if n.Kind == queryplan.Inner {
				out[name] = b
			}
		}
		return out
	case *queryplan.Aggregate:
		in, out := r.node(n.Input), map[string]interval.Interval{}
		for _, name := range n.By {
			out[name] = in[name]
		}
		for _, a := range n.Aggs {
			out[a.Out.Name] = interval.Aggregate(a.Fn.String(), a.Out.Type, in[a.In])
		}
		return out
	case *queryplan.Union:
		out := r.node(n.Nodes[0])
		for _, u := range n.Nodes[1:] {
			for name, b := range r.node(u) {
				out[name] = out[name].Union(b)
			}
		}
		return out
	case *queryplan.MultiJoin:
		out := r.node(n.Nodes[0])
		for _, in := range n.Nodes[1:] {
			for name, b := range r.node(in) {
				if have, ok := out[name]; ok {
					b = have.Intersect(b)
				}
				out[name] = b
			}
		}
		return out
	case *queryplan.Seq:
		out := r.node(n.Input)
		out[n.Index] = interval.Interval{Lo: 0, Hi: math.MaxInt64}
		return out
	default: // Dedup and TopK
		return r.node(n.Inputs()[0])
	}
}

// exprRange bounds the words of an expression. fits is false for a decimal whose
// values may leave 64 bits; the bound is that of those which do not.
func exprRange(e queryplan.Expr, cols map[string]interval.Interval) (bound interval.Interval, fits bool) {
	switch e := e.(type) {
	case *queryplan.ColRef:
		return cols[e.Col.Name], true
	case *queryplan.Const:
		if e.Value.Type.Kind == scalar.String || !e.Value.FitsWord() {
			return interval.OfType(e.Value.Type), e.Value.FitsWord()
		}
		return interval.Of(int64(e.Value.Bits())), true
	}
	call := e.(*queryplan.Call)
	decimal := call.Result.Kind == scalar.Decimal
	types := make([]scalar.Type, len(call.Args))
	bounds := make([]interval.Interval, len(call.Args))
	for i, a := range call.Args {
		types[i] = a.Type()
		if bounds[i], fits = exprRange(a, cols); !fits {
			return interval.OfType(call.Result), !decimal
		}
	}
	if call.Func.Name == "datetime:part" {
		if k, ok := call.Args[1].(*queryplan.Const); ok {
			if unit, ok := scalar.ParseUnit(k.Value.Str()); ok {
				return interval.DatetimePart(unit, bounds[0]), true
			}
		}
	}
	bound, exact := interval.Call(call.Func, call.Result, types, bounds)
	return bound, exact || !decimal
}

// refine narrows the bounds of columns that a condition compares with
// constants.
func refine(cond queryplan.Expr, cols map[string]interval.Interval) {
	for _, e := range queryplan.Conjuncts(cond) {
		if name, bound, ok := columnBound(e); ok {
			if have, ok := cols[name]; ok {
				cols[name] = have.Intersect(bound)
			}
		}
	}
}

// columnBound recognises a comparison of a column with a constant of a type
// whose words order as integers do, and returns the words for which it holds.
func columnBound(e queryplan.Expr) (column string, bound interval.Interval, ok bool) {
	call, isCall := e.(*queryplan.Call)
	if !isCall || len(call.Args) != 2 || call.Args[0].Type() != call.Args[1].Type() {
		return "", bound, false
	}
	name := call.Func.Name
	col, isCol := call.Args[0].(*queryplan.ColRef)
	k, isConst := call.Args[1].(*queryplan.Const)
	if !isCol || !isConst {
		col, isCol = call.Args[1].(*queryplan.ColRef)
		k, isConst = call.Args[0].(*queryplan.Const)
		name = interval.Mirrored(name)
	}
	if !isCol || !isConst || !interval.Orders(col.Col.Type) {
		return "", bound, false
	}
	bound, ok = interval.Comparison(name, int64(k.Value.Bits()))
	return col.Col.Name, bound, ok && k.Value.FitsWord()
}
