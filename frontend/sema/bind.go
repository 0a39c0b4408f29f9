package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
)

// This file proves rules safe: every variable gets a value from a positive
// atom, or by an equality from variables that have one. See Ullman, Principles
// of Database and Knowledge-Base Systems, volume 1, section 3.2.

// order decides which equalities bind, and moves each literal of a body behind
// the literals that it needs. Otherwise the order is that of the text.
// Variables that nothing binds are added to the report.
func (lo *lowering) order(k *conj, report *unbound) []normal.Literal {
	for _, l := range k.literals {
		if a, ok := l.(*normal.Atom); ok {
			for _, t := range a.Args {
				if r, ok := t.(normal.Ref); ok && r.Var.Scope == k.scope {
					r.Var.Bound = true
				}
			}
		}
	}
	lo.binding(k)
	for i, l := range slices.Clone(k.literals) {
		switch l := l.(type) {
		case *normal.Range:
			tests := lo.within(l)
			k.literals[i] = tests[0]
			k.literals = append(k.literals, tests[1:]...)
		case *normal.In:
			tests := lo.member(l, k)
			k.literals[i] = tests[0]
			k.literals = append(k.literals, tests[1:]...)
		case *normal.Equation:
			k.literals[i] = &normal.Test{Span: l.Span, Expr: &normal.Call{Span: l.Span, Name: "eq",
				Args: []normal.Expr{l.X, l.Y}}}
		case *normal.Negation:
			lo.around = append(lo.around, k)
			l.Body = lo.order(&conj{scope: l.Scope, literals: l.Body}, report)
			lo.around = lo.around[:len(lo.around)-1]
		}
	}
	for _, l := range k.literals {
		normal.EachVarOf(l, func(r normal.Ref) {
			if !r.Var.Bound {
				report.add(r.Var)
			}
		})
	}
	return arrange(k.literals, k.scope)
}

// chooseBindings turns each equation that gives an unbound variable a value
// into a binding: those with literals first, the others in text order, until
// none is left. A negation does not bind the variables around it.
func chooseBindings(literals []normal.Literal, s *normal.Scope) {
	bindKnown(literals, s, func(e normal.Expr) bool {
		_, ok := e.(*normal.Const)
		return ok
	})
	bindKnown(literals, s, func(e normal.Expr) bool {
		ok := true
		normal.EachVar(e, func(r normal.Ref) { ok = ok && r.Var.Bound })
		return ok
	})
}

// bindKnown makes bindings of the equations of a variable with what is known.
func bindKnown(literals []normal.Literal, s *normal.Scope, known func(normal.Expr) bool) {
	for changed := true; changed; {
		changed = false
		for i, l := range literals {
			eq, ok := l.(*normal.Equation)
			if !ok {
				continue
			}
			x, xVar := eq.X.(normal.Ref)
			y, yVar := eq.Y.(normal.Ref)
			switch {
			case xVar && !x.Var.Bound && x.Var.Scope == s && known(eq.Y):
				x.Var.Bound, x.Var.Means = true, eq.Y
				literals[i] = &normal.Binding{Span: eq.Span, Var: x.Var, Expr: eq.Y}
			case yVar && !y.Var.Bound && y.Var.Scope == s && known(eq.X):
				y.Var.Bound, y.Var.Means = true, eq.X
				literals[i] = &normal.Binding{Span: eq.Span, Var: y.Var, Expr: eq.X}
			default:
				continue
			}
			changed = true
		}
	}
}

// arrange orders literals. An atom stays where it is. The others wait until the
// variables that they need from this conjunction have values.
func arrange(literals []normal.Literal, s *normal.Scope) []normal.Literal {
	out := make([]normal.Literal, 0, len(literals))
	valued := map[*normal.Var]bool{}
	var waiting []normal.Literal
	ready := func(l normal.Literal) bool {
		ok := true
		need := func(r normal.Ref) {
			if r.Var.Scope == s && r.Var.Bound && !valued[r.Var] {
				ok = false
			}
		}
		switch l := l.(type) {
		case *normal.Binding:
			normal.EachVar(l.Expr, need)
		default:
			normal.EachVarOf(l, need)
		}
		return ok
	}
	flush := func() {
		for changed := true; changed; {
			changed = false
			kept := waiting[:0]
			for _, l := range waiting {
				if !ready(l) {
					kept = append(kept, l)
					continue
				}
				out = append(out, l)
				if b, ok := l.(*normal.Binding); ok {
					valued[b.Var] = true
					changed = true
				}
			}
			waiting = kept
		}
	}
	for _, l := range literals {
		if a, ok := l.(*normal.Atom); ok {
			out = append(out, a)
			for _, t := range a.Args {
				if r, ok := t.(normal.Ref); ok {
					valued[r.Var] = true
				}
			}
		} else {
			waiting = append(waiting, l)
		}
		flush()
	}
	return append(out, waiting...)
}
