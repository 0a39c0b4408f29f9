package randprog

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
)

// mixing is how a program mixes integer types. Every fourth program does.
type mixing uint8

const (
	plain mixing = iota // all integers are int
	small               // they are up to 64 bits signed or 32 unsigned
	large               // any, and derived predicates are declared
)

// mixingOf returns the mixing of a seed. Programs of the other seeds are what
// they would be without it.
func mixingOf(seed uint64) mixing {
	switch seed % 8 {
	case 5:
		return small
	case 1:
		return large
	}
	return plain
}

// declaration writes the clause that gives a predicate its types. Where the
// program mixes integers, it draws a type for each integer column. Values from
// 0 to 4 fit all of them.
func (g *generator) declaration(p *pred) string {
	if g.mixing == plain {
		return p.declaration(p.args)
	}
	types := make([]typ, len(p.args))
	for i, t := range p.args {
		if types[i] = t; t == integer {
			types[i] = g.integerType()
		}
	}
	return p.declaration(types)
}

func (g *generator) integerType() typ {
	types := []typ{integer, "int[8]", "int[16]", "int[32]", "uint[8]", "uint[16]", "uint[32]"}
	if g.mixing == large {
		types = append(types, "uint", "uint")
	}
	return pick(g, types)
}

// widened adds an undeclared relation whose rules give numbers of several
// types, and says the least that holds them. The numbers come from declared
// columns: a column that only literals give takes the type of its uses.
func (g *generator) widened() {
	p := &pred{name: g.name("w"), keys: 1}
	given := map[typ]bool{}
	for range 2 + g.IntN(2) {
		t := pick(g, []typ{integer, integer, money, real, wide})
		of := list.Filter(g.preds, func(p *pred) bool {
			return p.name[0] == 'e' && slices.Contains(p.args, t)
		})
		if len(of) == 0 {
			continue
		}
		b := &body{g: g}
		b.positive(pick(g, of))
		x, ok := b.bound(t)
		if !ok {
			continue
		}
		b.tests()
		g.clause("%s(%s) <- %s.", p.name, x, b.text())
		given[t] = true
	}
	switch {
	case len(given) == 0:
		return
	case given[real]:
		p.args = []typ{real}
	case given[wide]:
		p.args = []typ{wide}
	case given[money]:
		p.args = []typ{money}
	default:
		p.args = []typ{integer}
		if g.mixing == large {
			// It has no column of decimal[38,0], which is no integer.
			g.clause("%s(x) -> int(x).", p.name)
		}
	}
	g.preds = append(g.preds, p)
}
