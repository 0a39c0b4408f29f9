package randprog

import "strings"

// cyclic adds a recursion whose rules have cyclic and wide bodies, with one to
// four recursive atoms. Roads are dense, so that each atom has several tuples
// for the bound variables of the others.
func (g *generator) cyclic() {
	key := integer
	if g.chance(30) {
		key = text
	}
	roads := &pred{name: g.name("e"), args: []typ{key, key}, keys: 2}
	g.clause("%s", g.declaration(roads))
	var places []string
	for range 4 + g.IntN(5) {
		field, _ := g.constant(key)
		places = append(places, field)
	}
	seen := map[string]bool{}
	for range 10 + g.IntN(30) {
		from, to := pick(g, places), pick(g, places)
		if text := from + "\t" + to; !seen[text] {
			seen[text] = true
			g.out.Facts = append(g.out.Facts, Fact{roads.name, []string{from, to}})
		}
	}
	group := []*pred{{name: g.name("p"), args: roads.args, keys: 2}}
	if g.chance(30) {
		group = append(group, &pred{name: g.name("p"), args: roads.args, keys: 2})
	}
	for _, p := range group {
		start := roads.atom([]string{"x", "y"})
		if g.chance(40) {
			_, x := g.constant(key)
			start += ", x <= " + x
		}
		g.clause("%s <- %s.", p.atom([]string{"x", "y"}), start)
	}
	for range 1 + g.IntN(2) {
		// The pairs of variables that atoms connect, and those of the head.
		shape := pick(g, [][]string{
			{"xy", "yz", "zx"},
			{"xy", "yz", "xz"},
			{"xy", "yz", "xz", "zw"},
			{"xy", "yz", "zw", "wx"},
			{"xy", "xz", "yw", "zw"},
			{"xy", "xz", "xw", "yz", "yw", "zw"},
			{"xy", "yz", "zx", "xw", "yw"},
		})
		first := g.IntN(len(shape)) // the atom that recurses in any case
		var atoms []string
		for i, ends := range shape {
			p := roads
			if i == first || g.chance(40) {
				p = pick(g, group)
			}
			args := strings.Split(ends, "")
			if g.chance(20) {
				args[0], args[1] = args[1], args[0]
			}
			atoms = append(atoms, p.atom(args))
		}
		if g.chance(25) {
			atoms = append(atoms, pick(g, []string{"x != y", "y != z",
				"!" + roads.atom([]string{"z", "x"})}))
		}
		vars := []string{"x", "y", "z"}
		g.Shuffle(len(vars), func(i, j int) { vars[i], vars[j] = vars[j], vars[i] })
		g.clause("%s <- %s.", pick(g, group).atom(vars[:2]), strings.Join(atoms, ", "))
	}
	g.complete(group...)
}
