package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// iterate acts on lang:iterate[`p] = 50.
func (c *checker) iterate(d *directive, p *pred) {
	lit, ok := ast.Unparen(d.value).(*ast.Literal)
	if !ok || lit.Value.Type.Kind != scalar.Int || lit.Value.Int() < 1 {
		e := c.Errorf(diag.BadDirective, d.value.Pos(),
			"a number of rounds is an integer, 1 or more")
		e.Help("write for example lang:iterate[`%s] = 20.", p.Name)
		if ok && lit.Value.Type.IsNumeric() && lit.Value.Type.Kind != scalar.Int {
			e.Help("for rounds until nothing moves by more than %s, write lang:iterateUntil[`%s] = %s.",
				lit.Pos().Text(), p.Name, lit.Pos().Text())
		}
		c.iteration(d, p) // so that its rules may read the round before
		return
	}
	had := p.Iterates
	i := c.iteration(d, p)
	if i == nil {
		return
	}
	if n := lit.Value.Int(); i.Most >= 0 && i.Most != n {
		e := c.Errorf(diag.BadDirective, d.value.Pos(), "%s has two numbers of rounds", p.Name)
		e.Label(had.Span, "the other one is %d", i.Most)
		e.Help("remove one of them")
		return
	}
	i.Span, i.Most = d.span, lit.Value.Int()
}

// iterateUntil acts on lang:iterateUntil[`p] = 1e-9.
func (c *checker) iterateUntil(d *directive, p *pred) {
	lit, ok := ast.Unparen(d.value).(*ast.Literal)
	if !ok || !lit.Value.Type.IsNumeric() ||
		scalar.Compare(lit.Value, scalar.OfBits(lit.Value.Type, 0)) < 0 {
		e := c.Errorf(diag.BadDirective, d.value.Pos(),
			"what values may move by is a number, 0 or more")
		e.Help("write for example lang:iterateUntil[`%s] = 0. for rounds until nothing moves",
			p.Name)
		return
	}
	i := c.iteration(d, p)
	if i == nil {
		return
	}
	until, ok := c.movement(d, p, lit.Value)
	if !ok {
		return
	}
	if i.Converges() && i.Until != until {
		e := c.Errorf(diag.BadDirective, d.value.Pos(), "values of %s may move by two amounts", p.Name)
		e.Label(p.untilSpan, "the other one")
		e.Help("remove one of them")
		return
	}
	p.untilSpan, i.Until, i.Still = d.span, until, until.Type.Kind == scalar.Invalid
}

// movement returns by how much values of a predicate may move, in their type,
// or an invalid value for 0.
func (c *checker) movement(d *directive, p *pred, by scalar.Value) (scalar.Value, bool) {
	if scalar.Compare(by, scalar.OfBits(by.Type, 0)) == 0 {
		return scalar.Value{}, true
	}
	var t scalar.Type
	if p.Keys < p.Arity {
		var ok bool
		if t, ok = c.types.TypeOf(p.Columns[p.Keys]); !ok {
			return scalar.Value{}, false // reported
		}
	}
	value, ok := scalar.Value{}, false
	if t.IsNumeric() {
		value, ok = scalar.Lookup("convert").Eval(t, []scalar.Value{by})
	}
	if !ok || !value.Fits() || scalar.Compare(value, scalar.OfBits(t, 0)) == 0 {
		e := c.Errorf(diag.BadDirective, d.value.Pos(), "values of %s cannot move by %s", p.Name,
			d.value.Pos().Text())
		if t.Kind == scalar.Invalid {
			e.Note("%s is a relation", p.Shape())
		} else {
			e.Note("the value of %s is of type %s", p.Name, t)
		}
		e.Help("write lang:iterateUntil[`%s] = 0. for rounds until nothing moves", p.Name)
		return value, false
	}
	return value, true
}

// iteration returns the iteration of a predicate, or nil if it cannot iterate.
func (c *checker) iteration(d *directive, p *pred) *core.Iteration {
	switch {
	case p.Maker != nil || p.Family != nil || p.Rules == 0:
		e := c.Errorf(diag.BadDirective, d.span, "no rule derives %s", p.Name)
		e.Note("lang:%s says how often the rules of %s run", d.name, p.Name)
		e.Help("iterate a predicate of your own that starts as a copy of %s", p.Name)
		return nil
	case p.Keys < p.Arity-1:
		e := c.Errorf(diag.BadDirective, d.span, "%s has several values for a key", p.Name)
		e.Help("iterate a predicate for each of the values, with the same lang:%s", d.name)
		return nil
	}
	if p.Iterates == nil {
		p.Iterates = &core.Iteration{Span: d.span, Most: -1}
	}
	return p.Iterates
}

// checkIterations refuses predicates that would have to do two things.
func (c *checker) checkIterations() {
	for _, p := range c.order {
		if p.Iterates == nil || p.Keeps == core.KeepAll {
			continue
		}
		e := c.Errorf(diag.BadDirective, p.Iterates.Span,
			"%s iterates, and keeps %s value for a key", p.Name, p.Keeps.Phrase())
		e.Note("a round replaces all values by those that the rules derive from the round before")
		e.Help("remove one of the directives; if rounds are meant, aggregate with min or max " +
			"in the rule")
	}
}
