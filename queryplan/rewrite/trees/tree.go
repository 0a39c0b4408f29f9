package trees

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Filter returns n under a filter of the conditions, if there are any.
func Filter(n queryplan.Node, conds []queryplan.Expr) queryplan.Node {
	if len(conds) == 0 {
		return n
	}
	if f, ok := n.(*queryplan.Filter); ok {
		all := slices.Clone(queryplan.Conjuncts(f.Cond))
		for _, c := range conds {
			all = AddCond(all, c)
		}
		return &queryplan.Filter{Input: f.Input, Cond: queryplan.And(all)}
	}
	return &queryplan.Filter{Input: n, Cond: queryplan.And(conds)}
}

// AddCond appends a condition that is not there yet.
func AddCond(conds []queryplan.Expr, c queryplan.Expr) []queryplan.Expr {
	if HasCond(conds, c) {
		return conds
	}
	return append(conds[:len(conds):len(conds)], c)
}

// HasCond reports whether a condition is among others.
func HasCond(conds []queryplan.Expr, c queryplan.Expr) bool {
	return slices.ContainsFunc(conds, func(d queryplan.Expr) bool {
		return queryplan.EqualExpr(c, d)
	})
}

// Without returns the conditions that are not among others.
func Without(conds, gone []queryplan.Expr) []queryplan.Expr {
	return list.Filter(conds, func(c queryplan.Expr) bool { return !HasCond(gone, c) })
}

// HasAll reports whether every one of names is in set.
func HasAll(set, names []string) bool {
	for _, name := range names {
		if !slices.Contains(set, name) {
			return false
		}
	}
	return true
}

// Columns returns the names of the columns of n.
func Columns(n queryplan.Node) []string { return queryplan.NamesOf(n.Columns()) }

// Nothing is the empty bag with the given columns.
func Nothing(cols []queryplan.Column) queryplan.Node { return &queryplan.Values{Cols: cols} }

// IsEmpty reports whether n is known to have no tuples.
func IsEmpty(n queryplan.Node) bool {
	v, ok := n.(*queryplan.Values)
	return ok && len(v.Rows) == 0
}

// WithColumns returns n with exactly the given columns in their order, through
// a projection where its own differ.
func WithColumns(n queryplan.Node, want []queryplan.Column) queryplan.Node {
	if slices.Equal(n.Columns(), want) {
		return n
	}
	cols := make([]queryplan.Rename, len(want))
	for i, c := range want {
		cols[i] = queryplan.Rename{From: c.Name, To: c.Name}
	}
	return Project(n, cols)
}

// Project chooses columns of n; it looks through a projection under it, and is
// n where nothing would change.
func Project(n queryplan.Node, cols []queryplan.Rename) queryplan.Node {
	if p, ok := n.(*queryplan.Project); ok {
		from := map[string]string{}
		for _, c := range p.Cols {
			from[c.To] = c.From
		}
		below := make([]queryplan.Rename, len(cols))
		for i, c := range cols {
			below[i] = queryplan.Rename{From: from[c.From], To: c.To}
		}
		return Project(p.Input, below)
	}
	in := n.Columns()
	same := len(in) == len(cols)
	for i := range cols {
		same = same && cols[i].From == in[i].Name && cols[i].To == in[i].Name
	}
	if same {
		return n
	}
	return &queryplan.Project{Input: n, Cols: cols}
}

// Equals is the condition that a column has a value.
func Equals(c queryplan.Column, v scalar.Value) queryplan.Expr {
	return &queryplan.Call{
		Func:   scalar.Lookup("eq"),
		Args:   []queryplan.Expr{&queryplan.ColRef{Col: c}, Constant(v)},
		Result: scalar.BooleanType,
	}
}

// Constant returns an expression of a value.
func Constant(v scalar.Value) queryplan.Expr { return &queryplan.Const{Value: v} }

// Map appends a computed column, to the map that n is if it does not depend
// on that.
func Map(n queryplan.Node, e queryplan.NamedExpr) queryplan.Node {
	if m, ok := n.(*queryplan.Map); ok {
		used := queryplan.ExprColumns(e.Expr)
		if !slices.ContainsFunc(m.Exprs, func(x queryplan.NamedExpr) bool {
			return slices.Contains(used, x.Name)
		}) {
			return &queryplan.Map{Input: m.Input, Exprs: append(slices.Clone(m.Exprs), e)}
		}
	}
	return &queryplan.Map{Input: n, Exprs: []queryplan.NamedExpr{e}}
}

// EqualColumns is the condition that two columns are equal.
func EqualColumns(x, y queryplan.Column) queryplan.Expr {
	return &queryplan.Call{
		Func:   scalar.Lookup("eq"),
		Args:   []queryplan.Expr{&queryplan.ColRef{Col: x}, &queryplan.ColRef{Col: y}},
		Result: scalar.BooleanType,
	}
}

// Rename chooses and renames columns of a relation; a scan takes the names
// itself where the order allows it.
func Rename(n queryplan.Node, cols []queryplan.Rename) queryplan.Node {
	s, ok := n.(*queryplan.Scan)
	if !ok {
		return Project(n, cols)
	}
	to := map[string]string{}
	for _, c := range cols {
		to[c.From] = c.To
	}
	if len(to) < len(cols) {
		return Project(n, cols)
	}
	names := make([]string, len(s.Names))
	for i, name := range s.Names {
		if name != "" {
			names[i] = to[name]
		}
	}
	position := ""
	if s.Position != "" {
		position = to[s.Position]
	}
	return &queryplan.Scan{Var: s.Var, Version: s.Version, Names: names, Position: position}
}

// IsInvariant reports whether a tree reads none of the given variables and is
// the same whenever it is computed.
func IsInvariant(n queryplan.Node, changed map[*queryplan.Var]bool) bool {
	if s, ok := n.(*queryplan.Scan); ok {
		return !changed[s.Var]
	}
	return !IsVolatile(n) && !slices.ContainsFunc(n.Inputs(), func(in queryplan.Node) bool {
		return !IsInvariant(in, changed)
	})
}

// IsVolatile reports whether an operator computes what may change from call to
// call.
func IsVolatile(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Filter:
		return queryplan.IsVolatile(n.Cond)
	case *queryplan.Map:
		return slices.ContainsFunc(n.Exprs, func(e queryplan.NamedExpr) bool {
			return queryplan.IsVolatile(e.Expr)
		})
	}
	return false
}
