package randprog

import "slices"

// shared adds relations that several rules fill, and rules that read the same
// predicates: kernels that go over one predicate fill several of the relations,
// and several kernels fill one.
func (g *generator) shared() {
	first := g.relation()
	if first == nil {
		return
	}
	t := pick(g, first.args)
	var from []*pred
	for _, p := range g.preds {
		if slices.Contains(p.args, t) {
			from = append(from, p)
		}
	}
	g.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	from = from[:min(len(from), 4)]
	for range 3 + g.IntN(4) {
		p := &pred{name: g.name("s"), args: []typ{t}, keys: 1}
		rules := 0
		for _, source := range from {
			at := slices.Index(source.args, t)
			if g.chance(50) {
				g.clause("%s <- %s.", p.atom(names(1)), source.column(at, names(1)[0]))
				rules++
			}
		}
		if rules > 0 {
			g.complete(p)
		}
	}
}
