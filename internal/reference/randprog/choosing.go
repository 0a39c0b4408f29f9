package randprog

// choosing adds one or two functions that keep the first value of a key, with
// rules that recurse through both, and at times a relation that takes part. A
// value may depend on all of those before it.
func (g *generator) choosing() {
	key := pick(g, []typ{integer, integer, text})
	value := pick(g, []typ{integer, integer, money, text, date, wide, real})
	roads := g.roads(key, value)
	var group []*pred
	for len(group) == 0 || len(group) < 2 && g.chance(40) {
		p := &pred{name: g.name("a"), args: []typ{key, value}, keys: 1}
		group = append(group, p)
		g.clause("%s", g.declaration(p))
		g.clause("lang:recursiveAny(`%s).", p.name)
	}
	var reached *pred
	if g.chance(50) {
		reached = &pred{name: g.name("q"), args: []typ{key}, keys: 1}
		condition := pick(g, []string{"", ", " + roads.atom([]string{"y", "_", "v"}),
			", !" + roads.atom([]string{"y", "x", "_"})})
		g.clause("%s <- %s, %s%s.", reached.atom([]string{"y"}),
			pick(g, group).atom([]string{"x", "v"}), roads.atom([]string{"x", "y", "_"}), condition)
		if g.chance(40) {
			g.clause("%s <- %s, %s.", reached.atom([]string{"z"}), reached.atom([]string{"x"}),
				roads.atom([]string{"x", "z", "_"}))
		}
	}
	for _, p := range group {
		_, first := g.constant(key)
		for range 1 + g.IntN(2) {
			_, literal := g.constant(value)
			g.clause("%s.", p.atom([]string{first, literal}))
		}
		for range 1 + g.IntN(3) {
			g.choosingRule(p, roads, group, reached)
		}
	}
	if reached != nil {
		g.preds = append(g.preds, reached)
	}
	g.preds = append(g.preds, group...)
}

// choosingRule adds a rule that gives keys one step away values of the road, of
// the key before, or made of both.
func (g *generator) choosingRule(p, roads *pred, group []*pred, reached *pred) {
	from := pick(g, group).atom([]string{"x", "d"})
	value := pick(g, []string{"d", "w", "w"})
	switch t := p.args[1]; {
	case reached != nil && g.chance(40):
		from, value = reached.atom([]string{"x"}), "w"
	case t != date && g.chance(40):
		value = "d + w"
	}
	road := roads.atom([]string{"x", "y", "w"})
	if g.chance(30) {
		road = roads.atom([]string{"y", "x", "w"})
	}
	body := from + ", " + road
	if g.chance(25) {
		body = road + ", " + from
	}
	if g.chance(20) {
		body += ", " + pick(g, group).atom([]string{"y", "_"})
	}
	if g.chance(20) {
		_, bound := g.constant(p.args[1])
		body += ", w " + pick(g, []string{"<=", ">=", "!="}) + " " + bound
	}
	g.clause("%s <- %s.", p.atom([]string{"y", value}), body)
}
