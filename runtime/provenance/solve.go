package provenance

import (
	"context"
	"errors"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// binding is the values of some variables of a rule.
type binding map[*core.Var]scalar.Value

// search looks for bindings that make bodies true.
type search struct {
	x   *Explainer
	ctx context.Context
	// stratum and round are those of the tuple that is explained: of relations
	// of its stratum, only tuples of earlier rounds count. stratum is -1 where
	// all tuples do.
	stratum int
	round   int64
	// steps is how many more rows may be looked at; err says why the search has
	// ended.
	steps int
	err   error
}

// maxSteps bounds the rows of one search.
const maxSteps = 200_000_000

// errSteps ends a search that takes too long.
var errSteps = errors.New("too many combinations to look at")

// solve calls found for the extensions of a binding that make all literals of a
// body true, until found returns true, which it then returns. It returns true
// as well if the search has failed.
func (s *search) solve(body []core.Literal, b binding, found func() bool) bool {
	if len(body) == 0 {
		return found()
	}
	i := s.next(body, b)
	rest := slices.Delete(slices.Clone(body), i, i+1)
	return s.literal(body[i], body, b, func() bool { return s.solve(rest, b, found) })
}

// next chooses the literal of a body to look at first: a test whose variables
// are bound, else the atom that the binding narrows most.
func (s *search) next(body []core.Literal, b binding) int {
	best, least := -1, 0.0
	for i, l := range body {
		a, ok := l.(*core.Atom)
		if !ok {
			if s.ready(l, body, b) {
				return i
			}
			continue
		}
		if n := s.estimate(a, b); best < 0 || n < least {
			best, least = i, n
		}
	}
	if best < 0 {
		return 0 // of a safe body, the first literal is always ready
	}
	return best
}

// ready reports whether the variables are bound that a literal other than an
// atom reads.
func (s *search) ready(l core.Literal, body []core.Literal, b binding) bool {
	bound := func(v *core.Var) bool { _, ok := b[v]; return ok }
	switch l := l.(type) {
	case *core.Let:
		return !slices.ContainsFunc(core.ExprVars(l.Expr), not(bound))
	case *core.Test:
		return !slices.ContainsFunc(core.ExprVars(l.Expr), not(bound))
	case *core.Not:
		for _, v := range variables(l.Body) {
			if bound(v) {
				continue
			}
			// A variable that the rest of the body binds is not existential.
			if slices.ContainsFunc(body, func(other core.Literal) bool {
				return other != core.Literal(l) &&
					slices.Contains(variables([]core.Literal{other}), v)
			}) {
				return false
			}
		}
	}
	return true
}

func not[T any](f func(T) bool) func(T) bool { return func(x T) bool { return !f(x) } }

// variables lists the variables of literals, some of them several times.
func variables(body []core.Literal) (out []*core.Var) {
	for _, l := range body {
		switch l := l.(type) {
		case *core.Atom:
			out = append(out, l.Vars()...)
		case *core.Let:
			out = append(append(out, l.Var), core.ExprVars(l.Expr)...)
		case *core.Test:
			out = append(out, core.ExprVars(l.Expr)...)
		case *core.Not:
			out = append(out, variables(l.Body)...)
		}
	}
	return out
}

// estimate is about how many rows of an atom's predicate fit a binding.
func (s *search) estimate(a *core.Atom, b binding) float64 {
	t := s.x.tables[a.Pred]
	n := float64(t.rows)
	for i, arg := range a.Args {
		if _, ok := b.of(arg); ok {
			n /= float64(max(1, t.cols[t.fields[i]].Stats.Distinct))
		}
	}
	return n
}

// of returns the value of an argument of an atom, if it has one.
func (b binding) of(arg core.Term) (scalar.Value, bool) {
	switch arg := arg.(type) {
	case core.Const:
		return arg.Value, true
	case *core.Var:
		v, ok := b[arg]
		return v, ok
	}
	return scalar.Value{}, false
}

// literal calls found for the extensions of a binding that make a literal true,
// like solve.
func (s *search) literal(l core.Literal, body []core.Literal, b binding, found func() bool) bool {
	switch l := l.(type) {
	case *core.Atom:
		return s.atom(l, b, found)
	case *core.Let:
		v, ok := b.eval(l.Expr)
		if !ok || !v.Fits() {
			return false
		}
		if old, isBound := b[l.Var]; isBound {
			return old == v && found()
		}
		b[l.Var] = v
		defer delete(b, l.Var)
		return found()
	case *core.Test:
		v, ok := b.eval(l.Expr)
		return ok && v.Bool() && found()
	case *core.Not:
		if s.solve(l.Body, b, func() bool { return true }) {
			return s.err != nil
		}
		return found()
	}
	return false
}

// atom calls found for the tuples of an atom that fit a binding.
func (s *search) atom(a *core.Atom, b binding, found func() bool) bool {
	t := s.x.tables[a.Pred]
	limit := t.rows
	if s.stratum >= 0 && s.x.stratum[a.Pred] == s.stratum {
		limit = int(t.rounds.Before(s.round))
	}
	var words []wanted
	for i, arg := range a.Args {
		v, ok := b.of(arg)
		if !ok {
			continue
		}
		if words, ok = t.want(words, i, v); !ok {
			return false
		}
	}
	return t.each(words, limit, func(row int) bool {
		if s.steps--; s.steps < 0 {
			s.err = errSteps
		} else if s.steps%4096 == 0 && s.ctx.Err() != nil {
			s.err = context.Cause(s.ctx)
		}
		if s.err != nil {
			return true
		}
		var added []*core.Var
		done := b.match(a, t, row, &added) && found()
		for _, v := range added {
			delete(b, v)
		}
		return done || s.err != nil
	})
}

// match binds the free variables of an atom to the values of a row, and lists
// them. It fails if a variable occurs twice and has two values.
func (b binding) match(a *core.Atom, t *Table, row int, added *[]*core.Var) bool {
	for i, arg := range a.Args {
		v, ok := arg.(*core.Var)
		if !ok {
			continue
		}
		had, bound := b[v]
		value := t.value(row, i)
		if !bound {
			b[v] = value
			*added = append(*added, v)
		} else if had != value {
			return false
		}
	}
	return true
}

// eval returns the value of an expression whose variables are bound, if it has
// one.
func (b binding) eval(e core.Expr) (scalar.Value, bool) {
	switch e := e.(type) {
	case core.VarExpr:
		return b[e.Var], true
	case core.Const:
		return e.Value, true
	case *core.Call:
		var args []scalar.Value
		for _, x := range e.Args {
			v, ok := b.eval(x)
			if !ok {
				// holds[x] asks whether x has a value.
				return scalar.OfBool(false), e.Func.Name == "holds"
			}
			args = append(args, v)
		}
		return e.Func.Eval(e.Result, args)
	}
	return scalar.Value{}, false
}
