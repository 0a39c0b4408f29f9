package sema

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// This file makes rules that the program does not write, for predicates that
// results never show. A generator is such a predicate: an atom of it gives a
// variable of a body its values.

// hiddenPred makes a predicate for the clause being lowered. It is named after
// the head, because errors and plans show what is before the dollar sign.
func (lo *lowering) hiddenPred(role string, arity int, span source.Span) *pred {
	owner := "constraint"
	for _, h := range lo.cl.heads {
		if a, _ := headAtom(h); a != nil {
			owner = a.Name.Text
			break
		}
	}
	name := owner + "$" + role
	for n := 2; lo.c.preds[name] != nil; n++ {
		name = fmt.Sprintf("%s$%s%d", owner, role, n)
	}
	p := lo.c.enter(name, span)
	p.Arity, p.Keys, p.Hidden, p.Rules = arity, arity, true, 1
	p.Declared = make([]normal.DeclaredType, arity)
	p.EntityTypes = make([]*normal.Pred, arity)
	for range arity {
		p.Columns = append(p.Columns, lo.c.types.Column(&p.Pred, len(p.Columns)))
	}
	return p
}

// hiddenClause makes a clause for hidden rules, which has the place of the
// clause being lowered.
func (lo *lowering) hiddenClause() *clause {
	cl := &clause{Clause: normal.Clause{Node: lo.cl.Node, Number: lo.cl.Number}}
	lo.c.hidden = append(lo.c.hidden, cl)
	return cl
}

// hiddenRule is a hidden rule under construction.
type hiddenRule struct {
	lo    *lowering
	k     *conj
	span  source.Span
	binds *normal.Var // the variable of the program that the rule helps to bind
}

func (c *checker) hiddenRule(cl *clause, span source.Span, binds *normal.Var) *hiddenRule {
	lo := c.lowering(cl, nil)
	lo.u.Hidden = true
	cl.Units = append(cl.Units, lo.u)
	return &hiddenRule{lo: lo, k: &conj{scope: normal.NewScope(nil)}, span: span, binds: binds}
}

// variable makes a variable with a value.
func (r *hiddenRule) variable(name string) normal.Ref {
	v := r.lo.newVariable(name, r.span, r.k.scope)
	v.Bound = true
	return normal.Ref{Var: v, Span: r.span}
}

// call applies a function that needs integers.
func (r *hiddenRule) call(name string, args ...normal.Expr) normal.Expr {
	return &normal.Call{Span: r.span, Name: name, Args: args, Binds: r.binds}
}

func (r *hiddenRule) number(n int64) normal.Expr {
	return &normal.Const{Value: scalar.OfInt(scalar.IntType, n), Span: r.span}
}

func (r *hiddenRule) test(name string, args ...normal.Expr) {
	r.k.add(&normal.Test{Span: r.span, Expr: r.call(name, args...)})
}

// let gives a new variable the value of a call.
func (r *hiddenRule) let(name, function string, args ...normal.Expr) normal.Ref {
	v := r.variable(name)
	v.Var.Means = r.call(function, args...)
	r.k.add(&normal.Binding{Span: r.span, Var: v.Var, Expr: v.Var.Means})
	return v
}

func (r *hiddenRule) atom(p *pred, args []normal.Term) *normal.Atom {
	return &normal.Atom{Span: r.span, Pred: &p.Pred, Args: args}
}

// derive completes the rule.
func (r *hiddenRule) derive(p *pred, args []normal.Term) {
	r.lo.u.Heads = []*normal.Atom{r.atom(p, args)}
	r.lo.u.Body = arrange(r.k.literals, r.k.scope)
}

