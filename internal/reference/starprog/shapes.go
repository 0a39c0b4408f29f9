package starprog

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// view adds a derived predicate, or a few that belong together, to the pool.
func (g *programs) view() {
	shapes := []func() []*Pred{
		g.plainView, g.plainView, g.aggregates, g.aggregates, g.aggregates, g.function,
		g.withDefault, g.arms, g.countDistinct, g.extremeJoinedBack, g.scalar, g.careless, g.ranks,
		g.having, g.computedTwice,
	}
	g.pool = append(g.pool, pick(g.generator, shapes)()...)
}

// plainView is a relation of a body.
func (g *programs) plainView() []*Pred {
	b := g.extended()
	if g.chance(15) {
		b.alternatives()
	}
	head := b.some(1+g.IntN(3), anyType)
	p := &Pred{Name: g.name("p"), Args: argsOf(head), Keys: len(head), Declared: g.chance(30)}
	g.define(p, head, b.lits)
	if g.chance(20) { // a union
		if c := g.matching(p); c != nil {
			g.out.Rules = append(g.out.Rules, *c)
		}
	}
	return []*Pred{p}
}

// matching is another rule for a relation, of another body, or nil.
func (g *programs) matching(p *Pred) *Rule {
	b := g.joined()
	head := make([]*Expr, len(p.Args))
	for i, a := range p.Args {
		if head[i] = b.where(func(v *Expr) bool { return v.Type == a.Type }); head[i] == nil {
			return nil
		}
	}
	return &Rule{Heads: []Head{{p, head}}, Body: b.lits}
}

// aggregates are one to three aggregates of one body, with one head or several.
func (g *programs) aggregates() []*Pred {
	b := g.extended()
	return g.aggregatesOf(b, g.IntN(3))
}

func (g *programs) aggregatesOf(b *body, keys int) []*Pred {
	group := b.some(keys, groupable)
	var aggs []Agg
	for i := range 1 + min(g.IntN(3), g.IntN(3)) {
		a := g.aggregation(b)
		a.Out = fmt.Sprintf("u%d", i+1)
		aggs = append(aggs, a)
	}
	rule := Rule{Body: b.lits, Aggs: aggs}
	var preds []*Pred
	for _, a := range aggs {
		out := &Expr{Kind: Variable, Name: a.Out, Type: a.Type, Domain: a.domain(b)}
		head := append(slices.Clone(group), out)
		p := &Pred{Name: g.name("a"), Args: argsOf(head), Keys: len(group), Declared: g.chance(25)}
		if a.Fn == "total" && a.Type.Kind == scalar.Decimal && !a.Type.IsWide() && g.chance(40) {
			p.Args[p.Keys].Type = scalar.WideDecimalOf(a.Type.Scale)
			p.Declared = true
		}
		rule.Heads = append(rule.Heads, Head{p, head})
		preds = append(preds, p)
	}
	g.out.Rules = append(g.out.Rules, rule)
	return preds
}

// domain of a least or greatest value is that of the values.
func (a Agg) domain(b *body) int {
	if a.Fn == "min" || a.Fn == "max" || a.Fn == "quantile" {
		for _, v := range b.vars {
			if v.Name == a.In {
				return v.Domain
			}
		}
	}
	return computed
}

