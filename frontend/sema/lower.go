package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// lowering turns one alternative of a clause into a unit.
type lowering struct {
	c  *checker
	cl *clause
	u  *normal.Unit
	// made is the number of variables made up so far. names maps each name of a
	// variable to the last number that was appended to it.
	made  int
	names map[string]int
	// makes has the heads that create entities.
	makes []*normal.Atom
	// around has the conjunctions around the negation being ordered.
	around []*conj
}

func (c *checker) lowering(cl *clause, picks []source.Span) *lowering {
	u := &normal.Unit{Clause: &cl.Clause, Picks: picks}
	return &lowering{c: c, cl: cl, u: u, names: map[string]int{}}
}

// lower brings a clause into normal form.
func (c *checker) lower(cl *clause) {
	if cl.Broken {
		c.poisonHeads(cl)
		return
	}
	switch cl.kind {
	case ruleClause:
		c.lowerRule(cl)
	case constraintClause:
		cl.Checks = true
		c.lowerConstraint(cl)
	}
	if cl.Broken {
		c.poisonHeads(cl)
		cl.Units = nil
	}
}

// poisonHeads silences the consequences of a broken clause, whose heads may
// lack types and tuples.
func (c *checker) poisonHeads(cl *clause) {
	if cl.kind != ruleClause {
		return
	}
	for _, h := range cl.heads {
		if a, _ := headAtom(h); a != nil {
			if p := c.predOf(a, true); p != nil {
				p.Poisoned = true
			}
		}
	}
}

// predOf returns the predicate that an application names, nil for built-ins.
func (c *checker) predOf(a *ast.Apply, head bool) *pred {
	name := a.Name.Text
	if name == "_" && head {
		arity, keys := shapeOf(a)
		if keys < 0 {
			keys = arity
		}
		for _, q := range c.queries {
			if q.Arity == arity && q.Keys == keys {
				return q
			}
		}
	}
	return c.preds[name]
}

func (c *checker) lowerRule(cl *clause) {
	node := cl.Node
	body := cl.body
	if node.Update != "" {
		c.lowerUpdate(cl)
		return
	}
	if node.P2P != nil {
		if d := disjunction(body); d != nil {
			c.disjunctionUnderP2P(cl, d)
			cl.Broken = true
			return
		}
	}
	alts, ok := c.alternatives(body)
	if !ok {
		cl.Broken = true
		return
	}
	report := &unbound{clause: cl}
	for _, alt := range alts {
		lo := c.lowering(cl, alt.picks)
		k := &conj{scope: normal.NewScope(nil)}
		for _, h := range cl.heads {
			k.scope.Note(h)
		}
		for _, n := range alt.items {
			k.scope.Note(n)
		}
		if node.P2P != nil {
			for _, s := range node.P2P.Specs {
				for _, n := range s.Arguments() {
					k.scope.Note(n)
				}
			}
		}
		for _, n := range alt.items {
			lo.formula(n, k)
		}
		if node.P2P != nil {
			lo.p2p(k)
		} else {
			for _, h := range cl.heads {
				lo.head(h, k)
			}
			lo.anonymous(k)
		}
		if cl.Broken {
			return
		}
		lo.u.Body = lo.order(k, report)
		lo.create()
		lo.rangeOver(k, report)
		if cl.Broken {
			return
		}
		lo.checkHeads(report)
		cl.Units = append(cl.Units, lo.u)
	}
	c.reportUnbound(report, len(alts))
}

// checkHeads finds the head variables that the body does not bind.
func (lo *lowering) checkHeads(report *unbound) {
	for _, h := range slices.Concat(lo.u.Heads, lo.u.Creates) {
		for _, a := range h.Args {
			normal.EachVar(a, func(r normal.Ref) {
				if !r.Var.Bound && !r.Var.Out && !r.Var.Created {
					report.add(r.Var)
				}
			})
		}
	}
	for _, a := range lo.u.Aggs {
		if a.In != nil && !a.In.Bound {
			report.add(a.In)
		}
		for _, k := range a.By {
			if !k.Var.Bound {
				report.add(k.Var)
			}
		}
	}
	if s := lo.u.Seq; s != nil {
		for _, v := range s.Group {
			if !v.Bound {
				report.add(v)
			}
		}
		for _, k := range s.Order {
			if !k.Var.Bound {
				report.add(k.Var)
			}
		}
	}
	for _, a := range lo.u.Asserts {
		if !a.Var.Bound && !a.Var.Out {
			report.add(a.Var)
		}
	}
}

