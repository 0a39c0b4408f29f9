package sema

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
)

// fits checks an application against its predicate's arity and keys.
func (c *checker) fits(a *ast.Apply, p *pred) bool {
	arity, keys := shapeOf(a)
	switch {
	case arity != p.Arity:
		if p.Poisoned && p.shapeRole == unseen {
			return false
		}
		d := c.Errorf(diag.WrongArity, a.Span, "%s has %s, not %s", p.Name,
			counted(p.Arity, p.Keys),
			counted(arity, keys))
		where := "used with " + plural(p.Arity, "argument") + " here"
		if p.decl != nil {
			where = "declared here"
		}
		d.Label(p.shapeSpan, "%s", where)
		d.Help("write %s", p.Shape())
		return false
	case keys >= 0 && keys != p.Keys:
		if p.Functional() {
			d := c.Errorf(diag.NotFunctional, a.Span, "%s has %s, not %d", p.Name,
				plural(p.Keys, "key"),
				keys)
			d.Label(p.keysSpan, "its keys are seen here")
			d.Help("write %s", p.Shape())
			return false
		}
		d := c.Errorf(diag.NotFunctional, a.Span, "%s is a relation and has no value", p.Name)
		where := "it is used as a relation here"
		if p.decl != nil {
			where = "it is declared here"
		}
		d.Label(p.shapeSpan, "%s", where)
		d.Help("write %s, or declare it as a function: %s", p.Shape(), p.Written(p.Arity-1))
		return false
	}
	return true
}

func counted(arity, keys int) string {
	if keys >= 0 && keys == arity-1 {
		return plural(keys, "key") + " and a value"
	}
	return plural(arity, "argument")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