// aggregation draws an aggregation of one of the body's variables.
func (g *programs) aggregation(b *body) Agg {
	count := Agg{Fn: "count", Type: scalar.IntType}
	v := b.where(func(v *Expr) bool { return v.Type.Kind != scalar.Boolean })
	if v == nil || g.chance(25) {
		return count
	}
	a := Agg{Fn: pick(g.generator, []string{"total", "total", "avg", "min", "max",
		"count_distinct", "median", "quantile"}), In: v.Name, From: v.Type, Type: v.Type}
	number := v.Type.IsNumeric()
	switch {
	case a.Fn == "count_distinct":
		a.Type = scalar.IntType
	case a.Fn == "quantile":
		a.At = pick(g.generator, []string{"0", "0.1", "0.25", "0.5", "0.875", "0.9", "1"})
	case a.Fn == "total" && v.Type.Kind == scalar.String:
		a.Fn, a.At = "string_join", `"-"`
	case (a.Fn == "total" || a.Fn == "avg" || a.Fn == "median") && !number:
		a.Fn = "max"
	case a.Fn == "avg" && v.Type.Kind == scalar.Float:
		a.Fn = "total"
	case a.Fn == "median" && v.Type.Kind == scalar.Float:
	case a.Fn == "avg" || a.Fn == "median":
		a.Type = numberType("div", scalar.DecimalOf(v.Type.Scale), scalar.DecimalOf(0))
		if v.Type.IsWide() {
			a.Type = scalar.WideDecimalOf(a.Type.Scale)
		}
	}
	return a
}

// having keeps the groups whose aggregate passes a test.
func (g *programs) having() []*Pred {
	b := g.extended()
	a := g.aggregatesOf(b, 1+g.IntN(2))[0]
	c := g.newBody()
	c.atom(a, 0)
	c.tests(100)
	head := c.some(len(a.Args), anyType)
	if len(head) == 0 {
		return []*Pred{a}
	}
	p := &Pred{Name: g.name("h"), Args: argsOf(head), Keys: len(head)}
	g.define(p, head, c.lits)
	g.out.Shapes["having"] = true
	return []*Pred{a, p}
}

// functionOf draws a functional predicate of one value from the pool.
func (g *programs) functionOf(suits func(*Pred) bool) *Pred {
	of := list.Filter(g.pool, func(p *Pred) bool {
		return p.Keys == len(p.Args)-1 && p.Keys > 0 && suits(p)
	})
	if len(of) == 0 {
		return nil
	}
	return pick(g.generator, of)
}

// whole adds an atom of a predicate, each argument a variable of its own.
func (b *body) whole(p *Pred) []*Expr {
	args := list.Map(p.Args, func(a Arg) *Expr { return b.fresh(a.Type, a.Domain) })
	b.add(Literal{Kind: Atom, Pred: p, Args: args})
	return args
}

// function computes one value for some keys of another function.
func (g *programs) function() []*Pred {
	from := g.functionOf(func(*Pred) bool { return true })
	if from == nil {
		return nil
	}
	b := g.newBody()
	args := b.whole(from)
	if g.chance(40) {
		b.follow(1)
	}
	value := b.let()
	if value == nil {
		value = args[from.Keys]
	}
	b.tests(25)
	head := append(slices.Clone(args[:from.Keys]), value)
	p := &Pred{Name: g.name("f"), Args: argsOf(head), Keys: from.Keys}
	g.define(p, head, b.lits)
	g.out.Shapes["derived-function"] = true
	return []*Pred{p}
}

// withDefault completes a function by a default for keys that only another one
// of the same keys has.
func (g *programs) withDefault() []*Pred {
	from := g.functionOf(func(p *Pred) bool {
		return p.value().Domain >= 0 && constantInAtom(p.value().Type) ||
			p.value().Type == scalar.IntType
	})
	if from == nil {
		return nil
	}
	other := g.functionOf(func(p *Pred) bool { return p != from && sameKeys(p, from) })
	if other == nil {
		return nil
	}
	b := g.newBody()
	args := b.whole(from)
	p := &Pred{Name: g.name("z"), Args: argsOf(args), Keys: from.Keys, Declared: true}
	g.define(p, args, b.lits)
	c := g.newBody()
	keys := c.whole(other)[:other.Keys]
	missing := append(slices.Clone(keys), &Expr{Kind: Wildcard, Type: from.value().Type})
	c.add(Literal{Kind: Not, Body: []Literal{{Kind: Atom, Pred: from, Args: missing}}})
	value := constant(scalar.OfInt(scalar.IntType, 0))
	if from.value().Domain >= 0 {
		value = constant(g.value(from.value().Domain))
	}
	g.define(p, append(slices.Clone(keys), value), c.lits)
	g.out.Shapes["default"] = true
	return []*Pred{p}
}

