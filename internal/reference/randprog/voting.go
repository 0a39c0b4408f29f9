package randprog

import "strings"

// voting adds a function whose values are, round by round, what most neighbours
// of a key have, the least or greatest of several: the mode of a group. Some
// keys have no neighbours or no value at first, so that values come and go, and
// many votes are ties. At times something else reads the votes.
func (g *generator) voting() {
	key, value := integer, pick(g, []typ{integer, integer, text, text, money, date, truth, wide})
	link := &pred{name: g.name("e"), args: []typ{key, key}, keys: 2}
	first := &pred{name: g.name("e"), args: []typ{key, value}, keys: 1}
	layered := g.chance(30)
	if layered {
		link.args, link.keys = []typ{text, key, key}, 3
		first.args, first.keys = []typ{text, key, value}, 2
	}
	for _, p := range []*pred{link, first} {
		g.clause("%s", g.declaration(p))
		seen := map[string]bool{}
		for range 3 + g.IntN(16) {
			fields := make([]string, len(p.args))
			for i, t := range p.args {
				fields[i], _ = g.constant(t)
			}
			if text := strings.Join(fields[:p.keys], "\t"); !seen[text] {
				seen[text] = true
				g.out.Facts = append(g.out.Facts, Fact{p.name, fields})
			}
		}
	}
	layer := ""
	if layered {
		layer = "k, "
	}
	has, votes, most := g.name("i"), "_"+g.name("v"), "_"+g.name("m")
	g.clause("lang:iterate[`%s] = %d.", has, 1+g.IntN(6))
	if g.chance(40) {
		g.clause("lang:iterateUntil[`%s] = 0.", has)
	}
	g.clause("%s[%sx] = l <- %s.", has, layer,
		pick(g, []string{first.name + "[" + layer + "x] = l", first.name + "[" + layer + "x] = l, " +
			link.name + "(" + layer + "x, _)"}))
	extra := pick(g, []string{"", "", ", " + link.name + "(" + layer + "_, x)", ", v > 1",
		", !" + link.name + "(" + layer + "x, x)"})
	g.clause("%s[%sx] = l <- agg<<l = %s(m)>> %s[%sx, m] = v, %s[%sx] = v%s.", has, layer,
		pick(g, []string{"min", "max"}), votes, layer, most, layer, extra)
	whose := pick(g, []string{"x, y", "y, x"})
	same := pick(g, []string{"", "", "", ", x != y"})
	g.clause("%s[%sx, l] = n <- agg<<n = count()>> %s(%s%s), %s[%sy] = l%s.", votes, layer,
		link.name, layer, whose, has, layer, same)
	other := ""
	if g.chance(15) {
		other = ", " + votes + "[" + layer + "y, _] = v, x <= y"
	}
	g.clause("%s[%sx] = n <- agg<<n = max(v)>> %s[%sx, _] = v%s.", most, layer, votes, layer, other)
	result := &pred{name: has, args: first.args, keys: first.keys}
	g.preds = append(g.preds, result)
	if g.chance(25) {
		q := &pred{name: g.name("h"), args: []typ{key, integer}, keys: 2}
		g.clause("%s(x, n) <- %s[%sx, _] = n.", q.name, votes, layer)
		g.preds = append(g.preds, q)
	}
}
