package build

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// planFns are the functions of the plan that aggregate what chosen returns.
var planFns = map[core.AggFn]queryplan.AggFn{
	core.Count: queryplan.Count, core.Total: queryplan.Total,
	core.Min: queryplan.Min, core.Max: queryplan.Max, core.Avg: queryplan.Avg,
	core.CountDistinct: queryplan.Count, core.Median: queryplan.Avg, core.Quantile: queryplan.Min,
}

// chooses reports whether an aggregate takes only some bindings of its body. It
// is then the only aggregation of the rule, because a head has one value.
func chooses(cr *core.Rule) bool {
	return slices.ContainsFunc(cr.Agg, func(a core.AggSpec) bool {
		return a.Fn >= core.CountDistinct
	})
}

// countsDistinct reports whether repeated bindings do not matter.
func countsDistinct(cr *core.Rule) bool {
	return len(cr.Agg) == 1 && cr.Agg[0].Fn == core.CountDistinct
}

// chosen returns the part of a bag that an aggregation takes: of count_distinct
// a set, of the others the tuples whose values have certain ranks in the group.
func (r *rule) chosen(in queryplan.Node, by []string, cr *core.Rule) queryplan.Node {
	a := cr.Agg[0]
	switch isGroup := slices.Contains(by, a.In.Name); {
	case a.Fn == core.CountDistinct && isGroup:
		return &queryplan.Dedup{Input: arrange(in, by)}
	case a.Fn == core.CountDistinct:
		return &queryplan.Dedup{Input: arrange(in, append(slices.Clip(by), a.In.Name))}
	case isGroup:
		return in // all values of a group are equal
	}
	n, rank, size := r.ranked(in, by, cr)
	if a.Fn == core.Quantile {
		return &queryplan.Filter{Input: n, Cond: call("eq", rank, quantileRank(size, a.At))}
	}
	// The ranks in the middle are (size - 1) / 2 and size / 2.
	lower := integer("div", integer("sub", size, number(1)), number(2))
	upper := integer("div", size, number(2))
	return &queryplan.Filter{Input: n,
		Cond: call("or", call("eq", rank, lower), call("eq", rank, upper))}
}

// ranked numbers the values of each group in ascending order from 0, and adds
// the size of the group. Values that are equal are interchangeable, so their
// order has no meaning.
func (r *rule) ranked(in queryplan.Node, by []string, cr *core.Rule,
) (n queryplan.Node, rank, size queryplan.Expr) {
	of := cr.Agg[0].In.Name
	index := queryplan.Column{Name: r.names.Fresh("rank"), Type: scalar.IntType}
	count := queryplan.Column{Name: r.names.Fresh("size"), Type: scalar.IntType}
	keys := append(slices.Clip(by), index.Name)
	numbered := &queryplan.Seq{Input: arrange(in, append(slices.Clip(by), of)), Group: by,
		Order: []queryplan.OrderKey{{Col: of}}, Index: index.Name}
	t := r.b.temporary(cr, "ranked", len(keys), arrange(numbered, append(slices.Clip(keys), of)))
	sizes := &queryplan.Aggregate{Input: scanOf(t), By: by,
		Aggs: []queryplan.Agg{{Out: count, Fn: queryplan.Count}}}
	return &queryplan.Join{Left: scanOf(t), Right: sizes, Unique: true}, ref(index), ref(count)
}

// quantileRank returns the rank of the least value that at least the part at of
// a group does not exceed: the ceiling of size * at, less 1.
func quantileRank(size queryplan.Expr, at scalar.Value) queryplan.Expr {
	numerator, denominator := at.Int(), int64(1)
	for range at.Type.Scale {
		denominator *= 10
	}
	if numerator == 0 {
		return number(0)
	}
	scaled := integer("sub", integer("mul", size, number(numerator)), number(1))
	return integer("div", scaled, number(denominator))
}

// temporary fills a variable of its own for a rule with the rows of an
// operator, of which no two agree on the first columns.
func (b *builder) temporary(cr *core.Rule, role string, keys int, n queryplan.Node,
) *queryplan.Var {
	v := &queryplan.Var{Name: b.names.Fresh(cr.Head.Pred.Name + "$" + role),
		Kind: queryplan.Temp, Cols: n.Columns(), Keys: keys, Unique: true, Limit: -1,
		Span: cr.Span}
	b.plan.Vars = append(b.plan.Vars, v)
	b.add(&queryplan.Assign{Var: v, Node: n})
	return v
}

// scanOf reads all columns of a variable under their names.
func scanOf(v *queryplan.Var) queryplan.Node {
	return &queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)}
}

func number(n int64) queryplan.Expr {
	return &queryplan.Const{Value: scalar.OfInt(scalar.IntType, n)}
}

// integer applies a function of integers.
func integer(name string, args ...queryplan.Expr) queryplan.Expr {
	return &queryplan.Call{Func: scalar.Lookup(name), Args: args, Result: scalar.IntType}
}