// head lowers one head atom. Its nested expressions go to the body.
func (lo *lowering) head(h ast.Node, k *conj) {
	a, value := headAtom(h)
	if a == nil {
		lo.badHead(h)
		return
	}
	if lo.c.reservedHead(a) {
		lo.cl.Broken = true
		return
	}
	if a.Square && value == nil {
		d := lo.c.Errorf(diag.BadHead, h.Pos(), "%s is a value, not an atom", h.Pos().Text())
		d.Help("write what the value is: %s = v", h.Pos().Text())
		lo.cl.Broken = true
		return
	}
	p := lo.c.predOf(a, true)
	if p == nil || !lo.c.fits(a, p) {
		lo.cl.Broken = true
		return
	}
	args := arguments(a)
	if value != nil {
		args = append(args[:len(args):len(args)], value)
	}
	at := &normal.Atom{Span: h.Pos(), Pred: &p.Pred}
	for i, arg := range args {
		// In a column of entities _ ranges over all of the type.
		w, ok := ast.Unparen(arg).(*ast.Wildcard)
		if ok && (p.EntityTypes[i] == nil || p.Maker != nil) {
			d := lo.c.Errorf(diag.WildcardInHead, w.Span, "a head cannot contain _")
			d.Note("the rule must say which value to derive")
			d.Help("name a variable that the body binds, or leave the argument out of %s", p.Name)
			lo.cl.Broken = true
			continue
		}
		t := lo.term(arg, k)
		if t == nil {
			lo.cl.Broken = true
			continue
		}
		at.Args = append(at.Args, t)
	}
	if p.Maker != nil {
		lo.makes = append(lo.makes, at)
	}
	if m := p.Maker; m == nil || m.Pred != &p.Pred || m.Family.Lasting && !m.Refmode {
		lo.u.Heads = append(lo.u.Heads, at)
	}
	if p.firstHead == nil {
		p.firstHead, p.firstArgs = at, args
	}
	if !p.ruleSpan.IsValid() && a.Delta == "" && (lo.cl.body != nil || len(k.literals) > 0) {
		p.ruleSpan = h.Pos()
	}
}

func (lo *lowering) badHead(h ast.Node) {
	lo.cl.Broken = true
	d := lo.c.Errorf(diag.BadHead, h.Pos(), "a head is an atom p(x, y) or f[x] = y")
	switch h := ast.Unparen(h).(type) {
	case *ast.Disj:
		d.Message = "a head cannot contain a disjunction"
		d.Help("a rule derives all of its head; say which alternative holds in the body")
	case *ast.Not:
		d.Message = "a head cannot be negated"
		d.Help("to forbid something write a constraint: !(...).")
	case *ast.Compare:
		d.Message = "a head cannot be a comparison"
		if help, ok := roundHead(h); ok {
			d.Message = "a head with a value is a function"
			d.Help("%s", help)
			return
		}
		d.Help("move %s to the body, after <-", h.Span.Text())
	case *ast.In:
		d.Message = "a head cannot be a condition"
		d.Help("move %s to the body, after <-", h.Span.Text())
	case *ast.Var:
		if desugar.IsVariable(h.Name) {
			d.Help("a conditional value stands in a head as an argument: p(%s)", h.Span.Text())
			return
		}
		d.Help("%s alone is a variable; a predicate without arguments is written %s()", h.Name,
			h.Name)
	}
}

// reservedHead reports a head that names a built-in or a type.
func (c *checker) reservedHead(a *ast.Apply) bool {
	name := a.Name.Text
	switch {
	case scalar.IsBuiltin(name):
		d := c.Errorf(diag.BuiltinDefined, a.Name.Span,
			"%s is a built-in function and cannot be defined",
			name)
		d.Help("choose another name for the predicate")
	case isTypeName(name):
		d := c.Errorf(diag.BuiltinDefined, a.Name.Span, "%s is a type and cannot be defined", name)
		d.Help("choose another name for the predicate")
	default:
		return false
	}
	return true
}
