package portable

import (
	"math"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// ranger bounds the columns of a plan's variables by abstract interpretation
// over intervals (Cousot and Cousot, POPL 1977): bounds of loaded columns are
// propagated through the commands to a fixpoint, a bound that keeps growing is
// widened to that of its type, and two more rounds narrow what was widened too
// far.
type ranger struct {
	domains *domains
	vars    map[*queryplan.Var][]interval
	growths map[*queryplan.Var][]int
}

// maxGrowths is how often a bound may grow before it is widened. Bounds that
// only come from loaded columns settle long before.
const maxGrowths = 16

// columnRange bounds the words of a loaded column.
func columnRange(c *store.Column, dom *domain) interval {
	switch {
	case c == nil || c.Len() == 0:
		return noWords
	case dom != nil:
		return dom.find().bounds()
	case c.Width == 0:
		return interval{c.Base, c.Base}
	case c.Type.Kind == scalar.Float:
		return allWords
	case c.Stats.Min > c.Stats.Max:
		// Uints on both sides of the sign bit.
		return allWords
	}
	return interval{c.Stats.Min, c.Stats.Max}
}

func findRanges(p *queryplan.Plan, ds *domains, column func(v *queryplan.Var, i int) *store.Column) map[*queryplan.Var][]interval {
	r := &ranger{domains: ds, vars: map[*queryplan.Var][]interval{}, growths: map[*queryplan.Var][]int{}}
	for _, v := range p.Vars {
		r.vars[v] = make([]interval, len(v.Cols))
		r.growths[v] = make([]int, len(v.Cols))
		for i := range v.Cols {
			r.vars[v][i] = columnRange(column(v, i), ds.vars[v][i])
		}
	}
	for changed := true; changed; {
		changed = false
		r.eachFilled(p, func(v *queryplan.Var, cols []interval) {
			for i, c := range cols {
				old := r.vars[v][i]
				grown := old.union(c)
				if grown == old {
					continue
				}
				changed = true
				if r.growths[v][i]++; r.growths[v][i] > maxGrowths {
					grown = widened(old, grown, r.typeRange(v, i))
				}
				r.vars[v][i] = grown
			}
		})
	}
	for range 2 {
		narrowed := map[*queryplan.Var][]interval{}
		r.eachFilled(p, func(v *queryplan.Var, cols []interval) {
			if narrowed[v] == nil {
				narrowed[v] = make([]interval, len(cols))
				for i := range cols {
					narrowed[v][i] = noWords
				}
			}
			for i, c := range cols {
				narrowed[v][i] = narrowed[v][i].union(c)
			}
		})
		for v, cols := range narrowed {
			r.vars[v] = cols
		}
	}
	return r.vars
}

// widened moves the bounds that grew to those of the type.
func widened(old, grown, full interval) interval {
	if grown.lo < old.lo {
		grown.lo = full.lo
	}
	if grown.hi > old.hi {
		grown.hi = full.hi
	}
	return grown
}

func (r *ranger) typeRange(v *queryplan.Var, i int) interval {
	if d := r.domains.vars[v][i]; d != nil {
		return d.find().bounds()
	}
	return typeRange(v.Cols[i].Type)
}

// eachFilled calls f with the bounds of what each command adds to a variable.
func (r *ranger) eachFilled(p *queryplan.Plan, f func(v *queryplan.Var, cols []interval)) {
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			v, n := queryplan.CommandVar(c), queryplan.CommandNode(c)
			if v == nil || n == nil {
				continue
			}
			cols := r.node(n)
			out := make([]interval, len(v.Cols))
			for i, c := range n.Columns() {
				out[i] = cols[c.Name]
			}
			f(v, out)
		}
	}
}

