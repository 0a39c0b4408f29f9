package randprog

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
)

// iterating adds one or two predicates that iterate, and at times others that a
// round derives on its way. A round reads what is complete, so that it may
// negate and aggregate what it likes.
func (g *generator) iterating() {
	rounds := 1 + g.IntN(4)
	group := []*pred{g.iterated()}
	if g.chance(40) {
		group = append(group, g.iterated())
	}
	for _, p := range group {
		g.clause("%s", g.declaration(p))
		g.clause("lang:iterate[`%s] = %d.", p.name, rounds)
		if g.chance(40) {
			g.clause("lang:iterateUntil[`%s] = %s.", p.name, g.movement(p))
		}
		b := &body{g: g, recursive: true}
		b.positive(pick(g, g.preds))
		b.provideAll(p.args)
		g.iteratedRule(p, b)
	}
	g.preds = append(g.preds, group...)
	readers := map[*pred][]*pred{} // what a round derives on its way from a predicate
	for range g.IntN(3) {
		from := pick(g, group)
		h := g.onTheWay(from)
		readers[from] = append(readers[from], h)
		g.preds = append(g.preds, h)
	}
	for _, p := range group {
		if g.chance(40) && g.passedAlong(p) {
			continue
		}
		for range 1 + g.IntN(2) {
			b := &body{g: g, recursive: true}
			b.positive(pick(g, append(slices.Clip(readers[p]), p)))
			if g.chance(60) {
				b.positive(pick(g, g.preds))
			}
			b.provideAll(p.args)
			b.tests()
			if g.chance(30) {
				b.negation()
			}
			g.iteratedRule(p, b)
		}
	}
}

// iterated names a relation, or a function of one value.
func (g *generator) iterated() *pred {
	p := &pred{name: g.name("i"), args: []typ{pick(g, []typ{integer, integer, text})}, keys: 1}
	switch {
	case g.chance(20):
		if g.chance(60) {
			p.args, p.keys = append(p.args, integer), 2
		}
		return p
	case g.chance(20):
		p.args, p.keys = append(p.args, integer), 2
	case g.chance(10):
		p.args, p.keys = nil, 0
	}
	p.args = append(p.args, pick(g, []typ{integer, integer, real, real, money, wide, text, date,
		truth}))
	return p
}

// movement draws what values may move by when the rounds end.
func (g *generator) movement(p *pred) string {
	if p.functional() && g.chance(60) {
		switch p.args[p.keys] {
		case integer:
			return pick(g, []string{"1", "3"})
		case real, money, wide:
			return pick(g, []string{"0.25", "1", "2.5"})
		}
	}
	return "0"
}

// iteratedRule adds a rule that derives a predicate that iterates. That of a
// function aggregates, mostly, or goes from value to value of a key.
func (g *generator) iteratedRule(p *pred, b *body) {
	if !p.functional() {
		g.clause("%s <- %s.", p.atom(b.headTerms(p.args, false)), b.text())
		return
	}
	result := p.args[p.keys]
	of := list.Filter(b.vars, func(v variable) bool { return v.t == result })
	keys := list.Map(p.args[:p.keys], b.term)
	if len(of) > 0 && g.chance(75) {
		fn := pick(g, []string{"min", "max"})
		if result != text && result != date && result != truth && g.chance(40) {
			fn = "total"
		}
		g.clause("%s <- agg<<u = %s(%s)>> %s.", p.atom(append(keys, "u")), fn, pick(g, of).name,
			b.text())
		return
	}
	if g.chance(60) {
		b = &body{g: g, recursive: true}
		terms := list.Map(p.args, b.fresh)
		b.conjuncts = append(b.conjuncts, p.atom(terms))
		keys = terms[:p.keys:p.keys]
		if !slices.Contains(g.preds, p) { // there are no contents to start from
			keys = list.Map(p.args[:p.keys], func(t typ) string {
				_, literal := g.constant(t)
				return literal
			})
			_, value := g.constant(result)
			g.clause("%s.", p.atom(append(keys, value)))
			return
		}
		b.tests()
		if g.chance(30) {
			b.negation()
		}
	}
	value := b.term(result)
	if b.computes(result) {
		value = b.expression(result, false)
	}
	g.clause("%s <- %s.", p.atom(append(keys, value)), b.text())
}

// passedAlong adds a rule by which a function aggregates the values that other
// keys pass along the pairs of a predicate, as ranks of pages are. It returns
// false if no predicate has such pairs.
func (g *generator) passedAlong(p *pred) bool {
	if !p.functional() || p.keys != 1 {
		return false
	}
	key, result := p.args[0], p.args[1]
	for _, at := range g.Perm(len(g.preds)) {
		q := g.preds[at]
		places := list.Filter(g.Perm(len(q.args)), func(i int) bool { return q.args[i] == key })
		if q == p || len(places) < 2 {
			continue
		}
		terms := list.Map(q.args, func(typ) string { return "_" })
		terms[places[0]], terms[places[1]] = "x", "y"
		what := pick(g, []string{"min(v)", "max(v)"})
		switch {
		case result == integer && g.chance(30):
			what = "count()"
		case result != text && result != date && result != truth && g.chance(60):
			what = "total(v)"
		}
		computed := "" // of what the pair has beside the keys
		if at := slices.Index(q.args, integer); at >= 0 && terms[at] == "_" && g.chance(60) {
			terms[at] = "k"
			switch result {
			case integer:
				computed = ", w = v - k, w != 3"
			case real:
				computed = ", w = v * int:float:convert[k], w != 0.5f"
			}
			if computed != "" {
				what = strings.Replace(what, "(v)", "(w)", 1)
			}
		}
		g.clause("%s <- agg<<u = %s>> %s, %s%s.", p.atom([]string{"y", "u"}), what, q.atom(terms),
			p.atom([]string{"x", "v"}), computed)
		return true
	}
	return false
}

// onTheWay adds a predicate that a round derives from one that iterates.
func (g *generator) onTheWay(from *pred) *pred {
	b := &body{g: g, recursive: true}
	b.positive(from)
	if g.chance(50) {
		b.positive(pick(g, g.preds))
	}
	b.tests()
	if g.chance(25) {
		b.negation()
	}
	if len(b.vars) > 0 && g.chance(50) {
		v := pick(g, b.vars)
		h := &pred{name: g.name("h"), args: []typ{v.t}, keys: 1}
		spec, result := g.specification(b.vars)
		h.args = append(h.args, result)
		g.clause("%s <- agg<<u = %s>> %s.", h.atom([]string{v.name, "u"}), spec, b.text())
		return h
	}
	h := &pred{name: g.name("h")}
	for _, v := range b.vars[:min(len(b.vars), 2)] {
		h.args = append(h.args, v.t)
	}
	h.keys = len(h.args)
	g.clause("%s <- %s.", h.atom(list.Map(b.vars[:h.keys],
		func(v variable) string { return v.name })), b.text())
	return h
}
