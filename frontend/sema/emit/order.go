package emit

import "github.com/redfoxdb/redfox/frontend/core"

// inOrder moves literals behind those that give their variables values. Atoms
// stay in their order.
func inOrder(body []core.Literal) []core.Literal {
	given := map[*core.Var]bool{} // by some literal of the body
	for _, l := range body {
		for _, v := range gives(l) {
			given[v] = true
		}
	}
	valued := map[*core.Var]bool{}
	var out, waiting []core.Literal
	ready := func(l core.Literal) bool {
		for _, v := range needs(l) {
			if given[v] && !valued[v] {
				return false
			}
		}
		return true
	}
	take := func(l core.Literal) {
		out = append(out, l)
		for _, v := range gives(l) {
			valued[v] = true
		}
	}
	for _, l := range body {
		if _, ok := l.(*core.Atom); ok {
			take(l)
		} else {
			waiting = append(waiting, l)
		}
		for i := 0; i < len(waiting); i++ {
			if ready(waiting[i]) {
				l := waiting[i]
				waiting = append(waiting[:i], waiting[i+1:]...)
				take(l)
				i = -1
			}
		}
	}
	return append(out, waiting...)
}

// gives returns the variables to which a literal gives values.
func gives(l core.Literal) []*core.Var {
	switch l := l.(type) {
	case *core.Atom:
		return l.Vars()
	case *core.Let:
		return []*core.Var{l.Var}
	}
	return nil
}

// needs returns the variables that must have values before a literal, and for a
// negation those inside it, too.
func needs(l core.Literal) []*core.Var {
	switch l := l.(type) {
	case *core.Let:
		return core.ExprVars(l.Expr)
	case *core.Test:
		return core.ExprVars(l.Expr)
	case *core.Not:
		var out []*core.Var
		for _, x := range l.Body {
			out = append(append(out, gives(x)...), needs(x)...)
		}
		return out
	}
	return nil
}
