package strata

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// warnGrowth warns of recursive rules that put computed values into their head
// without a bound: they may never end. The stratum keeps the place of the first
// such value, and engines bound its rounds.
func (c *strata) warnGrowth(s *core.Stratum) {
	members := map[*core.Pred]bool{}
	for _, p := range s.Preds {
		members[p] = true
		if desugar.IsName(p.Name) {
			// It ends, but perhaps not in the memory that there is.
			s.Unbounded = p.Span
		}
	}
	for _, r := range s.Rules {
		if at := creating(r, members); at.IsValid() {
			if !s.Unbounded.IsValid() {
				s.Unbounded = at
			}
			d := c.Warnf(diag.UnboundedRecursion, at, "this recursion may never end")
			d.Note("each round can create an entity of %s from one that the round before created",
				r.Head.Pred.Args[r.Head.Pred.Keys].Family.Name)
			d.Help("bound it in the body, for example by the length or the depth of the entity")
			continue
		}
		v, let := growing(r, members)
		if v == nil || desugar.IsName(r.Head.Pred.Name) {
			continue
		}
		if !s.Unbounded.IsValid() {
			s.Unbounded = let.Span
		}
		d := c.Warnf(diag.UnboundedRecursion, let.Span, "this recursion may never end")
		d.Label(r.Head.Span, "each round can derive a new value here")
		from := map[direction]string{up: " from above", down: " from below"}[movement(let.Expr)]
		d.Note("%s is computed from values of the same recursion, and no comparison bounds it%s",
			let.Span.Text(), from)
		d.Help("add a bound to the body, for example %s", boundOf(v, let))
	}
}

// boundOf is a comparison that bounds a computed variable.
func boundOf(v *core.Var, let *core.Let) string {
	name := v.Name
	if strings.HasPrefix(name, "$") {
		name = let.Span.Text()
	}
	switch v.Type.Kind {
	case scalar.String:
		return "string:length[" + name + "] < 100"
	case scalar.Datetime:
		return name + " < #2100-01-01#"
	}
	if movement(let.Expr) == down {
		return name + " > -100"
	}
	return name + " < 100"
}

// growing returns a head variable that is computed from variables of recursive
// atoms, if no computed head variable has a bound: a comparison on the side to
// which its values move, an atom outside the recursion, or a function that has
// few values, such as a remainder. One bounded column is enough, because each
// round has to move it. The value of a function does not count, because its
// keys decide it.
func growing(r *core.Rule, members map[*core.Pred]bool) (*core.Var, *core.Let) {
	recursive := map[*core.Var]bool{} // has its value from the recursion
	computed := map[*core.Var]*core.Let{}
	inputs := map[*core.Var][]*core.Var{}
	bounds := map[*core.Var]direction{}
	note := func(v *core.Var, on direction) { bounds[v] |= on }
	for _, l := range r.Body {
		switch l := l.(type) {
		case *core.Atom:
			for _, t := range l.Args {
				if v, ok := t.(*core.Var); ok {
					recursive[v] = recursive[v] || members[l.Pred]
					if !members[l.Pred] {
						note(v, both)
					}
				}
			}
		case *core.Test:
			noteComparison(l, note)
		case *core.Let:
			inputs[l.Var] = core.ExprVars(l.Expr)
			call, isCall := l.Expr.(*core.Call)
			for _, v := range inputs[l.Var] {
				if recursive[v] {
					recursive[l.Var] = true
					if isCall && grows(call) && !isMeasured(call, v) || computed[v] != nil {
						computed[l.Var] = l
					}
				}
			}
		}
	}
	// A bound on a variable bounds the variables that it is computed from. A
	// value that is computed from the recursion is bounded if all of its inputs
	// are.
	for _, l := range slices.Backward(r.Body) {
		if let, ok := l.(*core.Let); ok && bounds[let.Var] != 0 {
			bound(let.Expr, bounds[let.Var], note)
		}
	}
	known := func(v *core.Var) direction {
		if !recursive[v] {
			return both
		}
		return bounds[v]
	}
	var isBounded func(v *core.Var, moves direction) bool
	isBounded = func(v *core.Var, moves direction) bool {
		if let := computed[v]; let != nil {
			moves |= movement(let.Expr)
			if limits(let.Expr, known).stops(moves) {
				return true
			}
		}
		return bounds[v].stops(moves) || !recursive[v] ||
			len(inputs[v]) > 0 && !slices.ContainsFunc(inputs[v], func(in *core.Var) bool {
				return !isBounded(in, moves)
			})
	}
	var found *core.Var
	for _, t := range r.Head.Args[:r.Head.Pred.Keys] {
		v, ok := t.(*core.Var)
		if !ok || computed[v] == nil {
			continue
		}
		if isBounded(v, 0) {
			return nil, nil
		}
		if found == nil {
			found = v
		}
	}
	return found, computed[found]
}

// noteComparison notes the bounds that a comparison gives.
func noteComparison(t *core.Test, note func(*core.Var, direction)) {
	k, isCall := t.Expr.(*core.Call)
	if !isCall {
		return
	}
	if on, ok := sides[k.Func.Name]; ok {
		bound(k.Args[0], on[0], note)
		bound(k.Args[1], on[1], note)
	}
}

// growers are the functions that can give ever new values.
var growers = map[string]bool{"add": true, "sub": true, "mul": true, "div": true,
	"string:add": true, "datetime:add": true}

func grows(k *core.Call) bool {
	if growers[k.Func.Name] {
		return true
	}
	for _, a := range k.Args {
		if inner, ok := a.(*core.Call); ok && grows(inner) {
			return true
		}
	}
	return false
}

// isMeasured reports whether an expression uses a variable for the lengths of
// texts only. They grow no further than the texts do.
func isMeasured(e core.Expr, v *core.Var) bool {
	switch e := e.(type) {
	case core.VarExpr:
		return e.Var != v
	case *core.Call:
		return e.Func.Name == "string:length" ||
			!slices.ContainsFunc(e.Args, func(a core.Expr) bool { return !isMeasured(a, v) })
	}
	return true
}

// creating returns the place of a rule that creates entities from entities of
// the same recursion, if no comparison of its body bounds a value from there.
func creating(r *core.Rule, members map[*core.Pred]bool) source.Span {
	p := r.Head.Pred
	if p.Numbers == nil {
		return source.Span{}
	}
	recursive := map[*core.Var]bool{}
	bounded := false
	for _, l := range r.Body {
		switch l := l.(type) {
		case *core.Atom:
			for _, t := range l.Args {
				if v, ok := t.(*core.Var); ok && members[l.Pred] {
					recursive[v] = true
				}
			}
		case *core.Test:
			noteComparison(l, func(v *core.Var, on direction) {
				bounded = bounded || on != 0 && recursive[v]
			})
		}
	}
	for i, t := range r.Head.Args[:p.Keys] {
		v, ok := t.(*core.Var)
		if ok && recursive[v] && p.Args[i].Family == p.Args[p.Keys].Family && !bounded {
			return r.Head.Span
		}
	}
	return source.Span{}
}
