package randprog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
)

// typ is a type as declarations write it.
type typ string

const (
	integer  typ = "int"
	narrow   typ = "int[8]"
	text     typ = "string"
	money    typ = "decimal[18,2]"
	fraction typ = "decimal[18,6]" // of averages
	wide     typ = "decimal[38,2]"
	widest   typ = "decimal[38,6]" // of averages of wide
	real     typ = "float"
	truth    typ = "boolean"
	date     typ = "datetime"
)

// pred is a predicate that bodies may use.
type pred struct {
	name  string
	args  []typ
	keys  int      // len(args) for a relation
	table string   // what it is columns of, or ""
	names []string // of the columns; nil where they do not matter
}

func (p *pred) functional() bool { return p.keys < len(p.args) }

// single reports whether the predicate is a function of one value.
func (p *pred) single() bool { return p.keys == len(p.args)-1 }

// atom writes the predicate applied to arguments.
func (p *pred) atom(args []string) string {
	if !p.single() {
		return p.name + "(" + strings.Join(args, ", ") + ")"
	}
	return p.name + "[" + strings.Join(args[:p.keys], ", ") + "] = " + args[p.keys]
}

// declaration writes the clause that gives the predicate the types of its
// columns.
func (p *pred) declaration(columns []typ) string {
	names := make([]string, len(p.args))
	types := make([]string, len(p.args))
	for i, t := range columns {
		names[i] = fmt.Sprintf("x%d", i)
		if p.names != nil {
			names[i] = p.names[i]
		}
		types[i] = fmt.Sprintf("%s(%s)", t, names[i])
	}
	if p.functional() && !p.single() {
		keys, values := strings.Join(names[:p.keys], ", "), strings.Join(names[p.keys:], ", ")
		return fmt.Sprintf("%s(%s; %s) -> %s.", p.name, keys, values, strings.Join(types, ", "))
	}
	return p.atom(names) + " -> " + strings.Join(types, ", ") + "."
}

type generator struct {
	*rand.Rand
	out   *Program
	preds []*pred // complete: bodies may negate and aggregate them
	named int
	set   map[*pred]bool // functions with a rule that sets values
	mixing
}

// New makes the program of a seed. It has a few extensional predicates with
// facts, inside and outside of the text, at times a table of several of them,
// and some strata of derived ones: plain rules, linear, non-linear and mutual
// recursion, aggregates, numbering, and a query. Values stay small and
// recursive heads compute only modulo a number, so evaluation ends. Some
// programs mix integers of all widths and signs, and widen undeclared columns,
// or have lists, series and defaults, each with a twin in the core language.
// Others keep the best or the first value of each key in a recursion or count
// in it, iterate, vote round by round, ask a recursion for some of its tuples,
// recurse with cyclic and wide bodies, or fill relations from several
// predicates and read one for several relations.
// Some programs are refused when run: by a constraint, or because a functional
// predicate gets two values for a key.
func New(seed uint64) *Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)),
		out: &Program{Seed: seed}, set: map[*pred]bool{}, mixing: mixingOf(seed)}
	for range 2 + g.IntN(3) {
		g.extensional()
	}
	if g.chance(40) {
		g.table()
	}
	for range 3 + g.IntN(5) {
		g.stratum()
		if g.mixing != plain && g.chance(20) {
			g.widened()
		}
	}
	if seed%8 == 3 || seed%8 == 6 { // the programs of other seeds stay as they are
		g.twins()
	}
	if seed%8 == 0 || seed%8 == 4 {
		g.improving()
	}
	if seed%8 == 2 || seed%8 == 7 {
		g.iterating()
	}
	if seed%16 == 3 || seed%16 == 14 {
		g.asked()
	}
	if seed%16 == 6 || seed%16 == 11 {
		g.counting()
	}
	if seed%8 == 1 || seed%8 == 5 {
		g.shared()
	}
	if seed%16 == 10 || seed%16 == 15 {
		g.cyclic()
	}
	if seed%16 == 8 || seed%16 == 13 {
		g.choosing()
	}
	if seed%16 == 5 || seed%16 == 12 {
		g.voting()
	}
	g.query()
	if g.chance(15) {
		g.constraint()
	}
	if seed%8 == 1 || seed%8 == 2 {
		g.joinedConstraint()
	}
	// Order in the text has no meaning; the shuffle keeps it so.
	if g.chance(30) {
		g.Shuffle(len(g.out.Clauses), func(i, j int) {
			c := g.out.Clauses
			c[i], c[j] = c[j], c[i]
		})
	}
	return g.out
}

