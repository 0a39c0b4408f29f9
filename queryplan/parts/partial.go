package parts

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// partial is an aggregate in two steps. The first runs over parts of the rows,
// and the second over its results.
type partial struct {
	of            *queryplan.Aggregate
	first, second queryplan.Aggregate
	// after has the results that are computed of those of the second step. They
	// may not fit their types.
	after []queryplan.NamedExpr
	names *queryplan.Names
	rows  string // the number of rows of a group in first and second, or ""
	parts string // the number of parts of a group in second, or ""
}

// partialOf returns the two steps of an aggregate, or nil if it has none:
// totals of floats would be rounded twice.
func partialOf(n *queryplan.Aggregate) *partial {
	p := &partial{of: n, names: queryplan.ColumnNames(n),
		first: queryplan.Aggregate{Input: n.Input, By: n.By}, second: queryplan.Aggregate{By: n.By}}
	for _, a := range n.Aggs {
		if !p.add(a) {
			return nil
		}
	}
	return p
}

// add adds the steps of an aggregation. It returns false if it has none.
func (p *partial) add(a queryplan.Agg) bool {
	if a.Out.Type.Kind == scalar.Float && a.Fn.IsTotal() {
		return false
	}
	switch a.Fn {
	case queryplan.Count:
		p.same(a, queryplan.Total)
	case queryplan.Min, queryplan.Max, queryplan.Total:
		p.same(a, a.Fn)
	case queryplan.TotalHigh:
		return p.wide(a)
	case queryplan.TotalLow: // with its upper word
		return slices.ContainsFunc(p.of.Aggs, func(b queryplan.Agg) bool {
			return b.Fn == queryplan.TotalHigh && b.In == a.In
		})
	case queryplan.Avg:
		return p.mean(a)
	}
	return true
}

// same adds an aggregation whose results are aggregated by a function again.
func (p *partial) same(a queryplan.Agg, fn queryplan.AggFn) {
	p.first.Aggs = append(p.first.Aggs, a)
	p.second.Aggs = append(p.second.Aggs, queryplan.Agg{Out: a.Out, Fn: fn, In: a.Out.Name})
}

// made adds an aggregation of a column of the second step's input.
func (p *partial) made(fn queryplan.AggFn, in string, t scalar.Type) queryplan.Expr {
	out := queryplan.Column{Name: p.names.Fresh(in), Type: t}
	p.second.Aggs = append(p.second.Aggs, queryplan.Agg{Out: out, Fn: fn, In: in})
	return &queryplan.ColRef{Col: out}
}

// wide adds the upper word of a wide total, and its lower one. It returns false
// if the aggregate does not have both.
func (p *partial) wide(high queryplan.Agg) bool {
	i := slices.IndexFunc(p.of.Aggs, func(b queryplan.Agg) bool {
		return b.Fn == queryplan.TotalLow && b.In == high.In
	})
	if i < 0 {
		return false
	}
	low := p.of.Aggs[i]
	p.first.Aggs = append(p.first.Aggs, high, low)
	if p.parts == "" {
		p.parts = p.names.Fresh("$parts")
		p.second.Aggs = append(p.second.Aggs, queryplan.Agg{Fn: queryplan.Count,
			Out: queryplan.Column{Name: p.parts, Type: scalar.IntType}})
	}
	wide := high.Out.Type.Joined()
	total := queryplan.TotalOfWide(wide, p.made(queryplan.Total, high.Out.Name, high.Out.Type),
		queryplan.WideOf(p.made(queryplan.TotalHigh, low.Out.Name, wide.WordOf(scalar.High)),
			p.made(queryplan.TotalLow, low.Out.Name, wide.WordOf(scalar.Low))), count(p.parts))
	word := func(name string, out queryplan.Column) {
		p.after = append(p.after, queryplan.NamedExpr{Name: out.Name, Expr: &queryplan.Call{
			Func: scalar.Lookup(name), Args: []queryplan.Expr{total}, Result: out.Type}})
	}
	word("high", high.Out)
	word("low", low.Out)
	return true
}

// mean adds an average as a total and a count. The total of a part may overflow
// where the average fits. It returns false if the average is not the quotient
// of the two.
func (p *partial) mean(a queryplan.Agg) bool {
	in, _ := queryplan.FindColumn(p.of.Input.Columns(), a.In)
	if in.Type != scalar.IntType && in.Type != scalar.DecimalOf(in.Type.Scale) ||
		a.Out.Type != scalar.DecimalOf(scalar.QuotientScale(in.Type.Scale, 0)) {
		return false
	}
	total := queryplan.Column{Name: p.names.Fresh(a.In), Type: in.Type}
	p.first.Aggs = append(p.first.Aggs, queryplan.Agg{Out: total, Fn: queryplan.Total, In: a.In})
	sum := p.made(queryplan.Total, total.Name, total.Type)
	if p.rows == "" {
		out := queryplan.Column{Name: p.names.Fresh("$rows"), Type: scalar.IntType}
		p.first.Aggs = append(p.first.Aggs, queryplan.Agg{Out: out, Fn: queryplan.Count})
		p.rows = p.made(queryplan.Total, out.Name, out.Type).(*queryplan.ColRef).Col.Name
	}
	if in.Type.Kind == scalar.Int {
		sum = convert(sum, scalar.DecimalOf(0))
	}
	p.after = append(p.after, queryplan.NamedExpr{Name: a.Out.Name, Expr: &queryplan.Call{
		Func:   scalar.Lookup("div"),
		Args:   []queryplan.Expr{sum, convert(count(p.rows), scalar.DecimalOf(0))},
		Result: a.Out.Type}})
	return true
}

func count(name string) queryplan.Expr {
	return &queryplan.ColRef{Col: queryplan.Column{Name: name, Type: scalar.IntType}}
}

func convert(e queryplan.Expr, to scalar.Type) queryplan.Expr {
	return &queryplan.Call{Func: scalar.Lookup("convert"), Args: []queryplan.Expr{e}, Result: to}
}

// TwoSteps returns an operator to run over parts of the input of another one,
// and a function that makes the result of the latter from the union of what it
// yields. They are nil if there are none. Totals of parts may overflow where
// those of all rows do not. computes says that results of the function, too,
// may not fit their types.
func TwoSteps(n queryplan.Node) (first queryplan.Node, again func(queryplan.Node) queryplan.Node,
	computes bool) {
	switch n := n.(type) {
	case *queryplan.Dedup:
		return n, func(of queryplan.Node) queryplan.Node {
			return &queryplan.Dedup{Input: of}
		}, false
	case *queryplan.TopK:
		return n, func(of queryplan.Node) queryplan.Node {
			return &queryplan.TopK{Input: of, Group: n.Group, By: n.By, Limit: n.Limit}
		}, false
	case *queryplan.Aggregate:
		if p := partialOf(n); p != nil {
			return &p.first, p.again, len(p.after) > 0
		}
	}
	return nil, nil, false
}

// again returns the results of the aggregate, given those of the first step
// over all parts.
func (p *partial) again(all queryplan.Node) queryplan.Node {
	second := p.second
	second.Input = all
	if len(p.after) == 0 {
		return &second
	}
	out := &queryplan.Project{Input: &queryplan.Map{Input: &second, Exprs: p.after}}
	for _, name := range queryplan.NamesOf(p.of.Columns()) {
		out.Cols = append(out.Cols, queryplan.Rename{From: name, To: name})
	}
	return out
}
