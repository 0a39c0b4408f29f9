package randprog

// asked adds a recursion that is no result, and predicates that ask it for some
// of its tuples: by constants, by other relations, under negation and
// aggregates, or for all.
func (g *generator) asked() {
	key := integer
	if g.chance(30) {
		key = text
	}
	roads := &pred{name: g.name("e"), args: []typ{key, key}, keys: 2}
	g.clause("%s", g.declaration(roads))
	seen := map[string]bool{}
	for range 5 + g.IntN(8) {
		from, _ := g.constant(key)
		to, _ := g.constant(key)
		if text := from + "\t" + to; !seen[text] {
			seen[text] = true
			g.out.Facts = append(g.out.Facts, Fact{roads.name, []string{from, to}})
		}
	}
	group := []*pred{{name: "_" + g.name("k"), args: roads.args, keys: 2}}
	if g.chance(35) {
		group = append(group, &pred{name: "_" + g.name("k"), args: roads.args, keys: 2})
	}
	for _, p := range group {
		g.clause("%s <- %s.", p.atom([]string{"x", "y"}), roads.atom([]string{"x", "y"}))
		for range 1 + g.IntN(2) {
			g.askedRule(p, pick(g, group), roads)
		}
	}
	p := pick(g, group)
	_, one := g.constant(key)
	_, other := g.constant(key)
	for range 1 + g.IntN(2) {
		q := &pred{name: g.name("q"), args: []typ{key, key}, keys: 2}
		x, y := "x", "y"
		at := func(a, b string) string { return p.atom([]string{a, b}) }
		body := pick(g, []string{
			at(x, y) + ", x = " + one,
			at(x, y) + ", y = " + one,
			at(one, y) + ", " + at(y, x),
			roads.atom([]string{x, other}) + ", " + at(x, y),
			roads.atom([]string{x, y}) + ", !" + at(y, x),
			roads.atom([]string{x, y}) + ", !" + at(one, y),
			"(" + at(x, y) + ", x = " + one + " ; " + at(x, y) + ", y = " + other + ")",
			at(x, y),
		})
		if g.chance(20) {
			q.args = []typ{key, integer}
			q.keys = 1
			g.clause("%s <- agg<<n = count()>> %s.", q.atom([]string{x, "n"}),
				roads.atom([]string{x, one})+", "+at(x, y))
		} else {
			g.clause("%s <- %s.", q.atom([]string{x, y}), body)
		}
		g.preds = append(g.preds, q)
	}
}

// askedRule adds a rule with one recursive atom, or two.
func (g *generator) askedRule(p, from, roads *pred) {
	at := func(q *pred, a, b string) string { return q.atom([]string{a, b}) }
	body := pick(g, []string{
		at(from, "x", "z") + ", " + at(roads, "z", "y"),
		at(roads, "x", "z") + ", " + at(from, "z", "y"),
		at(roads, "x", "z") + ", " + at(from, "z", "w") + ", " + at(roads, "w", "y"),
		at(from, "x", "z") + ", " + at(from, "z", "y"),
		at(from, "y", "x"),
		at(roads, "z", "x") + ", " + at(from, "z", "y") + ", " + at(roads, "y", "w"),
	})
	if g.chance(30) {
		body += pick(g, []string{", x != y", ", !" + at(roads, "y", "x"),
			", " + at(roads, "y", "_"), ", " + at(roads, "x", "x")})
	}
	g.clause("%s <- %s.", at(p, "x", "y"), body)
}
