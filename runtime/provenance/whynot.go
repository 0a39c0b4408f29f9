package provenance

import (
	"context"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// failure is a conjunct that does not hold, with values for its variables.
type failure struct {
	text   string
	holds  *derivation // the tuple that makes a negation fail
	first  *derivation // the tuple that the atom's predicate has for its key
	atom   *core.Atom  // nil for another conjunct
	values binding
}

// attempt is how far a rule comes that could make an atom true.
type attempt struct {
	rule *core.Rule
	// held are the conjuncts that hold together, in the order in which they
	// were looked at. No binding makes more of them hold.
	held  []string
	fails *failure // the one that does not hold beside them
	cut   bool     // not all bindings were looked at
}

// mostSteps bounds the rows that an attempt looks at.
const mostSteps = 20_000_000

// unify returns the binding of a rule's variables whose head is an atom, as far
// as that has values.
func (x *Explainer) unify(r *core.Rule, a *core.Atom, values binding) (binding, bool) {
	b := binding{}
	for i, arg := range a.Args {
		v, ok := values.of(arg)
		if !ok {
			continue
		}
		switch h := r.Head.Args[i].(type) {
		case core.Const:
			if h.Value != v {
				return nil, false
			}
		case *core.Var:
			if r.Seq != nil && r.Seq.Index == h || results(r, h) {
				continue
			}
			if had, bound := b[h]; bound && had != v {
				return nil, false
			}
			b[h] = v
		}
	}
	return b, true
}

// attempt looks for the binding that makes the most conjuncts of a body hold.
func (x *Explainer) attempt(ctx context.Context, r *core.Rule, b binding) (attempt, error) {
	s := x.search(ctx, -1, 0)
	s.steps = mostSteps
	f := &furthest{search: s}
	f.look(r.Body, b, nil)
	out := attempt{rule: r, cut: s.err == errSteps}
	if s.err != nil && !out.cut {
		return out, s.err
	}
	if f.fails == nil {
		return out, nil // it holds: the rule's result differs
	}
	for _, l := range f.held {
		if text := x.condition(l, f.values); text != "" {
			out.held = append(out.held, text)
		}
	}
	var err error
	out.fails, err = x.failure(ctx, f.fails, f.values)
	return out, err
}

// furthest is a search for the binding that makes the most conjuncts hold.
type furthest struct {
	*search
	held   []core.Literal
	fails  core.Literal
	values binding
}

// look extends a binding conjunct by conjunct. held are those that hold.
func (f *furthest) look(body []core.Literal, b binding, held []core.Literal) bool {
	if len(body) == 0 {
		return true
	}
	i := f.next(body, b)
	rest := slices.Delete(slices.Clone(body), i, i+1)
	some := false
	done := f.literal(body[i], body, b, func() bool {
		some = true
		return f.look(rest, b, append(slices.Clip(held), body[i]))
	})
	if !some && f.err == nil && (f.fails == nil || len(held) > len(f.held)) {
		f.held, f.fails, f.values = held, body[i], maps.Clone(b)
	}
	return done
}

// failure says why a literal does not hold.
func (x *Explainer) failure(ctx context.Context, l core.Literal, b binding) (*failure, error) {
	f := &failure{text: x.condition(l, b)}
	switch l := l.(type) {
	case *core.Let:
		f.text = core.LiteralString(&core.Test{Expr: exprShown(l.Expr, b)}) + " has no value"
		if v, ok := b[l.Var]; ok {
			f.text = scalar.KeyLiteral(v) + " = " + core.ExprString(exprShown(l.Expr, b))
		}
	case *core.Atom:
		f.atom, f.values = l, b
		if l.Pred.Keeps == core.KeepAny {
			return f, x.first(ctx, f)
		}
	case *core.Not:
		if a, ok := l.Body[0].(*core.Atom); ok && len(l.Body) == 1 && !a.Pred.Hidden {
			s := x.search(ctx, -1, 0)
			inner := maps.Clone(b)
			var err error
			s.atom(a, inner, func() bool {
				f.holds, err = x.derivation(ctx, a.Pred, x.row(a, inner))
				return true
			})
			return f, err
		}
	}
	return f, nil
}

// first finds the tuple with the key of an atom whose predicate keeps the first
// value of each key.
func (x *Explainer) first(ctx context.Context, f *failure) (err error) {
	keys := f.atom.Pred.Keys
	for _, arg := range f.atom.Args[:keys] {
		if _, ok := f.values.of(arg); !ok {
			return nil
		}
	}
	a := &core.Atom{Pred: f.atom.Pred, Args: slices.Clone(f.atom.Args)}
	a.Args[keys] = &core.Var{Name: "_", Type: a.Pred.Args[keys].Type}
	b := maps.Clone(f.values)
	x.search(ctx, -1, 0).atom(a, b, func() bool {
		f.first, err = x.derivation(ctx, a.Pred, x.row(a, b))
		return true
	})
	return err
}
