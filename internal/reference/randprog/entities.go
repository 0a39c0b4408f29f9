package randprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// byValue adds an entity type whose refmode identifies its entities: rules that
// create them from values, relate them, and go back to the values. Literals
// stand for entities at times.
func (g *generator) byValue() {
	from := g.relation()
	if from == nil {
		g.plain()
		return
	}
	t := from.args[0]
	kind, mode := g.name("t"), ""
	mode = kind + ":id"
	g.clause("%s(x), %s(x:v) -> %s(v).", kind, mode, t)
	below := ""
	if g.chance(40) {
		below = g.name("t")
		g.clause("%s(x) -> %s(x).", below, kind)
	}
	vars := names(len(from.args))
	head := fmt.Sprintf("%s(e), %s(e:%s)", kind, mode, vars[0])
	if below != "" && g.chance(50) {
		head = fmt.Sprintf("%s(e:%s), %s(e)", mode, vars[0], below)
	}
	linked := g.name("p")
	g.clause("%s(x, y) -> %s(x), %s(y).", linked, kind, kind)
	g.clause("%s <- %s.", head, from.atom(vars))
	g.clause("%s(x, y) <- %s(x), %s(y), %s(x:u), %s(y:w), u <= w.", linked, kind, kind, mode, mode)
	if g.chance(50) {
		_, literal := g.constant(t)
		g.clause("%s(x, %s) <- %s(x, x).", linked, literal, linked)
	}
	if g.chance(50) {
		g.clause("%s(x, z) <- %s(x, y), %s(y, z), %s(y:v), v = %s[z].", linked, linked, linked,
			mode,
			mode)
	}
	back := &pred{name: g.name("p"), args: []typ{t, t}, keys: 2}
	test := pick(g, []string{"", ", x != y", fmt.Sprintf(", !%s(y, x)", linked)})
	g.clause("%s <- %s(x, y), %s(x:v0), %s(y:v1)%s.", back.atom([]string{"v0", "v1"}), linked, mode,
		mode, test)
	g.complete(back)
	if below != "" {
		special := &pred{name: g.name("p"), args: []typ{t}, keys: 1}
		g.clause("%s(v) <- %s(x), %s(x:v).", special.name, below, mode)
		g.complete(special)
	}
}

// constructed adds an entity type with constructors, and rules that create
// entities, also from entities and in a recursion. Numbers stand for these
// entities, which differ from run to run, so that only predicates of values are
// part of the result.
func (g *generator) constructed() {
	from := g.relation()
	if from == nil {
		g.plain()
		return
	}
	kind, leaf, node, all := "_"+g.name("t"), "_"+g.name("c"), "_"+g.name("c"), "_"+g.name("p")
	vars := names(len(from.args))
	keys := make([]string, len(vars))
	for i, v := range vars {
		keys[i] = fmt.Sprintf("%s(%s)", from.args[i], v)
	}
	g.clause("%s(x) -> .", kind)
	g.clause("%s[%s] = e -> %s, %s(e).", leaf, strings.Join(vars, ", "), strings.Join(keys, ", "),
		kind)
	g.clause("lang:constructor(`%s).", leaf)
	g.clause("%s[x, y] = e -> %s(x), %s(y), %s(e).", node, kind, kind, kind)
	g.clause("lang:constructor(`%s).", node)
	g.clause("%s(x, n) -> %s(x), int(n).", all, kind)
	g.clause("%s(e), %s[%s] = e, %s(e, 0) <- %s.", kind, leaf, strings.Join(vars, ", "), all,
		from.atom(vars))
	g.terms(kind, leaf, node, from)
	if g.chance(40) {
		g.related(kind, leaf, all, from)
		return
	}
	rounds := 1 + g.IntN(2)
	g.clause("%s(e), %s[x, y] = e, %s(e, m) <- %s(x, n), %s[%s] = y, m = n + 1, m <= %d.", kind,
		node,
		all, all, leaf, strings.Join(wildcards(len(vars)), ", "), rounds)
	depth := &pred{name: g.name("p"), args: []typ{integer, from.args[0]}, keys: 2}
	g.clause("%s(n, v) <- %s(e, n), %s[_, y] = e, %s[%s] = y.", depth.name, all, node, leaf,
		strings.Join(append([]string{"v"}, wildcards(len(vars)-1)...), ", "))
	g.complete(depth)
	count := &pred{name: g.name("a"), args: []typ{integer, integer}, keys: 1}
	g.clause("%s[n] = c <- agg<<c = count()>> %s(_, n).", count.name, all)
	g.complete(count)
	equal := &pred{name: g.name("p"), args: from.args, keys: len(from.args)}
	g.clause("%s <- %s[x, y] = _, %s[%s] = x, x = y.", equal.atom(vars), node, leaf,
		strings.Join(vars, ", "))
	g.complete(equal)
}

