package sema

import (
	"github.com/redfoxdb/redfox/frontend/sema/normal"
)

// An argument of an atom may be a sum or difference, as in f[i - 1] = y. If
// nothing else binds i, the column does: i = k + 1 for each key k. Integers
// wrap around, so this is exact. Other numbers round or overflow, and strings
// have no difference, so only integers are inverted. A body is ordered before
// its types are known; refuseInversions reports those of other types.

// inversion is a variable that has its value from a column by inversion.
type inversion struct {
	clause *clause
	v      *normal.Var
	value  *normal.Call
}

// invert turns the first argument that can be inverted into a binding, and
// keeps the argument as a test. It reports whether there is one.
func (lo *lowering) invert(k *conj) bool {
	for i, l := range k.literals {
		eq, ok := l.(*normal.Equation)
		if !ok {
			continue
		}
		column, isVar := eq.X.(normal.Ref)
		if !isVar || !column.Var.Made || !column.Var.Bound {
			continue
		}
		of, ok := eq.Y.(*normal.Call)
		if !ok {
			continue
		}
		v, value := solved(of, column, k.scope)
		if v == nil {
			continue
		}
		v.Bound, v.Means = true, value
		lo.c.inversions = append(lo.c.inversions, &inversion{lo.cl, v, value})
		k.literals[i] = &normal.Test{Span: eq.Span, Solved: true,
			Expr: &normal.Call{Span: eq.Span, Name: "eq", Args: []normal.Expr{column, of}}}
		k.add(&normal.Binding{Span: eq.Span, Var: v, Expr: value})
		return true
	}
	return false
}

// solved returns the one variable of a sum or difference that has no value, and
// the value for which the sum or difference has the given result. It returns
// nil if there is no such variable.
func solved(of *normal.Call, result normal.Expr, s *normal.Scope) (*normal.Var, *normal.Call) {
	if of.Name != "add" && of.Name != "sub" {
		return nil, nil
	}
	x, y := of.Args[0], of.Args[1]
	value := &normal.Call{Span: of.Span, Inverts: true}
	open := y
	switch {
	case valued(y):
		// x + y = r gives x = r - y, and x - y = r gives x = r + y.
		open, value.Args = x, []normal.Expr{result, y}
		value.Name = map[string]string{"add": "sub", "sub": "add"}[of.Name]
	case !valued(x):
		return nil, nil
	case of.Name == "add":
		value.Name, value.Args = "sub", []normal.Expr{result, x}
	default:
		value.Name, value.Args = "sub", []normal.Expr{x, result}
	}
	switch open := open.(type) {
	case normal.Ref:
		if !open.Var.Bound && open.Var.Scope == s {
			return open.Var, value
		}
	case *normal.Call:
		return solved(open, value, s)
	}
	return nil, nil
}

// valued reports whether all variables of an expression have values.
func valued(e normal.Expr) bool {
	ok := true
	normal.EachVar(e, func(r normal.Ref) { ok = ok && r.Var.Bound })
	return ok
}

// refuseInversions reports the variables whose values would have to be found by
// inverting arithmetic on values that are not integers.
func (c *checker) refuseInversions() {
	for _, in := range c.inversions {
		if in.clause.Broken || c.isInteger(in.v, in.value) {
			continue
		}
		report := &unbound{clause: in.clause, inverted: true}
		report.add(in.v)
		c.reportUnbound(report, 1)
	}
}

// isInteger reports whether an inverted variable has integers as values, or
// lacks a type for a reported reason.
func (c *checker) isInteger(v *normal.Var, value *normal.Call) bool {
	known := true
	normal.EachVar(value, func(r normal.Ref) {
		_, ok := c.types.TypeOf(r.Var.Node)
		known = known && ok
	})
	if !known {
		return true
	}
	t, ok := c.types.TypeOf(v.Node)
	return ok && normal.IsInteger(t)
}
