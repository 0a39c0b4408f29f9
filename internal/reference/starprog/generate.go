package starprog

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// PerData is how many programs share the data of one seed.
const PerData = 4

// programs draws the programs of one data set.
type programs struct {
	*generator
	stored []*Pred
	pool   []*Pred // what bodies may use
	wanted []*Pred // further outputs
	out    *Program
	named  int
}

// New makes the programs of a seed, PerData of them, over the same data.
func New(seed uint64) []*Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x57a25eed))}
	newData(g)
	stored := g.predicates()
	var out []*Program
	for i := range PerData {
		p := &programs{generator: g, stored: stored}
		out = append(out, p.program(seed, i))
	}
	return out
}

// predicates makes the stored predicates: one for each column that is no key,
// and relations and functions of several columns.
func (g *generator) predicates() []*Pred {
	var out []*Pred
	for _, t := range g.data.Tables {
		var whole []string // columns that are never missing
		for i, c := range t.Columns {
			if !c.Key {
				out = append(out,
					g.stored(t, t.Name+":"+c.Name, t.Keys(), append(t.keyNames(), c.Name)))
			}
			if !c.Missing && i >= t.Keys() {
				whole = append(whole, c.Name)
			}
		}
		if len(whole) > 1 && g.chance(70) {
			g.Shuffle(len(whole), func(i, j int) { whole[i], whole[j] = whole[j], whole[i] })
			some := whole[:1+g.IntN(len(whole))]
			all := append(t.keyNames(), some...)
			out = append(out, g.stored(t, t.Name+":w", len(all), all))
			if g.chance(50) {
				two := whole[:min(2, len(whole))]
				out = append(out, g.stored(t, t.Name+":p", len(two), two))
			}
		}
		if values := t.valueNames(); len(values) > 1 && g.chance(60) {
			g.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
			out = append(out, g.stored(t, t.Name+":v", t.Keys(), append(t.keyNames(),
				values[:2+g.IntN(len(values)-1)]...)))
		}
	}
	return out
}

func (t *Table) keyNames() []string {
	var out []string
	for _, c := range t.Columns[:t.Keys()] {
		out = append(out, c.Name)
	}
	return out
}

func (t *Table) valueNames() []string {
	var out []string
	for _, c := range t.Columns[t.Keys():] {
		out = append(out, c.Name)
	}
	return out
}

func (g *generator) stored(t *Table, name string, keys int, columns []string) *Pred {
	p := &Pred{Name: name, Keys: keys, Table: t.Name, Columns: columns}
	for _, c := range columns {
		of := t.Columns[t.column(c)]
		p.Args = append(p.Args, Arg{Name: c, Type: of.Type, Domain: of.Domain})
	}
	return p
}

// columnsOf are the functional predicates of a table's columns.
func (g *programs) columnsOf(t *Table) []*Pred {
	return list.Filter(g.stored, func(p *Pred) bool {
		return p.Table == t.Name && p.Keys == t.Keys() && len(p.Args) == p.Keys+1
	})
}

// wideOf are the predicates of several of a table's columns.
func (g *programs) wideOf(t *Table) []*Pred {
	return list.Filter(g.stored, func(p *Pred) bool {
		return p.Table == t.Name && len(p.Args) != t.Keys()+1
	})
}

// program draws views over the data, and a query over both.
func (g *programs) program(seed uint64, index int) *Program {
	g.out = &Program{Seed: seed, Index: index, AllStored: g.stored, Data: g.data,
		Shapes: map[string]bool{}, Threads: 1 + g.IntN(3)}
	g.stored = slices.Clone(g.stored)
	if g.chance(12) {
		g.factsInText()
	}
	g.out.Stored = g.stored
	g.pool = slices.Clone(g.stored)
	for range g.IntN(4) {
		g.view()
	}
	query := g.query()
	if g.chance(12) {
		g.constraint()
	}
	g.out.Outputs = []*Pred{query}
	if g.chance(15) { // helpers are wanted, too
		for _, p := range g.derived() {
			if p != query {
				g.out.Outputs = append(g.out.Outputs, p)
			}
		}
	}
	for _, p := range g.derived() { // among others, conflicts are looked for where they matter
		if (p.Risky || slices.Contains(g.wanted, p)) && !slices.Contains(g.out.Outputs, p) {
			g.out.Outputs = append(g.out.Outputs, p)
		}
	}
	if g.chance(40) {
		for range 1 + g.IntN(3) {
			g.out.Disable = append(g.out.Disable, g.Uint64())
		}
	}
	g.out.NoFuse = g.chance(20)
	g.unused()
	return g.out
}

