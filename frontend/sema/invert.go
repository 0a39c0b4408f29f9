package sema

import (
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// An argument of an atom may be a sum or difference, as in f[i - 1] = y. If
// nothing else binds i, the column does: i = k + 1 for each key k. Integers
// wrap around, so this is exact. Other numbers round or overflow, and strings
// have no difference, so only integers are inverted. A body is ordered before
// its types are known; refuseNonIntegers reports those of other types.

// integerVar is a variable that has its values by rules for integers alone.
type integerVar struct {
	clause *clause
	v      *normal.Var
	why    string  // the note for values of other types
	preds  []*pred // the hidden predicates that give it values, or nil
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
		lo.c.integers = append(lo.c.integers, &integerVar{lo.cl, v,
			"only sums and differences of integers bind a variable in an argument", nil})
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
	value := &normal.Call{Span: of.Span}
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
