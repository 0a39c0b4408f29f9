package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// keeps has the directives that keep one value for each key.
var keeps = map[string]core.Keep{
	"recursiveMin": core.KeepLeast, "recursiveMax": core.KeepGreatest,
	"recursiveAny": core.KeepAny,
}

// keepBest acts on lang:recursiveMin(`p) and lang:recursiveMin[`p] = true.
func (c *checker) keepBest(d *directive, p *pred) {
	if d.value != nil {
		lit, ok := ast.Unparen(d.value).(*ast.Literal)
		if !ok || lit.Value.Type.Kind != scalar.Boolean || !lit.Value.Bool() {
			e := c.Errorf(diag.BadDirective, d.value.Pos(), "lang:%s takes true only", d.name)
			e.Help("write lang:%s(`%s).", d.name, p.Name)
			return
		}
	}
	keep := keeps[d.name]
	switch {
	case p.Keys != p.Arity-1:
		e := c.Errorf(diag.BadDirective, d.span, "%s has no value to keep %s of", p.Name,
			keep.Phrase())
		e.Label(p.Span, "%s is a relation", p.Shape())
		e.Help("write %s as a function, with its value after =", p.Name)
	case p.Maker != nil || p.Rules == 0:
		e := c.Errorf(diag.BadDirective, d.span, "no rule derives %s", p.Name)
		e.Note("lang:%s keeps %s of the values that rules derive for a key", d.name,
			keep.Phrase())
	case p.Keeps != core.KeepAll && p.Keeps != keep:
		c.Errorf(diag.BadDirective, d.span, "%s keeps %s value for a key already", p.Name,
			p.Keeps.Phrase())
	case c.orderedValue(d, p):
		p.Keeps = keep
	}
}

// orderedValue reports whether the values of a predicate have an order that
// users can see.
func (c *checker) orderedValue(d *directive, p *pred) bool {
	t, ok := c.types.TypeOf(p.Columns[p.Keys])
	if !ok {
		return true // reported
	}
	switch t.Kind {
	case scalar.Boolean, scalar.Entity:
		e := c.Errorf(diag.BadDirective, d.span, "values of %s have no order", p.Name)
		e.Note("the value of %s is of type %s", p.Name, t)
		e.Help("use a number, a datetime or a string as the value")
		return false
	}
	return true
}