// terms adds predicates of entities that show as terms, and at times facts that
// name entities by terms. It draws from numbers of its own, so that a seed
// makes the same program with terms and without.
func (g *generator) terms(kind, leaf, node string, from *pred) {
	own := &generator{Rand: rand.New(rand.NewPCG(g.out.Seed, uint64(len(g.out.Clauses))))}
	t := &g.out.Terms
	clause := func(format string, args ...any) {
		t.Clauses = append(t.Clauses, fmt.Sprintf(format, args...))
	}
	suffix := strings.TrimPrefix(kind, "_")
	clause("shown_%s(x, y) -> %s(x), %s(y).", suffix, kind, kind)
	clause("shown_%s(x, y) <- %s[x, _] = y.", suffix, node)
	clause("shown_%s(x, x) <- %s(x).", suffix, kind)
	if own.chance(30) {
		return
	}
	named := "named_" + suffix
	clause("%s(x, y) -> %s(x), %s(y).", named, kind, kind)
	clause("shown_%s(x, y) <- %s(x, y), !%s(y, x).", suffix, named, named)
	var term func(depth int) string
	term = func(depth int) string {
		if depth > 0 && own.chance(40) {
			return fmt.Sprintf("%s[%s, %s]", node, term(depth-1), term(depth-1))
		}
		keys := make([]string, len(from.args))
		for i, a := range from.args {
			_, keys[i] = own.constant(a)
		}
		return leaf + "[" + strings.Join(keys, ", ") + "]"
	}
	for range own.IntN(6) {
		t.Facts = append(t.Facts, Fact{named, []string{term(2), term(2)}})
	}
}

// related adds rules over the entities of one constructor: which of them share
// a key, directly or not, and entities of a second type that each round makes
// of pairs.
func (g *generator) related(kind, leaf, all string, from *pred) {
	pair, of, linked := "_"+g.name("t"), "_"+g.name("c"), "_"+g.name("p")
	keys := append([]string{"v"}, wildcards(len(from.args)-1)...)
	last := append(wildcards(len(from.args)-1), "v")
	g.clause("%s(x) -> .", pair)
	g.clause("%s[x, y] = e -> %s(x), %s(y), %s(e).", of, kind, kind, pair)
	g.clause("lang:constructor(`%s).", of)
	g.clause("%s(e, x, y) -> %s(e), %s(x), %s(y).", linked, pair, kind, kind)
	g.clause("%s(e), %s[x, y] = e, %s(e, x, y) <- %s[%s] = x, %s[%s] = y.", pair, of, linked, leaf,
		strings.Join(keys, ", "), leaf, strings.Join(keys, ", "))
	g.clause("%s(e), %s[x, z] = e, %s(e, x, z) <- %s(_, x, y), %s(d, y, z), %s[y, z] = d.", pair,
		of,
		linked, linked, linked, of)
	p := &pred{name: g.name("p"), args: []typ{from.args[0], from.args[len(from.args)-1]}, keys: 2}
	g.clause("%s(u, v) <- %s[%s] = x, %s[x, y] = e, %s(e, _, _), %s[%s] = y.", p.name, leaf,
		strings.Join(append([]string{"u"}, keys[1:]...), ", "), of, linked, leaf,
		strings.Join(last, ", "))
	g.complete(p)
	count := &pred{name: g.name("a"), args: []typ{integer}, keys: 0}
	g.clause("%s[] = c <- agg<<c = count()>> %s(_, x, y), x != y, %s(x, _).", count.name, linked,
		all)
	g.complete(count)
}

// relation returns a complete predicate with columns that are not narrow, or
// nil.
func (g *generator) relation() *pred {
	var candidates []*pred
	for _, p := range g.preds {
		if len(p.args) > 0 && !hasType(p.args, narrow) {
			candidates = append(candidates, p)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return pick(g, candidates)
}

func hasType(list []typ, t typ) bool {
	for _, x := range list {
		if x == t {
			return true
		}
	}
	return false
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("v%d", i)
	}
	return out
}

func wildcards(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "_"
	}
	return out
}
