package randprog

import (
	"fmt"
	"strings"
)

// improvingTypes are the types of the values that improving predicates keep.
var improvingTypes = []typ{integer, integer, integer, money, text, date, wide}

// improving adds one or two functions that keep the least or the greatest value
// of a key, with rules that recurse through both. Each sum is cut off at a
// bound, so that no value improves for ever. At times a relation without values
// takes part in the recursion.
func (g *generator) improving() {
	least := g.chance(50)
	directive := "lang:recursiveMax"
	if least {
		directive = "lang:recursiveMin"
	}
	value := pick(g, improvingTypes)
	key := integer
	if g.chance(30) {
		key = text
	}
	roads := g.roads(key, value)
	var group []*pred
	for len(group) == 0 || len(group) < 2 && g.chance(30) {
		p := &pred{name: g.name("i"), args: []typ{key, value}, keys: 1}
		if g.chance(25) {
			p.args, p.keys = []typ{key, key, value}, 2
		}
		group = append(group, p)
		g.clause("%s", g.declaration(p))
		g.clause("%s(`%s).", directive, p.name)
	}
	var reached *pred
	if g.chance(25) {
		from := pick(g, group)
		reached = &pred{name: g.name("q"), args: from.args[:from.keys], keys: from.keys}
	}
	for _, p := range group {
		b := &body{g: g}
		b.positive(roads)
		b.provideAll(p.args)
		g.clause("%s <- %s.", p.atom(b.headTerms(p.args, false)), b.text())
		for range 1 + g.IntN(2) {
			g.improvingRule(p, roads, group, reached, least)
		}
	}
	if reached != nil {
		keys := names(reached.keys)
		from := group[0]
		for _, p := range group {
			if p.keys == reached.keys {
				from = p
			}
		}
		condition := ""
		if value == integer {
			condition = fmt.Sprintf(", x > %d", g.IntN(3))
			if least {
				condition = fmt.Sprintf(", x < %d", g.IntN(6))
			}
		}
		if from.keys == reached.keys {
			g.clause("%s <- %s%s.", reached.atom(keys), from.atom(append(keys, "x")), condition)
		} else {
			g.clause("%s <- %s.", reached.atom(keys[:1]), from.atom(append(wildcards(from.keys-1),
				keys[0], "x")))
		}
		g.preds = append(g.preds, reached)
	}
	g.preds = append(g.preds, group...)
}

// roads adds a relation of few keys, each with several values, and its facts.
func (g *generator) roads(key, value typ) *pred {
	p := &pred{name: g.name("e"), args: []typ{key, key, value}, keys: 3}
	g.clause("%s", g.declaration(p))
	seen := map[string]bool{}
	for range 6 + g.IntN(10) {
		var fields []string
		for _, t := range p.args {
			field, _ := g.constant(t)
			fields = append(fields, field)
		}
		if text := strings.Join(fields, "\t"); !seen[text] {
			g.out.Facts = append(g.out.Facts, Fact{p.name, fields})
			seen[text] = true
		}
	}
	return p
}

// improvingRule adds a rule that makes a value of one or two values of the
// recursion.
func (g *generator) improvingRule(p, roads *pred, group []*pred, reached *pred, least bool) {
	head := p.args[:p.keys]
	b := &body{g: g}
	if g.chance(20) {
		b = g.newConjunction()
	}
	b.conjuncts = append(b.conjuncts, roads.atom([]string{b.fresh(roads.args[0]),
		b.fresh(roads.args[1]), b.fresh(roads.args[2])}))
	value := p.args[p.keys]
	var values []string
	for len(values) == 0 || len(values) < 2 && g.chance(25) {
		from := pick(g, group)
		args := make([]string, 0, 3)
		for _, t := range from.args[:from.keys] {
			if g.chance(50) {
				args = append(args, b.fresh(t))
			} else {
				args = append(args, b.term(t))
			}
		}
		x := fmt.Sprintf("d%d", len(values))
		b.conjuncts = append(b.conjuncts, from.atom(append(args, x)))
		values = append(values, x)
	}
	if reached != nil && g.chance(50) {
		var args []string
		for _, t := range reached.args {
			args = append(args, b.term(t))
		}
		b.conjuncts = append(b.conjuncts, reached.atom(args))
	}
	if g.chance(25) {
		_, bound := g.constant(value)
		sign := pick(g, []string{">", ">="})
		if least {
			sign = pick(g, []string{"<", "<="})
		}
		b.conjuncts = append(b.conjuncts, values[0]+" "+sign+" "+bound)
	}
	keys := make([]string, 0, 3)
	for _, t := range head {
		keys = append(keys, b.term(t))
	}
	g.clause("%s <- %s.", p.atom(append(keys, g.improved(b, value, values, least))), b.text())
}

// improved writes a monotone expression of values of the recursion.
func (g *generator) improved(b *body, t typ, values []string, least bool) string {
	x := values[0]
	fns := map[typ]string{integer: "int", money: "decimal", wide: "decimal", text: "string",
		date: "datetime"}
	if len(values) > 1 {
		x = fmt.Sprintf("%s:%s[%s, %s]", fns[t], pick(g, []string{"min", "max"}), x, values[1])
	}
	switch {
	case t == integer && g.chance(70):
		sign := "+"
		if least && g.chance(75) {
			sign = "-"
		}
		x = fmt.Sprintf("%s %s %s", x, sign, b.term(integer))
		if len(values) > 1 && g.chance(50) {
			x = fmt.Sprintf("%s + %s", values[0], values[1])
		}
		if g.chance(30) {
			x = fmt.Sprintf("2 * (%s) - 1", x)
		}
		if least {
			return fmt.Sprintf("int:max[%s, -9]", x)
		}
		return fmt.Sprintf("int:min[%s, 20]", x)
	case g.chance(40):
		return fmt.Sprintf("%s:%s[%s, %s]", fns[t], pick(g, []string{"min", "max"}), x, b.term(t))
	}
	return x
}
