package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
)

// sequence lowers `head <- seq<<>> p(x...)`: the one head variable that the body
// does not have is the index, the other keys are groups, and the order is that
// of the atom's remaining columns.
func (lo *lowering) sequence(k *conj) {
	c, cl := lo.c, lo.cl
	items := conjuncts(cl.body)
	var body *normal.Atom
	if len(k.literals) == 1 {
		body, _ = k.literals[0].(*normal.Atom)
	}
	if len(items) != 1 || body == nil {
		if cl.Broken {
			return
		}
		cl.Broken = true
		d := c.Errorf(diag.SequenceBody, cl.body.Pos(), "the body of seq<<>> is exactly one atom")
		d.Help("derive a helper predicate with %s, and number its tuples", cl.body.Pos().Text())
		return
	}
	if len(cl.heads) != 1 {
		cl.Broken = true
		d := c.Errorf(diag.SequenceHead, cl.heads[1].Pos(), "seq<<>> has one head atom")
		d.Help("write one rule with seq<<>>, and derive the others from it")
		return
	}
	inBody := map[*normal.Var]bool{}
	for _, t := range body.Args {
		if r, ok := t.(normal.Ref); ok {
			inBody[r.Var] = true
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
			cl.Broken = true
			d := c.Errorf(diag.SequenceHead, arg.Pos(), "the head of seq<<>> has variables only")
			d.Help("number the tuples first, and compute %s in another rule", arg.Pos().Text())
			return
		}
	}
	lo.head(cl.heads[0], k)
	if cl.Broken {
		return
	}
	head := lo.u.Heads[0]
	s := &normal.Sequence{Span: cl.Node.P2P.Span}
	inHead := map[*normal.Var]bool{}
	for i, t := range head.Args {
		r := t.(normal.Ref)
		inHead[r.Var] = true
		switch {
		case inBody[r.Var]:
			if i < head.Pred.Keys && head.Pred.Functional() {
				s.Group = append(s.Group, r.Var)
			}
		case s.Index != nil:
			cl.Broken = true
			d := c.Errorf(diag.SequenceHead, r.Span, "%s does not occur in the body, and %s is the index already", r.Var.Name, s.Index.Name)
			d.Help("the head has the body's variables and one more, the index")
			return
		default:
			s.Index = r.Var
			s.Index.Out = true
			if head.Pred.Functional() && i >= head.Pred.Keys {
				cl.Broken = true
				d := c.Errorf(diag.SequenceHead, r.Span, "the index %s must be a key", r.Var.Name)
				d.Help("write p[%s] = x, or p(%s; x, y)", r.Var.Name, r.Var.Name)
				return
			}
		}
	}
	if s.Index == nil {
		cl.Broken = true
		d := c.Errorf(diag.SequenceHead, cl.heads[0].Pos(), "the head of seq<<>> has no index")
		d.Help("give it a variable that does not occur in the body, as in p[i] = x")
		return
	}
	grouped := map[*normal.Var]bool{}
	for _, v := range s.Group {
		grouped[v] = true
	}
	ordered := map[*normal.Var]bool{}
	for _, t := range body.Args {
		r, ok := t.(normal.Ref)
		if !ok {
			continue
		}
		if !inHead[r.Var] {
			cl.Broken = true
			d := c.Errorf(diag.SequenceBody, r.Span, "the head of seq<<>> must have all variables of its body")
			d.Label(cl.heads[0].Pos(), "%s is missing here", r.Span.Text())
			d.Help("number a helper predicate that has only the columns you want")
			return
		}
		if !grouped[r.Var] && !ordered[r.Var] {
			ordered[r.Var] = true
			s.Order = append(s.Order, r.Var)
		}
	}
	lo.u.Seq = s
}