// chance is true in that many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) name(prefix string) string {
	g.named++
	return fmt.Sprintf("%s%d", prefix, g.named)
}

func (g *generator) clause(format string, args ...any) {
	g.out.Clauses = append(g.out.Clauses, fmt.Sprintf(format, args...))
}

// columnType draws a type of a column: mostly int.
func (g *generator) columnType() typ {
	if g.chance(65) {
		return integer
	}
	return pick(g, []typ{integer, text, text, text, money, money, truth, date, real, narrow, wide})
}

// constant draws a value of a type as facts and programs write it.
func (g *generator) constant(t typ) (field, literal string) {
	switch t {
	case text:
		field = pick(g, []string{"a", "b", "ab", "ba", "", "é", "%"})
		return field, `"` + field + `"`
	case money:
		field = pick(g, []string{"0.00", "0.50", "1.25", "-2.00", "3.00"})
		return field, field
	case wide:
		// A literal of fewer digits would be of another type.
		field = pick(g,
			[]string{"184467440737095516.16", "-184467440737095516.17",
				"12345678901234567890123.45", "9999999999999999999999999999999.99"})
		return field, field
	case widest:
		field = pick(g, []string{"18446744073709.551616", "-12345678901234567890.123456"})
		return field, field
	case fraction:
		field = pick(g, []string{"0.000000", "1.500000", "2.000000"})
		return field, field
	case real:
		field = pick(g, []string{"0", "0.5", "-1.25", "2"})
		return field, field + "f"
	case truth:
		field = pick(g, []string{"true", "false"})
		return field, field
	case date:
		field = pick(g, []string{"1998-09-02", "1996-02-29", "2000-01-31", "1969-12-31T23:59:59Z"})
		return field, "#" + field + "#"
	case narrow:
		field = pick(g, []string{"0", "1", "100", "127", "-128"})
		return field, field
	}
	field = fmt.Sprint(g.IntN(5))
	return field, field
}

func (g *generator) extensional() {
	p := &pred{name: g.name("e")}
	for range 1 + g.IntN(3) {
		p.args = append(p.args, g.columnType())
	}
	p.keys = len(p.args)
	if g.chance(30) {
		p.keys--
	}
	g.clause("%s", g.declaration(p))
	seen := map[string]bool{}
	tuples := 4 + g.IntN(14)
	if g.chance(8) {
		tuples = 0
	}
	for range tuples {
		fields := make([]string, len(p.args))
		literals := make([]string, len(p.args))
		for i, t := range p.args {
			fields[i], literals[i] = g.constant(t)
		}
		key := strings.Join(fields[:p.keys], "\t")
		if p.functional() && seen[key] {
			continue
		}
		seen[key] = true
		if g.chance(20) {
			g.clause("%s.", p.atom(literals))
		}
		if g.chance(90) {
			g.out.Facts = append(g.out.Facts, Fact{p.name, fields})
		}
	}
	g.preds = append(g.preds, p)
}

// stratum adds one predicate, or some that depend on one another.
func (g *generator) stratum() {
	switch n := g.IntN(100); {
	case n < 4:
		g.loaded()
	case n < 30:
		g.plain()
	case n < 55:
		g.recursive()
	case n < 75:
		g.aggregate()
	case n < 83:
		g.function()
	case n < 85:
		g.carelessFunction()
	case n < 90:
		g.sequence()
	case n < 93:
		g.severalHeads()
	case n < 96:
		g.byValue()
	case n < 98:
		g.constructed()
	default:
		g.flag()
	}
}