// demand makes the rule of a hidden predicate that holds at least the values
// that the variables have in the body being lowered: those of the atoms with
// these variables and of the conditions on them, without negations.
func (lo *lowering) demand(cl *clause, p *pred, vars []normal.Ref, k *conj) {
	var body []normal.Literal
	for _, outer := range lo.around {
		body = append(body, outer.literals...)
	}
	body = append(body, k.literals...)
	r := lo.c.hiddenRule(cl, p.Span, nil)
	cp := &copier{to: r, vars: map[*normal.Var]*normal.Var{}}
	for _, l := range supporting(body, vars) {
		r.k.add(cp.literal(l))
	}
	var head []normal.Term
	for _, v := range vars {
		head = append(head, cp.expr(v))
	}
	r.derive(p, head)
}

// supporting returns the literals of a body that give variables their values,
// and the conditions that these literals allow to test.
func supporting(body []normal.Literal, vars []normal.Ref) []normal.Literal {
	needed, taken := map[*normal.Var]bool{}, make([]bool, len(body))
	for _, v := range vars {
		needed[v.Var] = true
	}
	need := func(r normal.Ref) { needed[r.Var] = true }
	for changed := true; changed; {
		changed = false
		for i, l := range body {
			take := false
			switch l := l.(type) {
			case *normal.Atom:
				take = slices.ContainsFunc(l.Args, func(t normal.Term) bool {
					r, ok := t.(normal.Ref)
					return ok && needed[r.Var]
				})
			case *normal.Binding:
				take = needed[l.Var]
				if take && !taken[i] {
					normal.EachVar(l.Expr, need)
				}
			}
			changed = changed || take && !taken[i]
			taken[i] = taken[i] || take
		}
	}
	bound := map[*normal.Var]bool{}
	for i, l := range body {
		if taken[i] {
			normal.EachVarOf(l, func(r normal.Ref) { bound[r.Var] = true })
		}
	}
	var out []normal.Literal
	for i, l := range body {
		switch l.(type) {
		case *normal.Test, *normal.Equation:
			taken[i] = true
			normal.EachVarOf(l, func(r normal.Ref) { taken[i] = taken[i] && bound[r.Var] })
		}
		if taken[i] {
			out = append(out, l)
		}
	}
	return out
}

// copier copies literals to another rule. The copies report no errors, because
// the originals do.
type copier struct {
	to   *hiddenRule
	vars map[*normal.Var]*normal.Var
}

func (cp *copier) literal(l normal.Literal) normal.Literal {
	switch l := l.(type) {
	case *normal.Atom:
		out := &normal.Atom{Span: l.Span, Pred: l.Pred}
		for _, t := range l.Args {
			out.Args = append(out.Args, cp.expr(t))
		}
		return out
	case *normal.Binding:
		v := cp.variable(l.Var)
		v.Means = cp.expr(l.Expr)
		return &normal.Binding{Span: l.Span, Var: v, Expr: v.Means}
	case *normal.Equation:
		return &normal.Test{Span: l.Span, Expr: &normal.Call{Span: l.Span, Name: "eq", Copy: true,
			Args: []normal.Expr{cp.expr(l.X), cp.expr(l.Y)}}}
	}
	t := l.(*normal.Test)
	return &normal.Test{Span: t.Span, Expr: cp.expr(t.Expr), Solved: t.Solved}
}

func (cp *copier) expr(e normal.Expr) normal.Expr {
	switch e := e.(type) {
	case normal.Ref:
		return normal.Ref{Var: cp.variable(e.Var), Span: e.Span}
	case *normal.Call:
		out := &normal.Call{Span: e.Span, Name: e.Name, Item: e.Item, Copy: true}
		for _, a := range e.Args {
			out.Args = append(out.Args, cp.expr(a))
		}
		return out
	}
	return e
}

func (cp *copier) variable(v *normal.Var) *normal.Var {
	if cp.vars[v] == nil {
		out := cp.to.lo.newVariable(v.Name, v.Span, cp.to.k.scope)
		out.Base, out.Made, out.Bound = v.Base, v.Made, true
		cp.vars[v] = out
	}
	return cp.vars[v]
}
