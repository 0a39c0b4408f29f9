package randprog

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/list"
)

// constraint adds a condition on all tuples of a predicate.
func (g *generator) constraint() {
	p := pick(g, g.preds)
	if len(p.args) == 0 {
		return
	}
	b := &body{g: g}
	terms := list.Map(p.args, b.fresh)
	g.clause("%s -> %s.", p.atom(terms), b.test())
}

// joinedConstraint adds a condition on what a body of several atoms binds: a
// test, that there is a tuple or none, or that a value of a function differs.
// Many hold, because the body or one of its conjuncts is an alternative.
func (g *generator) joinedConstraint() {
	b := g.newConjunction()
	conjuncts := len(b.conjuncts)
	if len(b.vars) == 0 {
		return
	}
	head := ""
	switch n := g.IntN(4); {
	case n == 0:
		head = b.test()
	case n == 1:
		head = b.there()
	case n == 2:
		head = "!" + b.there()
	default:
		if head = b.differs(); head == "" {
			head = b.test()
		}
	}
	if g.chance(40) { // a binding that the head rejects is none of the body
		b.conjuncts = append(b.conjuncts[:conjuncts:conjuncts], head)
	}
	if g.chance(40) {
		head = fmt.Sprintf("(%s ; %s)", head, b.test())
	}
	g.clause("%s -> %s.", b.text(), head)
}

// there writes an atom over bound variables and wildcards.
func (b *body) there() string {
	p := pick(b.g, b.g.preds)
	return p.atom(list.Map(p.args, b.boundOrAny))
}

func (b *body) boundOrAny(t typ) string {
	if v, ok := b.bound(t); ok && b.g.chance(70) {
		return v
	}
	return "_"
}

// differs compares a bound variable with a value of a function of bound
// variables, "" if there is none.
func (b *body) differs() string {
	of := list.Filter(b.g.preds, func(p *pred) bool {
		if !p.single() {
			return false
		}
		for _, t := range p.args {
			if _, ok := b.bound(t); !ok {
				return false
			}
		}
		return true
	})
	if len(of) == 0 {
		return ""
	}
	p := pick(b.g, of)
	value, _ := b.bound(p.args[p.keys])
	keys := ""
	for i, t := range p.args[:p.keys] {
		if i > 0 {
			keys += ", "
		}
		key, _ := b.bound(t)
		keys += key
	}
	return fmt.Sprintf("%s %s %s[%s]", value, pick(b.g, []string{"!=", "!=", "<=", "="}), p.name, keys)
}
