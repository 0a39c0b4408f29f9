package randprog

import (
	"slices"
	"strings"
)

// twins adds predicates that lists, series, defaults or inverted equalities
// make, and the same ones by rules of the core language. Evaluation need not
// know the former, which the front end rewrites: the two have to agree.
func (g *generator) twins() {
	for range 1 + g.IntN(2) {
		from := g.relation()
		if from == nil {
			return
		}
		switch g.IntN(4) {
		case 0:
			g.defaulted(from)
		case 1:
			g.listed(from)
		case 2:
			g.solved(from)
		default:
			g.accumulated()
		}
	}
}

// twin says that two predicates have the same tuples.
func (g *generator) twin(a, b string) { g.out.Twins = append(g.out.Twins, [2]string{a, b}) }

// column writes an atom of a predicate with a variable in one column, and
// wildcards in the others.
func (p *pred) column(at int, variable string) string {
	args := wildcards(len(p.args))
	args[at] = variable
	return p.atom(args)
}

// counted adds a function that counts the tuples of a predicate by one of its
// columns.
func (g *generator) counted(name string, of *pred, at int) {
	args := names(len(of.args))
	g.clause("%s[%s] = n <- agg<<n = count()>> %s.", name, args[at], of.atom(args))
}

// defaulted counts tuples, or none by default, for the values in a column of
// another predicate.
func (g *generator) defaulted(of *pred) {
	at := g.IntN(len(of.args))
	t := of.args[at]
	var others []*pred
	for _, p := range g.preds {
		if slices.Contains(p.args, t) {
			others = append(others, p)
		}
	}
	counts := pick(g, others)
	place := slices.Index(counts.args, t)
	f, plain, p, q := g.name("h"), g.name("k"), g.name("h"), g.name("k")
	value := g.IntN(3)
	g.clause("%s[x] = n -> %s(x), int(n).", f, t)
	g.clause("lang:defaultValue[`%s] = %d.", f, value)
	g.counted(f, counts, place)
	g.counted(plain, counts, place)
	g.clause("%s(x, n) <- %s, n = %s[x] + 1.", p, of.column(at, "x"), f)
	g.clause("%s(x, m) <- %s, %s[x] = n, m = n + 1.", q, of.column(at, "x"), plain)
	g.clause("%s(x, %d) <- %s, !%s[x] = _.", q, value+1, of.column(at, "x"), plain)
	g.twin(p, q)
	if g.chance(50) {
		p, q := g.name("h"), g.name("k")
		g.clause("%s(x) <- %s, %s[x] = %d.", p, of.column(at, "x"), f, value)
		g.clause("%s(x) <- %s, !%s[x] = _.", q, of.column(at, "x"), plain)
		g.clause("%s(x) <- %s, %s[x] = %d.", q, of.column(at, "x"), plain, value)
		g.twin(p, q)
	}
}

// listed makes a list of the values in a column, and an array of the list.
func (g *generator) listed(of *pred) {
	at := g.IntN(len(of.args))
	t := of.args[at]
	values, first, next, array := g.name("k"), g.name("h"), g.name("h"), g.name("h")
	order, start, step := g.name("k"), g.name("k"), g.name("k")
	g.clause("%s(x) <- %s.", values, of.column(at, "x"))
	g.clause("%s(x) -> %s(x).", values, t)
	g.clause("%s[] = x -> %s(x).", first, t)
	g.clause("%s[x] = y -> %s(x), %s(y).", next, t, t)
	g.clause("%s[] = x, %s[x] = y <- list<<>> %s(x).", first, next, values)
	g.clause("%s[i] = x -> int(i), %s(x).", array, t)
	g.clause("%s[i] = x <- list_to_seq<<>> %s[] = _, %s[_] = _.", array, first, next)
	g.clause("%s[i] = x -> int(i), %s(x).", order, t)
	g.clause("%s[i] = x <- seq<<>> %s(x).", order, values)
	g.clause("%s(x) <- %s[0] = x.", start, order)
	g.clause("%s(x, y) <- %s[i] = x, %s[i + 1] = y.", step, order, order)
	g.twin(first, start)
	g.twin(next, step)
	g.twin(array, order)
}

// solved binds a variable by an equality that has to be inverted.
func (g *generator) solved(of *pred) {
	at := g.IntN(len(of.args))
	if t := of.args[at]; t != integer && t != money && t != wide {
		return
	}
	forms := pick(g, [][2]string{{"y = x + 2", "x = y - 2"}, {"5 - x = y", "x = 5 - y"},
		{"y + 1 = (x - 2) - y", "x = y + 1 + y + 2"}, {"3 - (x - y) = 1", "x = y + 2"}})
	p, q := g.name("h"), g.name("k")
	g.clause("%s(x, y) <- %s, %s.", p, of.column(at, "y"), forms[0])
	g.clause("%s(x, y) <- %s, %s.", q, of.column(at, "y"), forms[1])
	g.twin(p, q)
}

// accumulated adds up the counts by an integer column in the order of that, at
// times in groups by another column.
func (g *generator) accumulated() {
	var candidates []*pred
	for _, p := range g.preds {
		if slices.Contains(p.args, integer) {
			candidates = append(candidates, p)
		}
	}
	if len(candidates) == 0 {
		return
	}
	of := pick(g, candidates)
	at := slices.Index(of.args, integer)
	group, columns := "", []int{at}
	if other := g.IntN(len(of.args)); other != at && of.args[other] != narrow && g.chance(60) {
		group, columns = "g, ", []int{other, at}
	}
	inputs, sums, twin := g.name("k"), g.name("h"), g.name("k")
	args := names(len(of.args))
	var keys []string
	for _, c := range columns {
		keys = append(keys, args[c])
	}
	g.clause("%s[%s] = n <- agg<<n = count()>> %s.", inputs, strings.Join(keys, ", "), of.atom(args))
	g.clause("%s[%si] = v <- series<<v = runtotal[i](n)>> %s[%si] = n.", sums, group, inputs, group)
	g.clause("%s[%si] = v <- agg<<v = total(n)>> %s[%si] = _, %s[%sj] = n, j <= i.", twin, group,
		inputs, group, inputs, group)
	g.twin(sums, twin)
	if g.chance(30) {
		p := g.name("p")
		g.clause("%s(v) <- %s[%si] = v, v > %d.", p, sums, strings.ReplaceAll(group, "g", "_"),
			g.IntN(4))
		g.preds = append(g.preds, &pred{name: p, args: []typ{integer}, keys: 1})
	}
}
