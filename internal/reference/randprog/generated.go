package randprog

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/list"
)

// generated adds variables that no atom has as an argument: a sum in an atom, a
// range, or the parts of a text bind them. They have few values, also in a
// recursive body.
func (b *body) generated() {
	if b.g.mixing != plain {
		return // the ends of a range have one type
	}
	switch s, isText := b.bound(text); {
	case isText && b.g.chance(40):
		b.parts(s)
	case b.g.chance(35):
		b.inverted()
	default:
		b.ranged()
	}
}

// parts binds the position of a part of a text, and the part.
func (b *body) parts(s string) {
	i, t := b.fresh(integer), b.fresh(text)
	b.conjuncts = append(b.conjuncts, fmt.Sprintf(pick(b.g, []string{
		`string:split[%s, "a", %s] = %s`, `string:split(%s, "b", %s, %s)`,
		`string:captures[%s, "(a)|(b+)(.)?", %s] = %s`,
		`string:substring[%s, %s, 1] = %s`, `string:substring[%s, 0, %s] = %s`,
		`string:substring[%s, %s, _] = %s`,
	}), s, i, t))
}

// inverted adds an atom of a complete predicate in which an int is a sum or
// difference with a variable of its own.
func (b *body) inverted() {
	g := b.g
	of := list.Filter(g.preds, func(p *pred) bool {
		return len(list.Filter(p.args, func(t typ) bool { return t == integer })) > 0
	})
	if len(of) == 0 {
		b.ranged()
		return
	}
	p := pick(g, of)
	args, done := make([]string, len(p.args)), false
	for i, t := range p.args {
		switch shared, ok := b.bound(t); {
		case t == integer && !done:
			done = true
			args[i] = fmt.Sprintf(pick(g, []string{"%s + 1", "%s - 2", "3 - %s", "1 + %s - 3"}),
				b.fresh(integer))
		case ok && g.chance(30):
			args[i] = shared
		default:
			args[i] = "_"
		}
	}
	b.conjuncts = append(b.conjuncts, p.atom(args))
}

// ranged adds a range of a few numbers.
func (b *body) ranged() {
	lo, hi := b.end(), b.end()
	step := pick(b.g, []string{"1", "1", "2", "-1", "-3", "0", b.end()})
	x := b.fresh(integer)
	b.conjuncts = append(b.conjuncts, pick(b.g, []string{
		fmt.Sprintf("%s <= %s, %s < %s", lo, x, x, hi),
		fmt.Sprintf("%s < %s <= %s", lo, x, hi),
		fmt.Sprintf("%s > %s, %s >= %s", hi, x, x, lo),
		fmt.Sprintf("int:range(%s, %s, %s, %s)", lo, hi, step, x),
		fmt.Sprintf("int:range(%s, %s, %s, %s)", lo, hi, step, x),
	}))
}

// end draws a small number: an end of a range, or its step.
func (b *body) end() string {
	if v, ok := b.bound(integer); ok && b.g.chance(60) {
		return fmt.Sprintf("int:mod[%s, %d]", v, 3+b.g.IntN(4))
	}
	return fmt.Sprint(b.g.IntN(8) - 3)
}
