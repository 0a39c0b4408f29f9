package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// sequence lowers `head <- seq<<>> p(x...)`. The one head variable that the
// body does not have is the index, the other keys are groups, and the order is
// that of the atom's remaining columns.
func (lo *lowering) sequence(k *conj) {
	if text := lo.cl.Node.P2P; !isLegacyText(text.Text) {
		d := lo.failSequence(diag.SequenceSpecifier, text.Span, "the text of this seq<<>> has no meaning")
		d.Help("write seq<<>> to order by the columns of the body's atom, or " + numberingExample)
		return
	}
	body := lo.sequenceBody(k)
	if body == nil || !lo.sequenceHead(k) {
		return
	}
	s := &normal.Sequence{Span: lo.cl.Node.P2P.Span}
	if lo.sequenceIndex(s, variables(body)) && lo.sequenceOrder(s, body) {
		lo.u.Seq = s
	}
}

// failSequence reports why a sequence is none.
func (lo *lowering) failSequence(
	code *diag.Code, span source.Span, format string, args ...any,
) *diag.Diagnostic {
	lo.cl.Broken = true
	return lo.c.Errorf(code, span, format, args...)
}

// sequenceBody returns the one atom of the body, or nil if it is not one atom.
func (lo *lowering) sequenceBody(k *conj) *normal.Atom {
	at := lo.cl.body.Pos()
	if len(conjuncts(lo.cl.body)) == 1 && len(k.literals) == 1 {
		if body, ok := k.literals[0].(*normal.Atom); ok {
			return body
		}
	}
	if !lo.cl.Broken {
		d := lo.failSequence(diag.SequenceBody, at, "the body of seq<<>> is exactly one atom")
		d.Help("derive a helper predicate with %s, and number its tuples", at.Text())
	}
	return nil
}

// sequenceHead lowers the head, which has variables only.
func (lo *lowering) sequenceHead(k *conj) bool {
	heads := lo.cl.heads
	if len(heads) != 1 {
		d := lo.failSequence(diag.SequenceHead, heads[1].Pos(), "seq<<>> has one head atom")
		d.Help("write one rule with seq<<>>, and derive the others from it")
		return false
	}
	a, value := headAtom(heads[0])
	if a == nil {
		lo.badHead(heads[0])
		return false
	}
	args := a.Args
	if value != nil {
		args = append(args[:len(args):len(args)], value)
	}
	for _, arg := range args {
		if _, ok := ast.Unparen(arg).(*ast.Var); !ok {
			d := lo.failSequence(diag.SequenceHead, arg.Pos(),
				"the head of seq<<>> has variables only")
			d.Help("number the tuples first, and compute %s in another rule", arg.Pos().Text())
			return false
		}
	}
	lo.head(heads[0], k)
	return !lo.cl.Broken
}

// variables returns the variables among the arguments of an atom.
func variables(a *normal.Atom) []normal.Ref {
	var out []normal.Ref
	for _, t := range a.Args {
		if r, ok := t.(normal.Ref); ok {
			out = append(out, r)
		}
	}
	return out
}

// has reports whether a variable is among occurrences.
func has(refs []normal.Ref, v *normal.Var) bool {
	return slices.ContainsFunc(refs, func(r normal.Ref) bool { return r.Var == v })
}

// sequenceIndex finds the index and the groups among the variables of the head.
func (lo *lowering) sequenceIndex(s *normal.Sequence, inBody []normal.Ref) bool {
	head := lo.u.Heads[0]
	for i, r := range variables(head) {
		key := head.Pred.Functional() && i < head.Pred.Keys
		switch {
		case has(inBody, r.Var):
			if key {
				s.Group = append(s.Group, r.Var)
			}
		case s.Index != nil:
			d := lo.failSequence(diag.SequenceHead, r.Span,
				"%s does not occur in the body, and %s is the index already", r.Var.Name,
				s.Index.Name)
			d.Help("the head has the body's variables and one more, the index")
			return false
		default:
			s.Index = r.Var
			s.Index.Out = true
			if head.Pred.Functional() && !key {
				d := lo.failSequence(diag.SequenceHead, r.Span, "the index %s must be a key",
					r.Var.Name)
				d.Help("write p[%s] = x, or p(%s; x, y)", r.Var.Name, r.Var.Name)
				return false
			}
		}
	}
	if s.Index == nil {
		d := lo.failSequence(diag.SequenceHead, lo.cl.heads[0].Pos(),
			"the head of seq<<>> has no index")
		d.Help("give it a variable that does not occur in the body, as in p[i] = x")
		return false
	}
	return true
}

// sequenceOrder orders by the variables of the body that are no groups.
func (lo *lowering) sequenceOrder(s *normal.Sequence, body *normal.Atom) bool {
	inHead := variables(lo.u.Heads[0])
	for _, r := range variables(body) {
		if !has(inHead, r.Var) {
			d := lo.failSequence(diag.SequenceBody, r.Span,
				"the head of seq<<>> must have all variables "+
					"of its body")
			d.Label(lo.cl.heads[0].Pos(), "%s is missing here", r.Span.Text())
			d.Help("number a helper predicate that has only the columns you want")
			return false
		}
		orderBy(s, normal.OrderKey{Var: r.Var})
	}
	return true
}

// orderBy adds a variable that is no group to the end of an order.
func orderBy(s *normal.Sequence, key normal.OrderKey) {
	isOrdered := slices.ContainsFunc(s.Order,
		func(k normal.OrderKey) bool { return k.Var == key.Var })
	if !isOrdered && !slices.Contains(s.Group, key.Var) {
		s.Order = append(s.Order, key)
	}
}
