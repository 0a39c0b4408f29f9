package randprog

import "fmt"

// counting adds a function that counts or adds up bindings of its own
// recursion, and a relation that reads lower bounds on it.
func (g *generator) counting() {
	key := pick(g, []typ{integer, text})
	value := pick(g, []typ{integer, money, wide, real})
	roads := g.roads(key, value)
	counted := &pred{name: g.name("i"), args: []typ{key, integer}, keys: 1}
	reached := &pred{name: g.name("q"), args: []typ{key}, keys: 1}
	spec := pick(g, []string{"count()", "count_distinct(y)", "count_distinct(v)", "total(v)", "max(v)"})
	if spec == "total(v)" || spec == "max(v)" {
		counted.args = []typ{key, value}
	}
	g.clause("%s", g.declaration(counted))
	g.clause("lang:recursiveMax(`%s).", counted.name)
	body := roads.atom([]string{"x", "y", "v"}) + ", " + reached.atom([]string{"y"})
	if g.chance(30) {
		body = roads.atom([]string{"x", "y", "v"}) + ", " + reached.atom([]string{"x"})
	}
	if g.chance(30) {
		body += ", !" + roads.atom([]string{"y", "x", "_"})
	}
	_, zero := g.constant(value)
	if spec == "total(v)" {
		zero = map[typ]string{integer: "0", money: "0.00", wide: "0.00", real: "0f"}[value]
	}
	body += ", v >= " + zero
	g.clause("%s <- agg<<u = %s>> %s.", counted.atom([]string{"x", "u"}), spec, body)
	_, first := g.constant(key)
	g.clause("%s.", reached.atom([]string{first}))
	bound := fmt.Sprint(g.IntN(4))
	if counted.args[1] != integer {
		_, bound = g.constant(value)
	}
	g.clause("%s <- %s, n %s %s.", reached.atom([]string{"x"}), counted.atom([]string{"x", "n"}),
		pick(g, []string{">", ">="}), bound)
	if g.chance(50) {
		g.clause("%s <- %s, %s.", reached.atom([]string{"y"}), reached.atom([]string{"x"}),
			roads.atom([]string{"x", "y", "_"}))
	}
	g.preds = append(g.preds, counted, reached)
}