func sameKeys(p, q *Pred) bool {
	return p.Keys == q.Keys && slices.EqualFunc(p.Args[:p.Keys], q.Args[:q.Keys],
		func(a, b Arg) bool { return a.Type == b.Type && a.Domain == b.Domain })
}

// arms is a rule for each arm of a CASE.
func (g *programs) arms() []*Pred {
	from := g.functionOf(func(p *Pred) bool {
		return p.value().Domain >= 0 &&
			p.value().Type.Kind != scalar.Boolean
	})
	if from == nil {
		return nil
	}
	limit := g.constantLike(&Expr{Domain: from.value().Domain})
	p := &Pred{Name: g.name("c"), Keys: from.Keys}
	for i, op := range []string{"<", ">="} {
		b := g.newBody()
		args := b.whole(from)
		test := Literal{Kind: Compare, Op: op, Left: args[from.Keys], Right: limit}
		if i == 1 && g.chance(40) {
			test = Literal{Kind: Not,
				Body: []Literal{{Kind: Compare, Op: "<", Left: args[from.Keys],
					Right: limit}}}
		}
		b.add(test)
		head := append(slices.Clone(args[:from.Keys]),
			constant(scalar.OfInt(scalar.IntType, int64(1-i))))
		if i == 0 {
			p.Args = argsOf(head)
		}
		g.define(p, head, b.lits)
	}
	g.out.Shapes["case"] = true
	return []*Pred{p}
}

// computedTwice has two outputs show a value that their rules do not compute:
// the rule of a view does, which becomes a part of both.
func (g *programs) computedTwice() []*Pred {
	b := g.joined()
	e := b.expression(pick(g.generator, []scalar.Type{scalar.StringType, scalar.IntType}))
	if e == nil {
		return nil
	}
	of := b.some(2, anyType)
	head := append(of, b.define(e))
	p := &Pred{Name: g.name("t"), Args: argsOf(head), Keys: len(head)}
	g.define(p, head, b.lits)
	for range 2 {
		c := g.newBody()
		args := c.whole(p)
		shown := args[g.IntN(len(args)):]
		q := &Pred{Name: g.name("t"), Args: argsOf(shown), Keys: len(shown)}
		g.define(q, shown, c.lits)
		g.wanted = append(g.wanted, q)
	}
	g.out.Shapes["computed-twice"] = true
	return []*Pred{p}
}

// countDistinct counts the tuples of a set.
func (g *programs) countDistinct() []*Pred {
	b := g.extended()
	head := b.some(2, groupable)
	if len(head) < 2 {
		return nil
	}
	p := &Pred{Name: g.name("s"), Args: argsOf(head), Keys: len(head)}
	g.define(p, head, b.lits)
	c := g.newBody()
	key := c.fresh(head[0].Type, head[0].Domain)
	c.add(Literal{Kind: Atom, Pred: p, Args: []*Expr{key, {Kind: Wildcard, Type: head[1].Type}}})
	out := &Expr{Kind: Variable, Name: "n", Type: scalar.IntType, Domain: computed}
	n := &Pred{Name: g.name("n"), Args: argsOf([]*Expr{key, out}), Keys: 1}
	g.out.Rules = append(g.out.Rules, Rule{Heads: []Head{{n, []*Expr{key, out}}}, Body: c.lits,
		Aggs: []Agg{{Out: "n", Fn: "count", Type: scalar.IntType}}})
	g.out.Shapes["count-distinct"] = true
	return []*Pred{p, n}
}

