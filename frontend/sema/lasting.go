package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
)

// This file finds the entities that outlive a transaction.

// settleLasting marks the families whose entities are the same ones in all
// transactions: those of a program that is one of several, and those whose
// constructors have events. It goes after the predicates are collected.
func (c *checker) settleLasting() {
	hasEvents := func(p *pred) bool {
		return c.preds["+"+p.Name] != nil || c.preds["-"+p.Name] != nil ||
			c.preds["^"+p.Name] != nil || c.preds[p.Name+core.StartSuffix] != nil
	}
	c.settleNamed()
	for _, p := range c.makers {
		f := p.Maker.Family
		if !f.ByValue() && (c.opts.Made != nil || f.Named || hasEvents(p)) {
			f.Lasting = true
		}
	}
	for _, p := range c.makers {
		f := p.Maker.Family
		if !f.Lasting || !p.Maker.Anonymous {
			continue
		}
		f.Lasting, f.Named, f.NamedBefore = false, false, false
		i := slices.IndexFunc(f.Makers, func(m *normal.Maker) bool {
			return hasEvents(c.preds[m.Pred.Name])
		})
		if i >= 0 {
			d := c.Errorf(diag.NumberedEntities, p.Span,
				"an entity of %s without a constructor exists within one transaction",
				p.Maker.Of.Name)
			d.Note("%s has events, so the entities of %s have to outlive the transaction",
				f.Makers[i].Pred.Name, p.Maker.Of.Name)
			d.Help("create the entity with a constructor")
		}
	}
}

// takesTerms reports whether facts from outside may fill a predicate and name
// entities in it. In a single transaction, a predicate with rules or facts
// takes none, so that its program numbers entities as the plan does.
func (c *checker) takesTerms(p *pred) bool {
	switch {
	case p == nil:
		return false
	case p.Given:
		return true
	case p.Maker != nil || p.Hidden || p.Query:
		return false
	case c.opts.Made == nil:
		return p.Rules+p.Loads+p.facts == 0 && p.Family == nil
	}
	start := c.preds[p.Name+core.StartSuffix]
	isStored := p.Rules == 0 || start != nil && start.Rules == 0
	return isStored && (c.opts.Held == nil || !c.opts.Held(p.Name))
}

// settleNamed marks the families of which facts from outside name entities.
func (c *checker) settleNamed() {
	columns := map[string][]*normal.Family{} // of declared predicates
	for _, cl := range c.clauses {
		if cl.decl == nil {
			continue
		}
		p := c.preds[cl.decl.apply.Name.Text]
		for _, t := range cl.decl.types {
			of := c.entities[t.node.Name.Text]
			if of == nil || of.Family.ByValue() || len(of.Family.Makers) == 0 || p == nil {
				continue
			}
			columns[p.Name] = append(columns[p.Name], of.Family)
			if c.takesTerms(p) {
				of.Family.Named = true
			}
		}
	}
	for _, p := range c.makers {
		f := p.Maker.Family
		f.NamedBefore = f.NamedBefore || c.opts.Made[p.Name+core.MadeSuffix+core.NamedSuffix]
	}
	// The keys of entities that facts name are entities that facts name.
	for again := true; again; {
		again = false
		for _, p := range c.makers {
			for _, of := range columns[p.Name] {
				if p.Maker.Family.Named && !of.Named {
					of.Named, again = true, true
				}
				if p.Maker.Family.NamedBefore && !of.NamedBefore {
					of.NamedBefore, again = true, true
				}
			}
		}
	}
}

// settleMaker lets heads of an event or of the start of a maker find the entity
// by its keys.
func settleMaker(p, base *pred, start bool) {
	m := base.Maker
	if m != nil && (start && p.Rules > 0 && (m.Refmode || m.Family.Lasting) ||
		p.Name[0] == '+' && !m.Refmode && m.Family.Lasting) {
		p.Maker = m
	}
}
