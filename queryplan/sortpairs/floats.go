package sortpairs

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// A total of floats has no small exact accumulator. If the exponents of a
// round's floats are close to each other, the floats are whole numbers of one
// unit, of a few digits each, and the totals of digits are exact. A variable
// has the unit of the round. If it has no tuple, floats are added as elsewhere.
// In each round one of the two ways has groups.

// floats returns a fold with totals of one column of floats.
func (s *sorter) floats(f *fold, float string) queryplan.Node {
	n, x := f.out, f.sorted
	round := s.temp("values", f.keyed(), len(f.on), x)
	s.assign(round, project(f.values, queryplan.NamesOf(round.Cols)))
	values := scan(round)
	joined := func(pairs queryplan.Node) queryplan.Node {
		return f.above(&queryplan.Join{Left: pairs, Right: values, Unique: true})
	}
	// A value has its exponent once, unless it is computed for each pair.
	var of queryplan.Node = values
	if !f.bare {
		of = joined(f.scan())
	}
	unit, e := s.unit(x, of, float, f.names)

	digits := &queryplan.Map{Input: &queryplan.Join{Unique: true, Right: unit,
		Left: joined(&queryplan.Join{Kind: queryplan.Semi, Left: f.scan(), Right: unit})}}
	exact := &queryplan.Aggregate{By: n.By, Input: digits}
	sum := &queryplan.Call{Func: scalar.Lookup("float_of_digits"), Result: scalar.FloatType}
	for k := range int64(scalar.FloatDigits) {
		digit := queryplan.Column{Name: f.names.Fresh("digit"), Type: scalar.IntType}
		total := queryplan.Column{Name: f.names.Fresh("total"), Type: scalar.IntType}
		digits.Exprs = append(digits.Exprs, queryplan.NamedExpr{Name: digit.Name,
			Expr: call("float_digit", scalar.IntType, column(float, scalar.FloatType),
				column(e, scalar.IntType), number(k))})
		exact.Aggs = append(exact.Aggs,
			queryplan.Agg{Out: total, Fn: queryplan.Total, In: digit.Name})
		sum.Args = append(sum.Args, column(total.Name, scalar.IntType))
	}
	sum.Args = append(sum.Args, column(e, scalar.IntType))
	sums := &queryplan.Map{}
	for _, a := range n.Aggs {
		if a.Fn == queryplan.Total && a.In == float {
			sums.Exprs = append(sums.Exprs, queryplan.NamedExpr{Name: a.Out.Name, Expr: sum})
		} else {
			exact.Aggs = append(exact.Aggs, a)
		}
	}
	sums.Input = &queryplan.Join{Left: exact, Right: unit, Unique: true}

	// The other way goes through a variable, so that a round with a unit finds
	// it empty and does without a table of groups.
	cols := slices.Clone(n.By)
	for _, a := range n.Aggs {
		if a.Fn != queryplan.Count && !slices.Contains(cols, a.In) {
			cols = append(cols, a.In)
		}
	}
	rest := project(joined(&queryplan.Join{Kind: queryplan.Anti, Left: f.scan(), Right: unit}),
		cols)
	apart := s.temp("apart", rest.Columns(), len(rest.Cols), x)
	apart.Unique = false
	s.assign(apart, rest)
	x.Apart = append(x.Apart, apart)
	n.Input = scan(apart)
	return &queryplan.Union{Nodes: []queryplan.Node{
		project(sums, queryplan.NamesOf(n.Columns())), n}}
}

// keyed returns the columns of the values, those by which they are joined
// first.
func (f *fold) keyed() []queryplan.Column {
	var keys, others []queryplan.Column
	for _, c := range f.values.Columns() {
		if slices.Contains(f.on, c.Name) {
			keys = append(keys, c)
		} else {
			others = append(others, c)
		}
	}
	return append(keys, others...)
}

// project returns the named columns.
func project(n queryplan.Node, names []string) *queryplan.Project {
	out := &queryplan.Project{Input: n}
	for _, name := range names {
		out.Cols = append(out.Cols, queryplan.Rename{From: name, To: name})
	}
	return out
}

