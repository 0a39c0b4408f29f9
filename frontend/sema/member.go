package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// x in {1, 2, 3} holds where x has one of the values, and binds x if nothing
// else does. A value that is bound is compared with each constant of a small
// set. In the other cases the constants are the tuples of a hidden predicate.
// Either way they take the type of x.

// maxTested is the largest set that a test compares with. A larger one is
// cheaper as an index.
const maxTested = 16

// in lowers x in {1, 2, 3}.
func (lo *lowering) in(n *ast.In, k *conj) {
	if of := lo.setOf(n, k); of != nil {
		k.add(of)
	}
}

// setOf returns the literal for x in {1, 2, 3}, or nil if an error was
// reported.
func (lo *lowering) setOf(n *ast.In, k *conj) *normal.In {
	x := lo.term(n.X, k)
	if x == nil {
		return nil
	}
	of := &normal.In{Span: n.Span, Node: n, X: x}
	for _, item := range n.Items {
		v := lo.constant(item, k)
		if v == nil {
			lo.notConstant(n, item)
			return nil
		}
		of.Values = append(of.Values, v)
	}
	if r, ok := x.(normal.Ref); ok {
		lo.u.Members = append(lo.u.Members, normal.Member{Var: r.Var, Values: of.Values})
	}
	return of
}

// constant returns the value of a literal, perhaps with a sign, or nil.
func (lo *lowering) constant(n ast.Node, k *conj) *normal.Const {
	switch n := ast.Unparen(n).(type) {
	case *ast.Literal:
		return &normal.Const{Value: n.Value, Span: n.Span}
	case *ast.Unary:
		if lo.constant(n.X, k) != nil {
			v, _ := lo.sign(n, k).(*normal.Const)
			return v
		}
	}
	return nil
}

// notConstant reports a member of a set that is not a literal.
func (lo *lowering) notConstant(n *ast.In, item ast.Node) {
	lo.cl.Broken = true
	text := item.Pos().Text()
	d := lo.c.Errorf(diag.NotAnExpression, item.Pos(), "%s is not a literal", text)
	d.Note("the values of a set are literals")
	d.Help("write an alternative for it: (%s in {...} ; %s = %s)", n.X.Pos().Text(),
		n.X.Pos().Text(), text)
}

// chooseMember binds a variable by the first set that can give it values. It
// reports whether there is one.
func (lo *lowering) chooseMember(k *conj) bool {
	for i, l := range k.literals {
		of, ok := l.(*normal.In)
		if !ok || valued(of.X) {
			continue
		}
		if x := of.X.(normal.Ref); isOpen(x, k.scope) {
			x.Var.Bound = true
			k.literals[i] = lo.setAtom(of)
			return true
		}
	}
	return false
}

// member returns the literals that test a value against a set. A value that the
// conjunction computes is no argument of an atom: it is compared with one.
func (lo *lowering) member(of *normal.In, k *conj) []normal.Literal {
	if len(of.Values) <= maxTested {
		return []normal.Literal{&normal.Test{Span: of.Span, Expr: lo.tested(of, source.Span{})}}
	}
	atom := lo.setAtom(of)
	if x, ok := of.X.(normal.Ref); !ok || !isBoundBy(x.Var, k) {
		return []normal.Literal{atom}
	}
	has := lo.fresh(of.Span, k.scope)
	has.Var.Bound, atom.Args = true, []normal.Term{has}
	return []normal.Literal{atom, &normal.Test{Span: of.Span, Expr: &normal.Call{Span: of.Span,
		Name: "eq", Args: []normal.Expr{of.X, has}}}}
}

// isBoundBy reports whether a conjunction computes the value of a variable that
// is no literal.
func isBoundBy(v *normal.Var, k *conj) bool {
	return slices.ContainsFunc(k.literals, func(l normal.Literal) bool {
		b, ok := l.(*normal.Binding)
		return ok && b.Var == v && normal.BoundLiteral(b.Expr) == nil
	})
}

// tested compares a value with each constant of a set. item is the innermost
// alternative around it.
func (lo *lowering) tested(of *normal.In, item source.Span) normal.Expr {
	var out normal.Expr
	for _, v := range of.Values {
		equal := &normal.Call{Span: of.Span, Name: "holds", Item: item, Args: []normal.Expr{
			&normal.Call{Span: of.Span, Name: "eq", Copy: true, Args: []normal.Expr{of.X, v}}}}
		if out == nil {
			out = equal
		} else {
			out = &normal.Call{Span: of.Span, Name: "or", Args: []normal.Expr{out, equal}}
		}
	}
	return out
}

// setAtom returns an atom of the hidden predicate that has the constants of a
// set.
func (lo *lowering) setAtom(of *normal.In) *normal.Atom {
	p := lo.c.sets[of.Node]
	if p == nil {
		p = lo.hiddenPred("set", 1, of.Span)
		p.Constant = true
		lo.c.sets[of.Node] = p
		cl := lo.hiddenClause()
		for _, v := range of.Values {
			lo.c.hiddenRule(cl, v.Span, nil).derive(p, []normal.Term{v})
		}
	}
	return &normal.Atom{Span: of.Span, Pred: &p.Pred, Args: []normal.Term{of.X}}
}