// derived are the predicates that rules define, in order.
func (g *programs) derived() []*Pred {
	var out []*Pred
	for _, r := range g.out.Rules {
		for _, h := range r.Heads {
			if !slices.Contains(out, h.Pred) {
				out = append(out, h.Pred)
			}
		}
	}
	return out
}

// unused removes stored predicates that the program does not use, but for some:
// they share tables with those that it uses.
func (g *programs) unused() {
	used := g.out.used()
	g.out.Stored = slices.DeleteFunc(slices.Clone(g.out.Stored), func(p *Pred) bool {
		return !used[p] && !g.chance(10)
	})
}

// used are the predicates in bodies.
func (p *Program) used() map[*Pred]bool {
	used := map[*Pred]bool{}
	var expr func(e *Expr)
	expr = func(e *Expr) {
		if e == nil {
			return
		}
		if e.Kind == Apply {
			used[e.Pred] = true
		}
		for _, a := range e.Args {
			expr(a)
		}
	}
	var body func(list []Literal)
	body = func(list []Literal) {
		for _, l := range list {
			if l.Kind == Atom {
				used[l.Pred] = true
			}
			for _, a := range l.Args {
				expr(a)
			}
			expr(l.Left)
			expr(l.Right)
			body(l.Body)
		}
	}
	for _, r := range p.Rules {
		body(r.Body)
		for _, h := range r.Heads {
			for _, a := range h.Args {
				expr(a)
			}
		}
	}
	for _, c := range p.Constraints {
		body(c.Body)
		body(c.Head)
	}
	return used
}

// factsInText gives a column a fact in the program, of a key that no row has.
func (g *programs) factsInText() {
	i := g.IntN(len(g.stored))
	p := *g.stored[i]
	if !p.functional() || p.Args[0].Type != scalar.IntType ||
		slices.ContainsFunc(p.Args, func(a Arg) bool { return !constantInAtom(a.Type) }) {
		return
	}
	tuple := []scalar.Value{scalar.OfInt(scalar.IntType, -77)}
	for _, a := range p.Args[1:] {
		tuple = append(tuple, g.value(a.Domain))
	}
	p.Facts = [][]scalar.Value{tuple}
	g.stored[i] = &p
}

// joined draws a body over rows of tables and views.
func (g *programs) joined() *body {
	b := g.newBody()
	tables := g.data.Tables
	rows := 1 + min(g.IntN(2), g.IntN(2))
	if g.large { // rows that share no key are too many together
		rows = 1
	}
	for range rows {
		switch views := g.pool[len(g.stored):]; {
		case len(views) > 0 && g.chance(60):
			p := views[len(views)-1-g.IntN(min(2, len(views)))]
			b.atom(p, 35)
			if g.chance(25) && !g.large { // a view used twice
				b.atom(p, 60)
			}
			if g.chance(30) {
				b.follow(1)
			}
		case g.chance(15):
			b.atom(pick(g.generator, g.stored), 60)
		default:
			t := tables[len(tables)-1-min(g.IntN(len(tables)), g.IntN(len(tables)))]
			b.row(t, 0)
			if g.chance(10) && !g.large {
				b.row(t, 2)
			}
		}
	}
	for len(b.vars) == 0 {
		b.row(pick(g.generator, tables), 0)
	}
	return b
}

// extended is joined with computed variables, tests, negation and disjunction.
func (g *programs) extended() *body {
	b := g.joined()
	if g.chance(35) {
		b.let()
	}
	b.tests(22)
	if g.chance(20) {
		b.negation()
	}
	return b
}

func (g *programs) name(prefix string) string {
	g.named++
	return fmt.Sprintf("%s%d", prefix, g.named)
}

// argsOf makes arguments of expressions, named apart.
func argsOf(exprs []*Expr) []Arg {
	out := make([]Arg, len(exprs))
	for i, e := range exprs {
		out[i] = Arg{Name: fmt.Sprintf("x%d", i), Type: e.Type, Domain: e.Domain}
	}
	return out
}

// define adds a predicate with a rule for it.
func (g *programs) define(p *Pred, args []*Expr, body []Literal) {
	g.out.Rules = append(g.out.Rules, Rule{Heads: []Head{{p, args}}, Body: body})
}

// some draws distinct variables of a body for a head, of a type that suits.
func (b *body) some(n int, suits func(*Expr) bool) []*Expr {
	of := list.Filter(b.vars, suits)
	b.g.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of[:min(n, len(of))]
}

func anyType(*Expr) bool { return true }

// groupable are variables that keys may have.
func groupable(v *Expr) bool { return v.Type.Kind != scalar.Float }