// unit returns a scan of the unit of a column of floats, and the name of its
// one column, the least of their exponents. It has no tuple if digits of some
// float would not do, or the sums of digits of the largest group not fit.
func (s *sorter) unit(x *sorted, of queryplan.Node, float string,
	names *queryplan.Names) (unit *queryplan.Scan, e string) {
	if x.most == nil {
		x.most = s.temp("most", []queryplan.Column{{Name: "n", Type: scalar.IntType}}, 0, x)
	}
	exponent, least, greatest, n := names.Fresh("exponent"), names.Fresh("least"),
		names.Fresh("greatest"), names.Fresh("n")
	ints := func(name string) *queryplan.ColRef { return column(name, scalar.IntType) }
	all := &queryplan.Aggregate{
		Input: &queryplan.Map{Input: of, Exprs: []queryplan.NamedExpr{{Name: exponent,
			Expr: call("float_exponent", scalar.IntType, column(float, scalar.FloatType))}}},
		Aggs: []queryplan.Agg{
			{Out: queryplan.Column{Name: least, Type: scalar.IntType}, Fn: queryplan.Min,
				In: exponent},
			{Out: queryplan.Column{Name: greatest, Type: scalar.IntType}, Fn: queryplan.Max,
				In: exponent}},
	}
	var node queryplan.Node = &queryplan.Join{Left: all, Unique: true,
		Right: &queryplan.Scan{Var: x.most, Names: []string{n}}}
	for _, cond := range []queryplan.Expr{
		call("le", scalar.BooleanType, call("sub", scalar.IntType, ints(greatest), ints(least)),
			number(scalar.MostDigitSpread)),
		call("lt", scalar.BooleanType, ints(greatest), number(scalar.InfiniteExponent)),
		call("le", scalar.BooleanType, ints(n), number(scalar.MostDigitTerms)),
	} {
		node = &queryplan.Filter{Input: node, Cond: cond}
	}
	e = names.Fresh("e")
	v := s.temp("unit", []queryplan.Column{{Name: "e", Type: scalar.IntType}}, 0, x)
	s.assign(v, &queryplan.Project{Input: node,
		Cols: []queryplan.Rename{{From: least, To: "e"}}})
	return &queryplan.Scan{Var: v, Names: []string{e}}, e
}

// largest returns the number of pairs of the largest group.
func largest(x *sorted) queryplan.Node {
	names := make([]string, len(x.Var.Cols))
	copy(names, queryplan.NamesOf(x.Var.Cols[:len(x.By)]))
	fresh := queryplan.NewNames(names...)
	count := queryplan.Column{Name: fresh.Fresh("count"), Type: scalar.IntType}
	sizes := &queryplan.Aggregate{Input: &queryplan.Scan{Var: x.Var, Names: names},
		By:   slices.Clone(names[:len(x.By)]),
		Aggs: []queryplan.Agg{{Out: count, Fn: queryplan.Count}}}
	return &queryplan.Aggregate{Input: sizes, Aggs: []queryplan.Agg{
		{Out: x.most.Cols[0], Fn: queryplan.Max, In: count.Name}}}
}

// temp makes a variable of which no two tuples agree on the first keys columns.
func (s *sorter) temp(name string, cols []queryplan.Column, keys int, x *sorted) *queryplan.Var {
	v := &queryplan.Var{Name: s.names.Fresh(name), Kind: queryplan.Temp, Cols: cols, Keys: keys,
		Unique: true, Limit: -1, Span: x.Var.Span}
	s.plan.Vars = append(s.plan.Vars, v)
	return v
}

// assign assigns to a variable ahead of the command at hand.
func (s *sorter) assign(v *queryplan.Var, n queryplan.Node) {
	s.before = append(s.before, &queryplan.Assign{Var: v, Node: n})
}

func scan(v *queryplan.Var) *queryplan.Scan {
	return &queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)}
}

func column(name string, t scalar.Type) *queryplan.ColRef {
	return &queryplan.ColRef{Col: queryplan.Column{Name: name, Type: t}}
}

func number(n int64) *queryplan.Const {
	return &queryplan.Const{Value: scalar.OfInt(scalar.IntType, n)}
}

func call(name string, result scalar.Type, args ...queryplan.Expr) *queryplan.Call {
	return &queryplan.Call{Func: scalar.Lookup(name), Args: args, Result: result}
}