// derived names a relation and draws its columns. They are not narrow: a
// literal in a head does not say so.
func (g *generator) derived() *pred {
	p := &pred{name: g.name("p")}
	for range 1 + g.IntN(3) {
		t := g.columnType()
		if t == narrow {
			t = integer
		}
		p.args = append(p.args, t)
	}
	p.keys = len(p.args)
	return p
}

func (g *generator) complete(list ...*pred) {
	for _, p := range list {
		// Some derived predicates are declared, others inferred.
		if g.mixing == large || g.chance(25) {
			g.clause("%s", g.declaration(p))
		}
		g.preds = append(g.preds, p)
	}
}

func (g *generator) plain() {
	p := g.derived()
	for range 1 + g.IntN(3) {
		b := g.newBody(nil, p.args)
		head := b.headTerms(p.args, false)
		g.clause("%s <- %s.", p.atom(head), b.text())
	}
	g.complete(p)
}

// loaded adds an extensional predicate that delta rules fill, beside facts from
// outside.
func (g *generator) loaded() {
	p := g.derived()
	p.name = g.name("l")
	for range 1 + g.IntN(2) {
		b := g.newBody(nil, p.args)
		g.clause("+%s <- %s.", p.atom(b.headTerms(p.args, false)), b.text())
	}
	for range g.IntN(4) {
		fields, literals := make([]string, len(p.args)), make([]string, len(p.args))
		for i, t := range p.args {
			fields[i], literals[i] = g.constant(t)
		}
		if g.chance(50) {
			g.clause("+%s.", p.atom(literals))
		} else {
			g.out.Facts = append(g.out.Facts, Fact{p.name, fields})
		}
	}
	if g.chance(60) {
		g.events(p)
	}
	g.complete(p)
}

// events adds rules that delete from a predicate or set values of a function,
// and a predicate that such events fill.
func (g *generator) events(p *pred) {
	sign := "-"
	functions := slices.DeleteFunc(slices.Clone(g.preds),
		func(p *pred) bool { return p.name[0] != 'e' || !p.single() || g.set[p] })
	if len(functions) > 0 && g.chance(60) {
		p, sign = pick(g, functions), "^"
		g.set[p] = true // once, as two rules may give a key two values
	}
	terms, seen := make([]string, len(p.args)), map[string]bool{}
	for range 1 + g.IntN(3) {
		for i, t := range p.args {
			_, terms[i] = g.constant(t)
		}
		if open := g.IntN(len(terms)); sign == "-" && g.chance(30) {
			terms[open] = "_"
		}
		if key := strings.Join(terms[:p.keys], ", "); !seen[key] {
			seen[key] = true
			g.clause("%s%s.", sign, p.atom(terms))
		}
	}
	log := &pred{name: g.name("l"), args: p.args, keys: len(p.args)}
	for i := range terms {
		terms[i] = fmt.Sprintf("x%d", i)
	}
	atom, all := p.atom(terms), strings.Join(terms, ", ")
	before := strings.Replace(atom, p.name, p.name+"@prev", 1)
	g.clause("+%s(%s) <- %s%s.", log.name, all, sign, atom)
	g.clause("+%s(%s) <- %s.", log.name, all, pick(g, []string{
		"+" + atom + ", !" + before, before + ", !" + atom, "+" + atom + ", " + before,
	}))
	g.complete(log)
}