// extremeJoinedBack finds the rows that have the least or greatest value of
// their group.
func (g *programs) extremeJoinedBack() []*Pred {
	b := g.newBody()
	tables := g.data.Tables
	b.row(tables[len(tables)-1-min(g.IntN(len(tables)), g.IntN(len(tables)))], 1)
	value := b.where(func(v *Expr) bool { return v.Type.Kind != scalar.Boolean && groupable(v) })
	if value == nil {
		return nil
	}
	group := b.some(g.IntN(2), func(v *Expr) bool { return v != value && groupable(v) })
	fn := pick(g.generator, []string{"min", "max"})
	out := &Expr{Kind: Variable, Name: "u", Type: value.Type, Domain: value.Domain}
	most := &Pred{Name: g.name("m"), Args: argsOf(append(slices.Clone(group), out)),
		Keys: len(group)}
	g.out.Rules = append(g.out.Rules, Rule{
		Heads: []Head{{most, append(slices.Clone(group), out)}}, Body: b.lits,
		Aggs: []Agg{{Out: "u", Fn: fn, In: value.Name, From: value.Type, Type: value.Type}},
	})
	lits := slices.Clone(b.lits)
	if g.chance(50) {
		lits = append(lits,
			Literal{Kind: Atom, Pred: most, Args: append(slices.Clone(group), value)})
	} else {
		lits = append(lits, Literal{Kind: Compare, Op: "=", Left: value,
			Right: &Expr{Kind: Apply, Type: value.Type, Pred: most, Args: group}})
	}
	head := append(b.some(2, anyType), value)
	p := &Pred{Name: g.name("b"), Args: argsOf(head), Keys: len(head)}
	g.define(p, head, lits)
	g.out.Shapes["extreme-joined-back"] = true
	return []*Pred{most, p}
}

// scalar compares with an aggregate over all.
func (g *programs) scalar() []*Pred {
	a := g.aggregatesOf(g.joined(), 0)[0]
	b := g.joined()
	v := b.where(func(v *Expr) bool {
		return comparable(v.Type, a.value().Type) &&
			v.Type.Kind != scalar.Boolean
	})
	if v == nil {
		return []*Pred{a}
	}
	op := pick(g.generator, []string{"<", "<=", ">", ">=", "!="})
	b.add(Literal{Kind: Compare, Op: op, Left: v, Right: &Expr{Kind: Apply, Type: a.value().Type,
		Pred: a}})
	head := b.some(2, anyType)
	p := &Pred{Name: g.name("q"), Args: argsOf(head), Keys: len(head)}
	g.define(p, head, b.lits)
	g.out.Shapes["scalar-subquery"] = true
	return []*Pred{a, p}
}

// careless is a functional predicate whose keys may get several values.
func (g *programs) careless() []*Pred {
	if g.chance(60) {
		return g.plainView()
	}
	b := g.extended()
	head := b.some(2, groupable)
	if len(head) < 2 {
		return nil
	}
	p := &Pred{Name: g.name("r"), Args: argsOf(head), Keys: 1, Risky: true}
	g.define(p, head, b.lits)
	return []*Pred{p}
}

// ranks numbers the tuples of a relation, within groups or not, and may keep
// the first ones.
func (g *programs) ranks() []*Pred {
	b := g.joined()
	head := b.some(1+g.IntN(2), groupable)
	if v := b.where(func(v *Expr) bool {
		return v.Type == scalar.IntType
	}); v != nil && g.chance(30) {
		e := call("negate", v)
		down := &Expr{Kind: Variable, Type: e.Type, Name: "down", Domain: computed}
		b.add(Literal{Kind: Compare, Op: "=", Left: down, Right: e})
		head = append([]*Expr{down}, head...)
	}
	if len(head) == 0 {
		return nil
	}
	of := &Pred{Name: g.name("p"), Args: argsOf(head), Keys: len(head)}
	g.define(of, head, b.lits)
	c := g.newBody()
	vars := c.whole(of)
	group := 0
	if len(vars) > 1 && g.chance(50) {
		group = 1
	}
	index := &Expr{Kind: Variable, Type: scalar.IntType, Name: "i", Domain: 0}
	numbered := slices.Insert(slices.Clone(vars), group, index)
	p := &Pred{Name: g.name("i"), Args: argsOf(numbered), Keys: len(numbered), Declared: true}
	if g.chance(70) && len(vars) > group {
		p.Keys = group + 1
	}
	g.out.Rules = append(g.out.Rules, Rule{Heads: []Head{{p, numbered}}, Body: c.lits, Seq: true,
		Group: group})
	g.out.Shapes["rank"] = true
	if g.chance(40) {
		return []*Pred{p}
	}
	d := g.newBody()
	top := d.whole(p)
	d.add(Literal{Kind: Compare, Op: "<", Left: top[group],
		Right: constant(scalar.OfInt(scalar.IntType, int64(1+g.IntN(5))))})
	first := &Pred{Name: g.name("t"), Args: argsOf(top), Keys: len(top)}
	g.define(first, top, d.lits)
	g.out.Shapes["first-ranks"] = true
	return []*Pred{p, first}
}

