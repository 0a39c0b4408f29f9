package sema

// This file proves rules safe: every variable gets a value from a positive atom,
// or by an equality from variables that have one; see Ullman, Principles of
// Database and Knowledge-Base Systems, volume 1, section 3.2.

// order decides which equalities bind and puts the literals of a body in an
// order in which each follows what it needs, otherwise as written. Variables
// that nothing binds are added to the report.
func (lo *lowering) order(k *conj, report *unbound) []literal {
	for _, l := range k.literals {
		if a, ok := l.(*atom); ok {
			for _, t := range a.args {
				if r, ok := t.(ref); ok && r.v.scope == k.scope {
					r.v.bound = true
				}
			}
		}
	}
	chooseBindings(k.literals, k.scope)
	for i, l := range k.literals {
		switch l := l.(type) {
		case *equation:
			k.literals[i] = &test{span: l.span, e: &call{span: l.span, name: "eq", args: []expr{l.x, l.y}}}
		case *negation:
			l.body = lo.order(&conj{scope: l.scope, literals: l.body}, report)
		}
	}
	for _, l := range k.literals {
		eachVarOf(l, func(r ref) {
			if !r.v.bound {
				report.add(r.v)
			}
		})
	}
	return arrange(k.literals, k.scope)
}

// chooseBindings replaces the equations that give an unbound variable a value
// by bindings, literals first and then in text order, until there is no more to
// find. A negation does not bind the variables around it.
func chooseBindings(literals []literal, s *scope) {
	bindKnown(literals, s, func(e expr) bool {
		_, ok := e.(*constant)
		return ok
	})
	bindKnown(literals, s, func(e expr) bool {
		ok := true
		eachVar(e, func(r ref) { ok = ok && r.v.bound })
		return ok
	})
}

// bindKnown makes bindings of the equations of a variable with what is known.
func bindKnown(literals []literal, s *scope, known func(expr) bool) {
	for changed := true; changed; {
		changed = false
		for i, l := range literals {
			eq, ok := l.(*equation)
			if !ok {
				continue
			}
			x, xVar := eq.x.(ref)
			y, yVar := eq.y.(ref)
			switch {
			case xVar && !x.v.bound && x.v.scope == s && known(eq.y):
				x.v.bound, x.v.means = true, eq.y
				literals[i] = &binding{span: eq.span, v: x.v, e: eq.y}
			case yVar && !y.v.bound && y.v.scope == s && known(eq.x):
				y.v.bound, y.v.means = true, eq.x
				literals[i] = &binding{span: eq.span, v: y.v, e: eq.x}
			default:
				continue
			}
			changed = true
		}
	}
}

// arrange orders literals: an atom stays where it is, the others wait until the
// variables that they need from this conjunction have values.
func arrange(literals []literal, s *scope) []literal {
	out := make([]literal, 0, len(literals))
	valued := map[*variable]bool{}
	var waiting []literal
	ready := func(l literal) bool {
		ok := true
		need := func(r ref) {
			if r.v.scope == s && r.v.bound && !valued[r.v] {
				ok = false
			}
		}
		switch l := l.(type) {
		case *binding:
			eachVar(l.e, need)
		default:
			eachVarOf(l, need)
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
				if b, ok := l.(*binding); ok {
					valued[b.v] = true
					changed = true
				}
			}
			waiting = kept
		}
	}
	for _, l := range literals {
		if a, ok := l.(*atom); ok {
			out = append(out, a)
			for _, t := range a.args {
				if r, ok := t.(ref); ok {
					valued[r.v] = true
				}
			}
		} else {
			waiting = append(waiting, l)
		}
		flush()
	}
	return append(out, waiting...)
}