// node returns the bounds of an operator's result.
func (r *ranger) node(n queryplan.Node) map[string]interval {
	switch n := n.(type) {
	case *queryplan.Scan:
		out := map[string]interval{}
		for i, name := range n.Names {
			if name != "" {
				out[name] = r.vars[n.Var][i]
			}
		}
		return out
	case *queryplan.Values:
		out := map[string]interval{}
		for i, c := range n.Cols {
			dom := r.domains.values[n][i]
			bound := noWords
			for _, row := range n.Rows {
				if dom != nil {
					bound = dom.find().bounds()
					break
				}
				w := int64(row[i].Bits())
				bound = bound.union(interval{w, w})
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
		out := make(map[string]interval, len(in)+len(n.Exprs))
		for name, b := range in {
			out[name] = b
		}
		for _, e := range n.Exprs {
			if d := r.domains.exprs[e.Expr]; d != nil {
				out[e.Name] = d.find().bounds()
			} else {
				out[e.Name] = exprRange(e.Expr, in)
			}
		}
		return out
	case *queryplan.Project:
		in, out := r.node(n.Input), map[string]interval{}
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
				out[name] = have.intersect(b)
			} else if n.Kind == queryplan.Inner {
				out[name] = b
			}
		}
		return out
	case *queryplan.Aggregate:
		in, out := r.node(n.Input), map[string]interval{}
		for _, name := range n.By {
			out[name] = in[name]
		}
		for _, a := range n.Aggs {
			out[a.Out.Name] = aggRange(a, in[a.In])
		}
		return out
	case *queryplan.Union:
		out := r.node(n.Nodes[0])
		for _, u := range n.Nodes[1:] {
			for name, b := range r.node(u) {
				out[name] = out[name].union(b)
			}
		}
		return out
	case *queryplan.MultiJoin:
		out := r.node(n.Nodes[0])
		for _, in := range n.Nodes[1:] {
			for name, b := range r.node(in) {
				if have, ok := out[name]; ok {
					b = have.intersect(b)
				}
				out[name] = b
			}
		}
		return out
	case *queryplan.Seq:
		out := r.node(n.Input)
		out[n.Index] = interval{0, math.MaxInt64}
		return out
	default: // Dedup and TopK
		return r.node(n.Inputs()[0])
	}
}

// aggRange bounds the result of an aggregation of words in the given range.
func aggRange(a queryplan.Agg, in interval) interval {
	switch a.Fn {
	case queryplan.Count:
		return interval{0, math.MaxInt64}
	case queryplan.Min, queryplan.Max:
		return in
	}
	return typeRange(a.Out.Type)
}

// exprRange bounds an expression that is no string.
func exprRange(e queryplan.Expr, cols map[string]interval) interval {
	switch e := e.(type) {
	case *queryplan.ColRef:
		return cols[e.Col.Name]
	case *queryplan.Const:
		w := int64(e.Value.Bits())
		return interval{w, w}
	}
	call := e.(*queryplan.Call)
	full := typeRange(call.Result)
	for _, a := range call.Args {
		if k := a.Type().Kind; k != scalar.Int && k != scalar.Decimal {
			return full
		}
	}
	if call.Result.Kind != scalar.Int && call.Result.Kind != scalar.Decimal {
		return full
	}
	switch name := call.Func.Name; name {
	case "add", "sub", "mul", "min", "max":
		scale := call.Args[0].Type().Scale
		if name == "mul" {
			scale += call.Args[1].Type().Scale
		} else if call.Args[1].Type().Scale != scale {
			return full
		}
		if scale != call.Result.Scale {
			return full
		}
		b, safe := wholeRange(name, exprRange(call.Args[0], cols), exprRange(call.Args[1], cols))
		if safe && (b.empty() || b.lo >= full.lo && b.hi <= full.hi) {
			return b
		}
	case "convert":
		from := call.Args[0].Type()
		if from.Scale > call.Result.Scale {
			return full
		}
		unit := scalar.Pow10(int(call.Result.Scale - from.Scale)).Int64()
		b, safe := wholeRange("mul", exprRange(call.Args[0], cols), interval{unit, unit})
		if safe && (b.empty() || b.lo >= full.lo && b.hi <= full.hi) {
			return b
		}
	}
	return full
}

// refine narrows the bounds of columns that a condition compares with
// constants.
func refine(cond queryplan.Expr, cols map[string]interval) {
	for _, e := range queryplan.Conjuncts(cond) {
		if name, bound, ok := columnBound(e); ok {
			if have, ok := cols[name]; ok {
				cols[name] = have.intersect(bound)
			}
		}
	}
}

// columnBound recognises a comparison of a column with a constant of a type
// whose words order as integers do, and returns the words for which it holds.
func columnBound(e queryplan.Expr) (column string, bound interval, ok bool) {
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
		name = map[string]string{"eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}[name]
	}
	if !isCol || !isConst {
		return "", bound, false
	}
	switch col.Col.Type.Kind {
	case scalar.Int, scalar.Decimal, scalar.Datetime, scalar.Boolean:
	default:
		return "", bound, false
	}
	bound, ok = comparisonBound(name, int64(k.Value.Bits()))
	return col.Col.Name, bound, ok && k.Value.Fits()
}

// comparisonBound returns the words x for which the comparison `x name w` holds.
func comparisonBound(name string, w int64) (interval, bool) {
	switch name {
	case "eq":
		return interval{w, w}, true
	case "le":
		return interval{math.MinInt64, w}, true
	case "ge":
		return interval{w, math.MaxInt64}, true
	case "lt":
		if w == math.MinInt64 {
			return noWords, true
		}
		return interval{math.MinInt64, w - 1}, true
	case "gt":
		if w == math.MaxInt64 {
			return noWords, true
		}
		return interval{w + 1, math.MaxInt64}, true
	}
	return interval{}, false
}