// query adds the predicate _, of a body or of aggregates, perhaps ordered and
// cut.
func (g *programs) query() *Pred {
	var q *Pred
	b := g.extended()
	if g.chance(25) {
		g.aggregatesOf(b, 1+g.IntN(2))
		last := &g.out.Rules[len(g.out.Rules)-1]
		last.Heads, last.Aggs = last.Heads[:1], last.Aggs[:1]
		own := *last.Heads[0].Pred
		own.Name, own.Declared = "_", false
		for i, e := range last.Heads[0].Args {
			own.Args[i].Type = e.Type
		}
		last.Heads[0].Pred = &own
		q = &own
	} else {
		if g.chance(15) {
			b.alternatives()
		}
		head := b.some(1+g.IntN(4), anyType)
		q = &Pred{Name: "_", Args: argsOf(head), Keys: len(head)}
		g.define(q, head, b.lits)
	}
	// Columns of the query have the names of the head's variables.
	rule := g.out.Rules[len(g.out.Rules)-1]
	for i, arg := range rule.Heads[0].Args {
		q.Args[i].Name = arg.Name
	}
	if g.chance(25) {
		for _, i := range g.Perm(len(q.Args))[:1+g.IntN(len(q.Args))] {
			q.OrderBy = append(q.OrderBy, Order{i, g.chance(50)})
		}
		if g.chance(70) {
			q.Limit = 1 + g.IntN(8)
		}
	}
	return q
}

// constraint adds a condition on a stored function: that another one has its
// keys, that a value refers to a row, or how values compare.
func (g *programs) constraint() {
	from := g.functionOf(func(p *Pred) bool { return p.stored() })
	if from == nil {
		return
	}
	b := g.newBody()
	args := b.whole(from)
	var head []Literal
	switch other := g.functionOf(func(p *Pred) bool {
		return p.stored() && p != from &&
			sameKeys(p, from)
	}); {
	case other != nil && g.chance(50):
		head = []Literal{{Kind: Atom, Pred: other, Args: append(slices.Clone(args[:from.Keys]),
			&Expr{Kind: Wildcard})}}
	case from.value().Domain >= 0 && g.domains[from.value().Domain].of != nil:
		columns := g.columnsOf(g.domains[from.value().Domain].of)
		if len(columns) == 0 {
			return
		}
		head = []Literal{{Kind: Atom, Pred: columns[0],
			Args: []*Expr{args[from.Keys], {Kind: Wildcard}}}}
	default:
		if args[from.Keys].Type.Kind == scalar.Boolean {
			return
		}
		op, limit := ">=", g.constantLike(args[from.Keys])
		if g.chance(60) { // no value is below the least
			for range 40 {
				if other := g.constantLike(args[from.Keys]); scalar.Compare(other.Value,
					limit.Value) < 0 {
					limit = other
				}
			}
		}
		head = []Literal{{Kind: Compare, Op: op, Left: args[from.Keys], Right: limit}}
	}
	g.out.Constraints = append(g.out.Constraints, Constraint{Body: b.lits, Head: head})
}
