package sema

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/graph"
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
	d := &demand{clause: cl, pred: p, vars: vars, body: body}
	d.unit = lo.c.supply(d, supporting(body, vars))
	if len(lo.around) > 0 {
		lo.c.demands = append(lo.c.demands, d)
	}
}

// demand is the rule of a hidden predicate that stands under negation.
type demand struct {
	clause *clause
	pred   *pred
	vars   []normal.Ref     // whose values the predicate holds
	body   []normal.Literal // around the range, from which the rule takes literals
	unit   *normal.Unit
}

// supply makes the rule of a demand with copies of literals.
func (c *checker) supply(d *demand, literals []normal.Literal) *normal.Unit {
	r := c.hiddenRule(d.clause, d.pred.Span, nil)
	cp := &copier{to: r, vars: map[*normal.Var]*normal.Var{}}
	for _, l := range literals {
		r.k.add(cp.literal(l))
	}
	var head []normal.Term
	for _, v := range d.vars {
		head = append(head, cp.expr(v))
	}
	r.derive(d.pred, head)
	return r.lo.u
}

// widenDemands drops the atoms of the recursion from the demands that a
// recursive rule has under negation, if others give the variables their values.
// A demand may hold more values than are needed, and without these atoms no
// cycle goes through the negation.
func (c *checker) widenDemands() {
	if len(c.demands) == 0 {
		return
	}
	component := c.components()
	for _, d := range c.demands {
		own := component[&d.pred.Pred]
		body := slices.DeleteFunc(slices.Clone(d.body), func(l normal.Literal) bool {
			a, ok := l.(*normal.Atom)
			return ok && component[a.Pred] == own
		})
		if len(body) == len(d.body) {
			continue
		}
		literals := supporting(body, d.vars)
		if !givesValues(literals, d.vars) {
			continue
		}
		units := d.clause.Units
		at := slices.Index(units, d.unit)
		wider := c.supply(d, literals)
		d.clause.Units[at] = wider
		d.clause.Units = d.clause.Units[:len(units)]
		for _, v := range d.unit.Vars {
			c.types.Drop(v)
		}
	}
}

// components numbers the predicates so that those which depend on one another
// have one number.
func (c *checker) components() map[*normal.Pred]int {
	number := map[*normal.Pred]int{}
	for i, p := range c.order {
		number[&p.Pred] = i
	}
	uses := make([][]int, len(c.order))
	_, clauses := c.inferred()
	for _, cl := range clauses {
		for _, u := range cl.Units {
			for _, h := range slices.Concat(u.Heads, u.Creates) {
				head := number[h.Pred]
				eachAtom(u.Body, func(a *normal.Atom) {
					uses[head] = append(uses[head], number[a.Pred])
				})
			}
		}
	}
	component := map[*normal.Pred]int{}
	for i, nodes := range graph.Components(uses) {
		for _, n := range nodes {
			component[&c.order[n].Pred] = i
		}
	}
	return component
}

// eachAtom calls f for the atoms of a body, also inside negations.
func eachAtom(body []normal.Literal, f func(*normal.Atom)) {
	for _, l := range body {
		switch l := l.(type) {
		case *normal.Atom:
			f(l)
		case *normal.Negation:
			eachAtom(l.Body, f)
		}
	}
}

// givesValues reports whether literals give values to variables and to all that
// the bindings among them need.
func givesValues(literals []normal.Literal, vars []normal.Ref) bool {
	known := map[*normal.Var]bool{}
	var open []*normal.Binding
	for _, l := range literals {
		switch l := l.(type) {
		case *normal.Atom:
			normal.EachVarOf(l, func(r normal.Ref) { known[r.Var] = true })
		case *normal.Binding:
			open = append(open, l)
		}
	}
	for changed := true; changed; {
		changed = false
		open = slices.DeleteFunc(open, func(b *normal.Binding) bool {
			ready := true
			normal.EachVar(b.Expr, func(r normal.Ref) { ready = ready && known[r.Var] })
			if ready {
				known[b.Var], changed = true, true
			}
			return ready
		})
	}
	return len(open) == 0 &&
		!slices.ContainsFunc(vars, func(r normal.Ref) bool { return !known[r.Var] })
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
