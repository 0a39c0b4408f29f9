package emit

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// A variable that stands in columns of several integer types becomes a variable
// for each type, and tests that these are equal. The tests come behind the
// atoms, so that the planner can join on them in either direction. A value that
// does not fit the other type has no conversion, and the test is false.

// mixing is the state of such variables.
type mixing struct {
	// bodies has the conjunctions being emitted, from the outermost.
	bodies [][]normal.Literal
	// first has the variable in whose terms a mixed one is computed, if no atom
	// has the mixed one itself.
	first map[*normal.Var]*core.Var
	// others has the variables for other types.
	others map[occurrence]*core.Var
	// named has the variables that refmodes made one with their entities.
	named map[*normal.Var]bool
	// pending has the literals that belong behind the atom at hand.
	pending []core.Literal
	// moved is set if the literals of the conjunction need a new order.
	moved bool
}

// occurrence is a variable in columns of one type.
type occurrence struct {
	v *normal.Var
	t scalar.Type
}

// enter begins a conjunction, and returns the state of the one around it.
func (e *emitter) enter(literals []normal.Literal) mixing {
	outer := e.mixed
	e.mixed.bodies = append(slices.Clip(outer.bodies), literals)
	e.mixed.first, e.mixed.others = maps.Clone(outer.first), maps.Clone(outer.others)
	e.mixed.named = maps.Clone(outer.named)
	e.mixed.moved = false
	return outer
}

// leave ends a conjunction, and reports whether its literals need a new order.
func (e *emitter) leave(outer mixing) bool {
	moved := e.mixed.moved
	e.mixed = outer
	e.mixed.moved = outer.moved || moved
	return moved
}

// takeConversions returns the literals that belong behind an atom.
func (e *emitter) takeConversions() []core.Literal {
	out := e.mixed.pending
	e.mixed.pending = nil
	return out
}

// occurrence returns what stands for a variable in a column of a type.
func (e *emitter) occurrence(r normal.Ref, want scalar.Type) core.Term {
	v := e.variable(r.Var)
	if v.Type == want {
		return v
	}
	key := occurrence{r.Var, want}
	if c := e.mixed.others[key]; c != nil {
		return c
	}
	c := e.fresh(want, r.Span)
	if e.mixed.others == nil {
		e.mixed.others, e.mixed.first = map[occurrence]*core.Var{}, map[*normal.Var]*core.Var{}
	}
	e.mixed.others[key] = c
	e.mixed.moved = true
	other := e.mixed.first[r.Var]
	switch {
	case other == nil && !e.valued(r.Var, v.Type):
		e.mixed.first[r.Var] = c
		e.mixed.pending = append(e.mixed.pending, &core.Let{Span: r.Span, Var: v,
			Expr: convert(core.VarExpr{Var: c}, v.Type, r.Span)})
		return c
	case other == nil:
		other = v
	}
	x, y := core.VarExpr{Var: other}, core.VarExpr{Var: c}
	if len(e.mixed.bodies) > 1 && !scalar.CanWiden(v.Type, want) {
		// Under negation, the atom computes the variable of the body around it.
		x, y = y, x
	}
	e.mixed.pending = append(e.mixed.pending, &core.Test{Span: r.Span, Expr: equal(x, y, r.Span)})
	return c
}

// noteNamed notes that a variable is one with the entity of a refmode.
func (e *emitter) noteNamed(t normal.Term) {
	if r, ok := t.(normal.Ref); ok {
		if e.mixed.named == nil {
			e.mixed.named = map[*normal.Var]bool{}
		}
		e.mixed.named[r.Var] = true
	}
}

// valued reports whether a variable has its value from a conjunction around the
// one at hand, from a binding, from an entity, or from an atom that has a
// column of its type.
func (e *emitter) valued(v *normal.Var, t scalar.Type) bool {
	if e.mixed.named[v] {
		return true
	}
	for i, body := range e.mixed.bodies {
		inner := i == len(e.mixed.bodies)-1
		for _, l := range body {
			switch l := l.(type) {
			case *normal.Binding:
				if l.Var == v {
					return true
				}
			case *normal.Atom:
				if m := l.Pred.Maker; inner && m != nil && m.Refmode && m.Family.ByValue() {
					continue
				}
				for n, arg := range l.Args {
					if r, ok := arg.(normal.Ref); ok && r.Var == v &&
						(!inner || l.Pred.Core.Args[n].Type == t) {
						return true
					}
				}
			}
		}
	}
	return false
}

// equal tests integers of two types for equality, by the conversion of one. A
// conversion that always has a value is preferred.
func equal(a, b core.Expr, span source.Span) core.Expr {
	if scalar.CanWiden(b.Type(), a.Type()) {
		b = convert(b, a.Type(), span)
	} else {
		a = convert(a, b.Type(), span)
	}
	return &core.Call{Span: span, Func: scalar.Lookup("eq"), Args: []core.Expr{a, b},
		Result: scalar.BooleanType}
}

// equalIntegers turns the test that an int and a uint are equal, which have
// only decimal[38,0] in common, into one over the type of the second. Where the
// first does not fit it, the test is false without a value.
func equalIntegers(x core.Expr) core.Expr {
	k, ok := x.(*core.Call)
	if !ok || k.Func.Name != "eq" || k.Args[0].Type() != scalar.WideDecimalOf(0) {
		return x
	}
	var sides [2]core.Expr
	for i, a := range k.Args {
		c, ok := a.(*core.Call)
		if !ok || c.Func.Name != "convert" || !normal.IsInteger(c.Args[0].Type()) {
			return x
		}
		sides[i] = c.Args[0]
	}
	return equal(sides[0], sides[1], k.Span)
}
