package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
)

// sequence lowers `head <- seq<<>> p(x...)`: the one head variable that the body
// does not have is the index, the other keys are groups, and the order is that
// of the atom's remaining columns.
func (lo *lowering) sequence(k *conj) {
	c, cl := lo.c, lo.cl
	items := conjuncts(cl.body)
	var body *atom
	if len(k.literals) == 1 {
		body, _ = k.literals[0].(*atom)
	}
	if len(items) != 1 || body == nil {
		if cl.bad {
			return
		}
		cl.bad = true
		d := c.Errorf(diag.SequenceBody, cl.body.Pos(), "the body of seq<<>> is exactly one atom")
		d.Help("derive a helper predicate with %s, and number its tuples", cl.body.Pos().Text())
		return
	}
	if len(cl.heads) != 1 {
		cl.bad = true
		d := c.Errorf(diag.SequenceHead, cl.heads[1].Pos(), "seq<<>> has one head atom")
		d.Help("write one rule with seq<<>>, and derive the others from it")
		return
	}
	inBody := map[*variable]bool{}
	for _, t := range body.args {
		if r, ok := t.(ref); ok {
			inBody[r.v] = true
		}
	}
	a, value := headAtom(cl.heads[0])
	if a == nil {
		lo.badHead(cl.heads[0])
		return
	}
	args := a.Args
	if value != nil {
		args = append(args[:len(args):len(args)], value)
	}
	for _, arg := range args {
		if _, ok := ast.Unparen(arg).(*ast.Var); !ok {
			cl.bad = true
			d := c.Errorf(diag.SequenceHead, arg.Pos(), "the head of seq<<>> has variables only")
			d.Help("number the tuples first, and compute %s in another rule", arg.Pos().Text())
			return
		}
	}
	lo.head(cl.heads[0], k)
	if cl.bad {
		return
	}
	head := lo.u.heads[0]
	s := &sequence{span: cl.node.P2P.Span}
	inHead := map[*variable]bool{}
	for i, t := range head.args {
		r := t.(ref)
		inHead[r.v] = true
		switch {
		case inBody[r.v]:
			if i < head.pred.keys && head.pred.functional() {
				s.group = append(s.group, r.v)
			}
		case s.index != nil:
			cl.bad = true
			d := c.Errorf(diag.SequenceHead, r.span, "%s does not occur in the body, and %s is the index already", r.v.name, s.index.name)
			d.Help("the head has the body's variables and one more, the index")
			return
		default:
			s.index = r.v
			s.index.out = true
			if head.pred.functional() && i >= head.pred.keys {
				cl.bad = true
				d := c.Errorf(diag.SequenceHead, r.span, "the index %s must be a key", r.v.name)
				d.Help("write p[%s] = x, or p(%s; x, y)", r.v.name, r.v.name)
				return
			}
		}
	}
	if s.index == nil {
		cl.bad = true
		d := c.Errorf(diag.SequenceHead, cl.heads[0].Pos(), "the head of seq<<>> has no index")
		d.Help("give it a variable that does not occur in the body, as in p[i] = x")
		return
	}
	grouped := map[*variable]bool{}
	for _, v := range s.group {
		grouped[v] = true
	}
	ordered := map[*variable]bool{}
	for _, t := range body.args {
		r, ok := t.(ref)
		if !ok {
			continue
		}
		if !inHead[r.v] {
			cl.bad = true
			d := c.Errorf(diag.SequenceBody, r.span, "the head of seq<<>> must have all variables of its body")
			d.Label(cl.heads[0].Pos(), "%s is missing here", r.span.Text())
			d.Help("number a helper predicate that has only the columns you want")
			return
		}
		if !grouped[r.v] && !ordered[r.v] {
			ordered[r.v] = true
			s.order = append(s.order, r.v)
		}
	}
	lo.u.seq = s
}
