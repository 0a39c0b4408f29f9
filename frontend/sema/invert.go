package sema

import (
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// An argument of an atom may be a sum or difference, as in f[i - 1] = y. If
// nothing else binds i, the column does: i = k + 1 for each key k. Likewise
// y = x + 1 binds x if y has a value. Integers wrap around, and the difference
// of decimals has the digits of both, so this is exact; a decimal or date that
// overflows makes the equality false. Floats round and strings have no
// difference, so they are not inverted. A body is ordered before its types are
// known; refuseNonIntegers reports those of other types.

// integerVar is a variable that has its values by rules for integers alone, or
// for exact values.
type integerVar struct {
	clause *clause
	v      *normal.Var
	why    string  // the note for values of other types
	preds  []*pred // the hidden predicates that give it values, or nil
}

// invertArgument turns the first argument that can be inverted into a binding,
// and keeps the argument as a test. It reports whether there is one.
func (lo *lowering) invertArgument(k *conj) bool {
	for i, l := range k.literals {
		eq, ok := l.(*normal.Equation)
		if !ok {
			continue
		}
		column, isVar := eq.X.(normal.Ref)
		if isVar && column.Var.Made && column.Var.Bound && lo.invert(k, i, column, eq.Y) {
			return true
		}
	}
	return false
}

// invertEquation does so with the first equality that the program writes. The
// ranges come before: they bind floats as well.
func (lo *lowering) invertEquation(k *conj) bool {
	for i, l := range k.literals {
		eq, ok := l.(*normal.Equation)
		if !ok {
			continue
		}
		if lo.invert(k, i, eq.X, eq.Y) || lo.invert(k, i, eq.Y, eq.X) {
			return true
		}
	}
	return false
}

// invert binds the variable without a value of the equation at place i, one of
// whose sides has a value. It reports whether there is one.
func (lo *lowering) invert(k *conj, i int, side, other normal.Expr) bool {
	of, ok := other.(*normal.Call)
	if !ok || !valued(side) {
		return false
	}
	if v, _ := solved(of, side, k.scope); v == nil {
		return false
	}
	span := k.literals[i].(*normal.Equation).Span
	result := lo.bound(side, k)
	v, value := solved(of, result, k.scope)
	v.Bound, v.Means = true, value
	lo.c.integers = append(lo.c.integers, &integerVar{lo.cl, v,
		"only a sum or difference of integers or decimals binds a variable", nil})
	k.literals[i] = &normal.Test{Span: span, Solved: true,
		Expr: &normal.Call{Span: span, Name: "eq", Args: []normal.Expr{result, of}}}
	k.add(&normal.Binding{Span: span, Var: v, Expr: value})
	return true
}

// solved returns the one variable of a sum or difference that has no value, and
// the value for which the sum or difference has the given result. It returns
// nil if there is no such variable.
func solved(of *normal.Call, result normal.Expr, s *normal.Scope) (*normal.Var, *normal.Call) {
	if of.Name == "datetime:add" {
		return moved(of, result, s)
	}
	if of.Name != "add" && of.Name != "sub" {
		return nil, nil
	}
	x, y := of.Args[0], of.Args[1]
	value := &normal.Call{Span: of.Span, Exact: true}
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
	return opened(open, value, s)
}

// opened is solved for the operand without a value, which has to equal value.
func opened(open normal.Expr, value *normal.Call, s *normal.Scope) (*normal.Var, *normal.Call) {
	switch open := open.(type) {
	case normal.Ref:
		if isOpen(open, s) {
			value.Binds = open.Var
			return open.Var, value
		}
	case *normal.Call:
		v, inner := solved(open, value, s)
		value.Binds = v
		return v, inner
	}
	return nil, nil
}

// moved is solved for a date that moves by a number of units of one length.
func moved(of *normal.Call, result normal.Expr, s *normal.Scope) (*normal.Var, *normal.Call) {
	if len(of.Args) != 3 || !valued(of.Args[1]) {
		return nil, nil
	}
	unit, ok := of.Args[2].(*normal.Const)
	if !ok || unit.Value.Type.Kind != scalar.String {
		return nil, nil
	}
	if u, ok := scalar.ParseUnit(unit.Value.Str()); !ok || !u.HasOneLength() {
		return nil, nil
	}
	back := &normal.Call{Span: of.Span, Name: "neg", Args: []normal.Expr{of.Args[1]}, Copy: true}
	return opened(of.Args[0], &normal.Call{Span: of.Span, Name: of.Name, Exact: true,
		Args: []normal.Expr{result, back, unit}}, s)
}

// valued reports whether all variables of an expression have values.
func valued(e normal.Expr) bool {
	ok := true
	normal.EachVar(e, func(r normal.Ref) { ok = ok && r.Var.Bound })
	return ok
}

// refuseNonIntegers reports the variables that have no value, because what
// would bind them holds for integers alone.
func (c *checker) refuseNonIntegers() {
	for _, in := range c.integers {
		if in.v.NotInteger.Kind == scalar.Invalid {
			continue
		}
		for _, p := range in.preds {
			if p != nil {
				p.Poisoned = true
			}
		}
		report := &unbound{clause: in.clause, why: in.why}
		report.add(in.v)
		c.reportUnbound(report, 1)
	}
}