// recursive adds one to three predicates, each with a rule to start from and
// rules that use any of them, once or twice.
func (g *generator) recursive() {
	group := []*pred{g.derived()}
	for g.chance(35) && len(group) < 3 {
		// Alike columns make the recursion go through all of them.
		group = append(group, &pred{name: g.name("p"), args: group[0].args, keys: group[0].keys})
	}
	for _, p := range group {
		b := g.startBody(p.args)
		g.clause("%s <- %s.", p.atom(b.headTerms(p.args, true)), b.text())
		for range 1 + g.IntN(2) {
			b := g.newBody(group, p.args)
			g.clause("%s <- %s.", p.atom(b.headTerms(p.args, true)), b.text())
		}
	}
	g.complete(group...)
}

// aggregate adds one or two functional predicates over groups of one body.
func (g *generator) aggregate() {
	b := g.newConjunction()
	var keys []variable
	for _, v := range b.vars {
		if g.chance(40) && len(keys) < 2 {
			keys = append(keys, v)
		}
	}
	count := 1
	if g.chance(20) {
		count = 2
	}
	var heads, specs []string
	var made []*pred
	var first typ // of the result u0
	for i := range count {
		p := &pred{name: g.name("a"), keys: len(keys)}
		terms := make([]string, 0, len(keys)+1)
		for _, k := range keys {
			p.args = append(p.args, k.t)
			terms = append(terms, k.name)
		}
		out := fmt.Sprintf("u%d", i)
		spec, result := g.specification(b.vars)
		declare := result == money && strings.Contains(spec, "(v") && g.chance(40)
		if declare {
			result = wide
		}
		p.args = append(p.args, result)
		value := out
		if i > 0 && g.mixing == plain && result == integer && first == integer {
			value = out + " + u0 - u0"
		} else if i == 0 {
			first = result
		}
		heads = append(heads, p.atom(append(terms, value)))
		specs = append(specs, out+" = "+spec)
		if declare {
			g.clause("%s", g.declaration(p))
			g.preds = append(g.preds, p)
			continue
		}
		made = append(made, p)
	}
	g.clause("%s <- agg<<%s>> %s.", strings.Join(heads, ", "), strings.Join(specs, ", "), b.text())
	if g.mixing != plain {
		g.preds = append(g.preds, made...) // a total has no narrower column
		return
	}
	g.complete(made...)
}

// specification draws an aggregation function and says the type of its result.
func (g *generator) specification(vars []variable) (string, typ) {
	if len(vars) == 0 || g.chance(25) {
		return "count()", integer
	}
	v := pick(g, vars)
	switch fn := pick(g, []string{"total", "sum", "avg", "min", "max", "count_distinct", "median",
		"quantile"}); {
	case fn == "count_distinct":
		return fmt.Sprintf("count_distinct(%s)", v.name), integer
	case fn == "quantile":
		return fmt.Sprintf("quantile(%s, %s)", v.name,
			pick(g, []string{"0", "0.25", "0.5", "0.9", "1"})), v.t
	case (fn == "total" || fn == "sum") && v.t == text:
		return fmt.Sprintf(`string_join(%s, "-")`, v.name), text
	case g.mixing == small && v.t == integer && (fn == "total" || fn == "sum"):
		return fmt.Sprintf("max(%s)", v.name), v.t // a total of uint[8] is uint
	case isMean(fn) && (v.t == integer || v.t == money || v.t == fraction || v.t == narrow):
		return fmt.Sprintf("%s(%s)", fn, v.name), fraction
	case isMean(fn) && v.t == wide:
		return fmt.Sprintf("%s(%s)", fn, v.name), widest
	case isMean(fn) && v.t == real:
		return fmt.Sprintf("%s(%s)", fn, v.name), real
	case (fn == "total" || fn == "sum") && v.t == narrow:
		return fmt.Sprintf("%s(%s)", fn, v.name), integer
	case (fn == "total" || fn == "sum") &&
		(v.t == integer || v.t == money || v.t == fraction || v.t == wide || v.t == real):
		return fmt.Sprintf("%s(%s)", fn, v.name), v.t
	case fn == "min":
		return fmt.Sprintf("min(%s)", v.name), v.t
	}
	return fmt.Sprintf("max(%s)", v.name), v.t
}

