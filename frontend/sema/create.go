package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// This file gives values to the variables that no literal of the body binds but
// whose type does: those of entities that the head creates, and those that
// range over all entities of a type.

// checkEntityDirective reports a directive about entities that has no predicate
// or a value that it does not take.
func (c *checker) checkEntityDirective(d *directive) {
	form := "lang:" + d.name + "(`p)."
	ok := d.pred != nil && d.value == nil
	if d.name == "isEntity" {
		form = "lang:isEntity[`p] = true."
		lit, isLiteral := ast.Unparen(d.value).(*ast.Literal)
		ok = d.pred != nil && isLiteral && lit.Value.Type.Kind == scalar.Boolean
	}
	if !ok {
		e := c.Errorf(diag.BadDirective, d.span, "lang:%s does not have this form", d.name)
		e.Help("write %s", form)
	}
}

// create decides for each refmode and constructor in the head which entity it
// creates. The keys of one may be entities that another one creates.
func (lo *lowering) create() {
	if len(lo.makes) == 0 {
		return
	}
	if lo.cl.Node.P2P != nil {
		d := lo.c.Errorf(diag.BadCreation, lo.makes[0].Span, "an aggregate cannot create entities")
		d.Help("derive a predicate with the aggregate, and create the entities from it in another rule")
		lo.cl.Broken = true
		return
	}
	valued := func(t normal.Term) bool {
		r, ok := t.(normal.Ref)
		return !ok || r.Var.Bound || r.Var.Created
	}
	waiting := slices.Clone(lo.makes)
	for changed := true; changed; {
		changed = false
		kept := waiting[:0]
		for _, at := range waiting {
			m := at.Pred.Maker
			r, ok := m.Entity(at).(normal.Ref)
			if isGiven := !ok || r.Var.Bound || r.Var.Created; isGiven && lo.cl.Node.Frame {
				continue
			} else if isGiven {
				lo.alreadyMade(at)
				return
			}
			if slices.ContainsFunc(m.Keys(at), func(t normal.Term) bool { return !valued(t) }) {
				kept = append(kept, at)
				continue
			}
			r.Var.Created = true
			lo.u.Creates = append(lo.u.Creates, at)
			changed = true
		}
		waiting = kept
	}
	// The keys of the others have no value, which checkHeads reports.
	lo.u.Creates = append(lo.u.Creates, waiting...)
}

// anonymous adds the makers of the entities that the head creates without one.
func (lo *lowering) anonymous(k *conj) {
	for _, made := range lo.cl.anonymous {
		at := &normal.Atom{Span: made.of.Span, Pred: &made.maker.Pred}
		_, entity := unary(made.of)
		for _, v := range append(made.keys[:len(made.keys):len(made.keys)], entity) {
			at.Args = append(at.Args, normal.Ref{Var: lo.variable(v, k.scope), Span: v.Span})
		}
		lo.makes = append(lo.makes, at)
	}
}

// alreadyMade reports a refmode or constructor in the head whose entity has a
// value.
func (lo *lowering) alreadyMade(at *normal.Atom) {
	lo.cl.Broken = true
	e := at.Pred.Maker.Entity(at)
	d := lo.c.Errorf(diag.BadCreation, at.Span, "%s has a value already", e.Pos().Text())
	d.Note("%s creates an entity in a head, and finds one in a body", at.Pred.Name)
	d.Help("move %s to the body if its entity exists, or give the new entity a variable of its own",
		at.Span.Text())
}

// rangeOver lets the variables that nothing binds, and that stand in columns of
// an entity type, range over the entities of that type.
func (lo *lowering) rangeOver(k *conj, report *unbound) {
	if len(lo.c.entities) == 0 {
		return
	}
	var atoms []normal.Literal
	var names []string
	of := core.Combination{Span: lo.cl.Node.Left.Pos()}
	for _, v := range lo.u.Vars {
		if v.Bound || v.Created || v.Out || v.Scope != k.scope {
			continue
		}
		t := lo.entityTypeOf(v)
		if t == nil {
			continue
		}
		v.Bound = true
		report.drop(v)
		names = append(names, v.Shown()+" over "+t.Name)
		of.Types = append(of.Types, t.Name)
		atoms = append(atoms, &normal.Atom{Span: v.Span, Pred: t,
			Args: []normal.Term{normal.Ref{Var: v, Span: v.Span}}})
		lo.c.preds[t.Name].uses++
	}
	if len(atoms) == 0 {
		return
	}
	lo.c.combinations = append(lo.c.combinations, of)
	d := lo.c.Warnf(diag.RangesOverType, of.Span,
		"this rule tries every combination of %s", joinWords(names))
	d.Note("no positive atom of the body binds %s", boundNames(atoms))
	d.Help("bind them in the body if fewer will do")
	lo.u.Body = arrange(slices.Concat(atoms, lo.u.Body), k.scope)
}

func boundNames(atoms []normal.Literal) string {
	var names []string
	for _, a := range atoms {
		names = append(names, a.(*normal.Atom).Span.Text())
	}
	return joinWords(names)
}

// joinWords joins words as a sentence does.
func joinWords(words []string) string {
	out := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			out += " and " + w
		} else {
			out += ", " + w
		}
	}
	return out
}

// entityTypeOf returns the entity type of the column in which a variable
// stands: of the most special one, or nil.
func (lo *lowering) entityTypeOf(v *normal.Var) *normal.Pred {
	var found *normal.Pred
	look := func(a *normal.Atom) {
		for i, t := range a.Args {
			r, ok := t.(normal.Ref)
			if !ok || r.Var != v {
				continue
			}
			of := a.Pred.EntityTypes[i]
			if of != nil && (found == nil || of.IsA(found)) {
				found = of
			}
		}
	}
	var walk func(body []normal.Literal)
	walk = func(body []normal.Literal) {
		for _, l := range body {
			switch l := l.(type) {
			case *normal.Atom:
				look(l)
			case *normal.Negation:
				walk(l.Body)
			}
		}
	}
	for _, h := range lo.u.Heads {
		look(h)
	}
	walk(lo.u.Body)
	return found
}
