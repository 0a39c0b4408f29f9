package emit

import (
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// This file numbers entities that outlive the program. For a constructor c:
//
//	c@made@start   the numbers that earlier transactions gave to keys
//	c@made@named   the numbers of keys that facts from outside name
//	c@made@named@new  those of facts that the transaction loads
//	c@made@new     keys without a number, numbered from 0
//	c@made         all of these, the new numbers behind the greatest one in use
//
// A number belongs to its key for good. The constructor is a predicate like any
// other, whose rules find the entity in c@made.

// lasting is what a maker of such entities becomes. fresh is c@made@new, and
// start is nil if no transaction has stored numbers, and named if no facts name
// entities.
type lasting struct {
	maker                     *normal.Maker
	made, fresh, start, named *core.Pred
	loaded                    *core.Pred // c@made@named@new, or named in a single transaction
	created                   bool       // a rule fills fresh
}

// known returns the predicates with the numbers that keys have already.
func (l *lasting) known() []*core.Pred {
	var out []*core.Pred
	for _, p := range []*core.Pred{l.start, l.named} {
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// lastingMaker makes the predicates of a maker. columns are the keys and the
// entity.
func (c *emission) lastingMaker(m *normal.Maker, columns []core.Arg) {
	name := m.Pred.Name + core.MadeSuffix
	numbers := func(suffix string) *core.Pred {
		return &core.Pred{Name: name + suffix, Span: m.Pred.Span, Keys: len(columns) - 1,
			Hidden: true, Limit: -1, Args: columns}
	}
	l := &lasting{maker: m, made: numbers(""), fresh: numbers("@new")}
	l.made.Makes = &core.Numbering{Refmode: m.Refmode, Name: m.Pred.Name}
	l.fresh.Derived = true
	l.fresh.Numbers = &core.Numbering{Start: int64(m.Number), Step: int64(len(m.Family.Makers))}
	if c.stored[name] {
		l.start = numbers(core.StartSuffix)
		l.start.Source = name
	}
	if m.Family.Named || m.Family.NamedBefore {
		l.named = numbers(core.NamedSuffix)
		l.loaded = l.named
		if c.stored != nil {
			l.loaded = numbers(core.NamedSuffix + core.NewSuffix)
		}
	}
	c.makers[m], c.lasting[m] = l.made, l
	c.lastingOrder = append(c.lastingOrder, l)
	f := c.family(m.Family)
	f.Lasting = true
	f.Makers = append(f.Makers, l.made)
}

// numberNew emits the rule that numbers the keys of an atom of a maker, unless
// they have a number.
func (c *emission) numberNew(u *normal.Unit, n int) {
	at := u.Creates[n]
	l := c.lasting[at.Pred.Maker]
	l.created = true
	e := c.newEmitter(u)
	body := e.created(u.Creates[:n], e.body(u.Body, 0))
	head := e.numbered(at, core.New{}, &body)
	head.Pred = l.fresh
	for _, p := range l.known() {
		known := &core.Atom{Span: at.Span, Pred: p}
		known.Args = append(known.Args, head.Args[:p.Keys]...)
		known.Args = append(known.Args, e.fresh(scalar.IntType, at.Span))
		body = append(body, &core.Not{Span: at.Span, Body: []core.Literal{known}})
	}
	c.finish(e, &core.Rule{Span: u.Clause.Node.Span, Decl: u.Clause.Number, Head: *head,
		Body: body}, at, false)
}

// adder adds a rule of the compiler.
type adder func(span source.Span, to *core.Pred, head []core.Term, body ...core.Literal)

// lastingNumbers emits the rules of the predicates that have the numbers.
func (c *emission) lastingNumbers(add adder) {
	greatest := map[*core.Family]*core.Pred{}
	for _, l := range c.lastingOrder {
		c.program.Preds = append(c.program.Preds, l.made)
		if !l.created && l.named == nil {
			// No entity is new: the stored ones are all there are.
			l.made.Derived = l.start == nil
			continue
		}
		l.made.Derived = true
		for _, p := range l.known() {
			c.program.Preds = append(c.program.Preds, p)
			body, _ := c.wholeAtom(p)
			add(l.made.Span, l.made, body.Args, body)
		}
		if l.named != nil {
			c.nameEntities(l, add)
		}
		if !l.created {
			continue
		}
		c.program.Preds = append(c.program.Preds, l.fresh)
		body, number := c.wholeAtom(l.fresh)
		f := l.made.Args[l.made.Keys].Family
		top, ok := greatest[f]
		if !ok {
			top = c.greatest(f, add)
			greatest[f] = top
		}
		if top == nil {
			add(l.made.Span, l.made, body.Args, body)
			continue
		}
		in, after := c.wholeAtom(top)
		out := &core.Var{Name: "$number", Type: scalar.IntType, Span: l.made.Span}
		plus := func(x, y core.Expr) core.Expr {
			return &core.Call{Span: l.made.Span, Func: scalar.Lookup("add"),
				Args: []core.Expr{x, y}, Result: scalar.IntType}
		}
		after.Name = "$last"
		last := core.Expr(core.VarExpr{Var: after})
		one := core.Const{Value: scalar.OfInt(scalar.IntType, 1)}
		head := append(body.Args[:l.made.Keys:l.made.Keys], out)
		add(l.made.Span, l.made, head, body, in, &core.Let{Span: l.made.Span, Var: out,
			Expr: plus(core.VarExpr{Var: number}, plus(last, one))})
	}
}

// greatest makes the predicate of the greatest number that earlier transactions
// gave to an entity of a family; nil if they gave none.
func (c *emission) greatest(f *core.Family, add adder) *core.Pred {
	var known []*core.Pred
	isNamed := false
	for _, l := range c.lastingOrder {
		if l.made.Args[l.made.Keys].Family != f {
			continue
		}
		isNamed = isNamed || l.named != nil
		switch {
		case l.created || l.named != nil:
			known = append(known, l.known()...)
		case l.start != nil:
			known = append(known, l.made)
		}
	}
	if len(known) == 0 {
		return nil
	}
	hidden := func(name string, keys int) *core.Pred {
		p := &core.Pred{Name: f.Name + name, Span: known[0].Span, Keys: keys, Derived: true,
			Hidden: true, Limit: -1, Args: []core.Arg{{Name: "n", Type: scalar.IntType}}}
		c.program.Preds = append(c.program.Preds, p)
		return p
	}
	used, top := hidden("@used", 1), hidden("@last", 0)
	for _, p := range known {
		body, number := c.wholeAtom(p)
		add(p.Span, used, []core.Term{number}, body)
	}
	if isNamed {
		// Facts from outside may name no entity.
		add(top.Span, used, []core.Term{core.Const{Value: scalar.OfInt(scalar.IntType, -1)}})
	}
	body, number := c.wholeAtom(used)
	most := &core.Var{Name: "$most", Type: scalar.IntType, Span: top.Span}
	add(top.Span, top, []core.Term{most}, body)
	c.rules[len(c.rules)-1].Agg = []core.AggSpec{{Span: top.Span, Out: most, Fn: core.Max,
		In: number}}
	return top
}

// nameEntities makes entities of what facts from outside name. A derived
// predicate has all of them; one that transactions change gets those of the
// facts that the transaction loads, and keeps them.
func (c *emission) nameEntities(l *lasting, add adder) {
	if l.loaded != l.named && l.maker.Family.Named {
		c.program.Preds = append(c.program.Preds, l.loaded)
	}
	into := func(p *normal.Pred, columns func(*core.Atom, core.Term) []core.Term) {
		from, start := l.loaded, c.starts[p.Name]
		if p.Rules > 0 {
			from = l.named
		} else if !l.maker.Family.Named {
			return
		} else {
			c.program.Naming = append(c.program.Naming, p.Name)
		}
		body, entity := c.wholeAtom(from)
		if start != nil && (p.Rules == 0 || start.Rules > 0) {
			add(l.made.Span, start.Core, columns(body, entity), body)
		}
		if start == nil || p.Rules > 0 {
			add(l.made.Span, p.Core, columns(body, entity), body)
		}
	}
	for _, of := range ancestors(l.maker.Of) {
		into(of, func(_ *core.Atom, entity core.Term) []core.Term { return []core.Term{entity} })
	}
	if !l.maker.Refmode {
		into(l.maker.Pred, func(body *core.Atom, _ core.Term) []core.Term { return body.Args })
	}
	if l.maker.Family.Named {
		c.program.Naming = append(c.program.Naming, l.made.Name)
	}
}