func isMean(fn string) bool { return fn == "avg" || fn == "median" }

// function derives a functional predicate from another one with the same keys,
// if there is one: each key still has one value.
func (g *generator) function() {
	candidates := list.Filter(g.preds, (*pred).single)
	if len(candidates) == 0 {
		g.plain()
		return
	}
	from := pick(g, candidates)
	b := &body{g: g}
	terms := list.Map(from.args, b.fresh)
	b.conjuncts = append(b.conjuncts, from.atom(terms))
	b.tests()
	result := from.args[from.keys]
	p := &pred{name: g.name("f"), args: from.args, keys: from.keys}
	g.clause("%s <- %s.", p.atom(append(terms[:from.keys:from.keys], b.expression(result, false))),
		b.text())
	g.complete(p)
}

// carelessFunction derives a functional predicate from any body, so that a key
// may get several values.
func (g *generator) carelessFunction() {
	p := g.derived()
	p.name = g.name("f")
	p.keys = len(p.args) - 1
	b := g.newBody(nil, p.args)
	g.clause("%s <- %s.", p.atom(b.headTerms(p.args, false)), b.text())
	g.complete(p)
}

// sequence numbers the tuples of a relation, within groups or not.
func (g *generator) sequence() {
	candidates := list.Filter(g.preds, func(p *pred) bool {
		return len(p.args) > 0 && !p.functional()
	})
	if len(candidates) == 0 {
		g.plain()
		return
	}
	of := pick(g, candidates)
	vars := make([]string, len(of.args))
	for i := range vars {
		vars[i] = fmt.Sprintf("x%d", i)
	}
	groups := 0
	if len(vars) > 1 && g.chance(50) {
		groups = 1
	}
	p := &pred{name: g.name("s")}
	p.args = append(p.args, of.args[:groups]...)
	p.args = append(p.args, integer)
	p.args = append(p.args, of.args[groups:]...)
	p.keys = len(p.args)
	head := append(append(append([]string(nil), vars[:groups]...), "i"), vars[groups:]...)
	if len(vars) == groups+1 || g.chance(50) {
		p.keys = groups + 1
	}
	g.clause("%s", g.declaration(p))
	specifier := ""
	if g.chance(60) {
		specifier = g.numbering(vars, groups)
	}
	g.clause("%s <- seq<<%s>> %s.", p.atom(head), specifier, of.atom(vars))
	g.preds = append(g.preds, p)
}

// numbering draws the order of a sequence within the first variables.
func (g *generator) numbering(vars []string, groups int) string {
	keys := slices.Clone(vars)
	g.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:1+g.IntN(len(keys))]
	for i, key := range keys {
		if g.chance(50) {
			keys[i] = "desc(" + key + ")"
		}
	}
	out := "i = number(order(" + strings.Join(keys, ", ") + ")"
	if groups > 0 {
		out += ", partition(" + strings.Join(vars[:groups], ", ") + ")"
	}
	return out + ")"
}

func (g *generator) severalHeads() {
	p, q := g.derived(), g.derived()
	b := g.newBody(nil, append(p.args[:len(p.args):len(p.args)], q.args...))
	first := p.atom(b.headTerms(p.args, false))
	second := q.atom(b.headTerms(q.args, false))
	g.clause("%s, %s <- %s.", first, second, b.text())
	g.complete(p, q)
}

// flag adds a nullary predicate, true or not.
func (g *generator) flag() {
	p := &pred{name: g.name("n")}
	b := g.newBody(nil, nil)
	g.clause("%s <- %s.", p.atom(nil), b.text())
	g.preds = append(g.preds, p)
}

func (g *generator) query() {
	p := g.derived()
	p.name = "_"
	b := g.newBody(nil, p.args)
	g.clause("%s <- %s.", p.atom(b.headTerms(p.args, false)), b.text())
	if g.chance(20) {
		g.clause("lang:output:limit[`_] = %d.", 1+g.IntN(5))
	}
}
