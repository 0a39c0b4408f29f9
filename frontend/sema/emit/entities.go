package emit

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// This file makes of entities what the checked program has instead. If a family
// has one refmode and no constructor, the value of the refmode stands for the
// entity, and an atom of the refmode says that two variables are one. Else each
// maker is a predicate that numbers its keys. Entities that outlive the program
// are in lasting.go.

// family returns what a family becomes.
func (c *emission) family(f *normal.Family) *core.Family {
	out := c.families[f]
	if out == nil {
		out = &core.Family{Name: f.Type.String()}
		c.families[f] = out
	}
	return out
}

// maker makes the predicate that numbers the keys of a maker. For a refmode,
// which has the entity first, it is another one than the program names.
func (c *emission) maker(p *normal.Pred) {
	m := p.Maker
	if m == nil || m.Pred != p || m.Family.ByValue() || len(p.Core.Args) == 0 {
		return
	}
	if m.Family.Lasting {
		columns := p.Core.Args
		if m.Refmode {
			columns = []core.Arg{columns[1], columns[0]}
		}
		c.lastingMaker(m, columns)
		return
	}
	numbers := &core.Numbering{Start: int64(m.Number), Step: int64(len(m.Family.Makers)),
		Refmode: m.Refmode, Name: m.Pred.Name}
	made := p.Core
	if m.Anonymous {
		made.Hidden, numbers.Name = true, m.Of.Name
	}
	if m.Refmode {
		made = &core.Pred{
			Name: c.fresh(p.Name), Span: p.Span, Keys: 1, Hidden: true, Limit: -1,
			Args: []core.Arg{p.Core.Args[1], p.Core.Args[0]},
		}
		c.program.Preds = append(c.program.Preds, made)
	}
	made.Derived, made.Numbers, made.Makes = true, numbers, numbers
	c.makers[m] = made
	f := c.family(m.Family)
	f.Makers = append(f.Makers, made)
}

// created emits what follows from the makers of a head: an atom that finds the
// entity, or the value that stands for it.
func (e *emitter) created(makers []*normal.Atom, body []core.Literal) []core.Literal {
	for _, at := range makers {
		m := at.Pred.Maker
		entity := m.Entity(at).(normal.Ref).Var
		if m.Family.ByValue() {
			switch t := e.headTerm(m.Keys(at)[0], m.Family.Rep, &body).(type) {
			case *core.Var:
				e.vars[entity.Index] = t
			case core.Const:
				e.consts[entity.Index] = &t
			}
			continue
		}
		body = append(body, e.numbered(at, e.variable(entity), &body))
	}
	return body
}

// numbered returns the atom that relates the keys of a maker to a value.
func (e *emitter) numbered(at *normal.Atom, value core.Term, body *[]core.Literal) *core.Atom {
	m := at.Pred.Maker
	out := &core.Atom{Span: at.Span, Pred: e.c.makers[m]}
	for i, t := range m.Keys(at) {
		out.Args = append(out.Args, e.headTerm(t, out.Pred.Args[i].Type, body))
	}
	out.Args = append(out.Args, value)
	return out
}

// creations emits the rules by which a head creates entities.
func (c *emission) creations(u *normal.Unit) {
	for n, at := range u.Creates {
		m := at.Pred.Maker
		if m.Family.Lasting {
			c.numberNew(u, n)
		}
		if at.Pred == m.Pred && (m.Family.ByValue() || m.Family.Lasting && m.Refmode) {
			if !slices.ContainsFunc(u.Heads, func(h *normal.Atom) bool {
				return h.Pred == m.Of && h.Args[0].(normal.Ref).Var == m.Entity(at).(normal.Ref).Var
			}) {
				c.rule(u,
					&normal.Atom{Span: at.Span, Pred: m.Of, Args: []normal.Term{m.Entity(at)}})
			}
		}
		if m.Family.ByValue() || m.Family.Lasting {
			continue
		}
		e := c.newEmitter(u)
		body := e.created(u.Creates[:n], e.body(u.Body, 0))
		head := e.numbered(at, core.New{}, &body)
		c.finish(e, &core.Rule{Span: u.Clause.Node.Span, Decl: u.Clause.Number, Head: *head,
			Body: body}, at, false)
	}
}

// impliedBy reports whether the makers of a head make what another of its atoms
// says: that the entity is of the type that they make, or of one above.
func impliedBy(u *normal.Unit, h *normal.Atom) bool {
	return h.Pred.Family != nil && slices.ContainsFunc(u.Creates, func(at *normal.Atom) bool {
		m := at.Pred.Maker
		r, ok := h.Args[0].(normal.Ref)
		return ok && !m.Family.ByValue() && !m.Family.Lasting &&
			r.Var == m.Entity(at).(normal.Ref).Var && m.Of.IsA(h.Pred)
	})
}

// matched emits an atom of a body.
func (e *emitter) matched(a *normal.Atom) []core.Literal {
	m := a.Pred.Maker
	switch {
	case a.Pred.Family != nil && e.known(a, a.Args[0], a.Pred):
		e.dropped = true
		return nil
	case m == nil || !m.Refmode || m.Pred != a.Pred:
		return []core.Literal{e.atom(a)}
	case m.Family.Lasting:
		return []core.Literal{e.atom(a)}
	case !m.Family.ByValue():
		swapped := &normal.Atom{Span: a.Span, Pred: a.Pred,
			Args: []normal.Term{a.Args[1], a.Args[0]}}
		return []core.Literal{e.atomOf(swapped, e.c.makers[m])}
	}
	out := e.same(a, a.Args[0], a.Args[1], m.Family.Rep)
	e.noteNamed(a.Args[1])
	if e.known(a, a.Args[0], m.Of) {
		e.dropped = true
		return out
	}
	return append(out, e.atom(&normal.Atom{Span: a.Span, Pred: m.Of, Args: a.Args[:1]}))
}

// same lets an entity and the value of its refmode be one variable, or one
// constant. If both have values already, it returns a test.
func (e *emitter) same(a *normal.Atom, x, y normal.Term, t scalar.Type) []core.Literal {
	value := func(t normal.Term) (*normal.Var, *core.Var, *core.Const) {
		switch t := t.(type) {
		case *normal.Const:
			v, _ := normal.LiteralAs(t.Value, a.Pred.Maker.Family.Rep)
			return nil, nil, &core.Const{Value: v}
		case normal.Ref:
			if k := e.consts[t.Var.Index]; k != nil {
				v, _ := constantAs(k, t, a.Pred.Maker.Family.Rep)
				return t.Var, nil, &core.Const{Value: v}
			}
			return t.Var, e.vars[t.Var.Index], nil
		}
		return nil, nil, nil
	}
	xv, xc, xk := value(x)
	yv, yc, yk := value(y)
	free := func(v *normal.Var, c *core.Var, k *core.Const) bool {
		return v != nil && c == nil && k == nil
	}
	switch {
	case free(xv, xc, xk) && yk != nil:
		return e.equals(a, xv, yk)
	case free(yv, yc, yk) && xk != nil:
		return e.equals(a, yv, xk)
	case free(xv, xc, xk):
		e.vars[xv.Index] = e.variable(yv)
	case free(yv, yc, yk):
		e.vars[yv.Index] = e.variable(xv)
	case xk != nil && yk != nil:
		if xk.Value != yk.Value {
			e.fail(a.Span)
		}
	case xc != nil && xc == yc:
	default:
		side := func(v *normal.Var, k *core.Const) core.Expr {
			if k != nil {
				return *k
			}
			return core.VarExpr{Var: e.variable(v)}
		}
		return []core.Literal{&core.Test{Span: a.Span, Expr: &core.Call{Span: a.Span,
			Func: scalar.Lookup("eq"), Args: []core.Expr{side(xv, xk), side(yv, yk)},
			Result: scalar.BooleanType}}}
	}
	return nil
}

// equals lets a variable without a value be a constant, or binds it if it must
// stay a variable.
func (e *emitter) equals(a *normal.Atom, v *normal.Var, k *core.Const) []core.Literal {
	if e.fixed[v.Index] {
		return []core.Literal{&core.Let{Span: a.Span, Var: e.variable(v), Expr: *k}}
	}
	e.consts[v.Index] = k
	return nil
}

// known reports whether another atom of the rule's body says that a variable is
// an entity of a type, because it stands in a column of that type. Atoms of
// entity types and refmodes do not count, so that one of them stays.
func (e *emitter) known(a *normal.Atom, t normal.Term, of *normal.Pred) bool {
	r, ok := t.(normal.Ref)
	if !ok || e.u.Seq != nil {
		return false
	}
	return slices.ContainsFunc(e.u.Body, func(l normal.Literal) bool {
		b, ok := l.(*normal.Atom)
		return ok && b != a && b.Pred.Family == nil && b.Pred.Maker == nil &&
			e.c.saysIsA(b, r.Var, of)
	})
}

// saysIsA reports whether an atom says that a variable is an entity of a type.
func (c *emission) saysIsA(a *normal.Atom, v *normal.Var, of *normal.Pred) bool {
	for i, t := range a.Args {
		if r, ok := t.(normal.Ref); ok && r.Var == v {
			if at := c.entityType(a.Pred, i); at != nil && at.IsA(of) {
				return true
			}
		}
	}
	return false
}

// entityType returns the entity type of a column: the declared one, or the most
// general one of an undeclared column's family; nil if it has no entities, or
// constants that need not be entities.
func (c *emission) entityType(p *normal.Pred, i int) *normal.Pred {
	if p.Constant {
		return nil
	}
	if i < len(p.EntityTypes) && p.EntityTypes[i] != nil {
		return p.EntityTypes[i]
	}
	t, _ := c.types.TypeOf(p.Columns[i])
	f := c.types.Family(t)
	if f == nil {
		return nil
	}
	return root(f)
}

// root returns the type after which a family is named.
func root(f *normal.Family) *normal.Pred {
	for _, p := range f.Types {
		if p.Name == f.Type.String() {
			return p
		}
	}
	return f.Types[0]
}

// ancestors returns a type and all types above it, each once.
func ancestors(p *normal.Pred) []*normal.Pred {
	out := []*normal.Pred{p}
	for i := 0; i < len(out); i++ {
		for _, s := range out[i].Supers {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// members collects what the heads of rules say about the types of entities.
type members struct {
	literals []typedLiteral
	subtypes [][2]*normal.Pred // a type, and one above it
	checks   []typedColumn
}

// typedLiteral is a literal in a column of a head.
type typedLiteral struct {
	typedColumn
	value scalar.Value
	span  source.Span
}

type typedColumn struct {
	pred   *normal.Pred
	column int
	of     *normal.Pred
}

// noteMembers notes the entities of a head that nothing shows to be of the type
// of their column. A literal becomes an entity of the type. What is in a type
// becomes one of the types above. Anything else is checked after the run.
func (c *emission) noteMembers(u *normal.Unit, h *normal.Atom) {
	if isRemoval(h.Pred) {
		return
	}
	for i, t := range h.Args {
		of := c.entityType(h.Pred, i)
		if of == nil {
			continue
		}
		if k := normal.BoundLiteral(t); k != nil {
			value, ok := normal.LiteralAs(k.Value, h.Pred.Core.Args[i].Type)
			for _, p := range ancestors(of) {
				l := typedLiteral{typedColumn{h.Pred, i, p}, value, k.Span}
				if ok && p != h.Pred && !slices.ContainsFunc(c.members.literals,
					func(x typedLiteral) bool {
						return x.typedColumn == l.typedColumn && x.value == value
					}) {
					c.members.literals = append(c.members.literals, l)
				}
			}
			continue
		}
		v := t.(normal.Ref).Var
		if h.Pred.Family == nil {
			col := typedColumn{h.Pred, i, of}
			if !c.shown(u, v, of) && !slices.Contains(c.members.checks, col) {
				c.members.checks = append(c.members.checks, col)
			}
			continue
		}
		for _, above := range ancestors(h.Pred)[1:] {
			pair := [2]*normal.Pred{h.Pred, above}
			if !c.shown(u, v, above) && !slices.Contains(c.members.subtypes, pair) {
				c.members.subtypes = append(c.members.subtypes, pair)
			}
		}
	}
}

// isRemoval reports whether a predicate has what a transaction deletes, which
// makes no entity.
func isRemoval(p *normal.Pred) bool {
	_, start, event := core.Event(p.Name)
	return event && !start && p.Name[0] == '-'
}

// shown reports whether a unit shows that a variable is an entity of a type.
func (c *emission) shown(u *normal.Unit, v *normal.Var, of *normal.Pred) bool {
	for _, at := range u.Creates {
		m := at.Pred.Maker
		if r, ok := m.Entity(at).(normal.Ref); ok && r.Var == v {
			return m.Of.IsA(of)
		}
	}
	if r, ok := v.Means.(normal.Ref); ok {
		return c.shown(u, r.Var, of)
	}
	return slices.ContainsFunc(u.Body, func(l normal.Literal) bool {
		a, ok := l.(*normal.Atom)
		return ok && c.saysIsA(a, v, of)
	})
}

// membership emits the rules that fill entity types with what is an entity of
// them without a rule of the program that says so, and the checks of columns.
// number is that of the next clause.
func (c *emission) membership(preds []*normal.Pred, number int) {
	add := func(span source.Span, to *core.Pred, head []core.Term, body ...core.Literal) {
		c.rules = append(c.rules, &core.Rule{Span: span, Decl: number, Body: body,
			Head: core.Atom{Span: span, Pred: to, Args: head}})
		number++
	}
	for _, p := range preds {
		if p.Poisoned {
			continue
		}
		if p.Auto != nil {
			c.autoNumbered(p, add)
			continue
		}
		switch m := p.Maker; {
		case m == nil:
			c.extensionalMembers(p, add)
			continue
		case m.Pred != p:
			continue // an event
		case m.Family.ByValue():
			x := &core.Var{Name: "x", Type: m.Family.Rep, Span: p.Span}
			p.Core.Derived = true
			add(p.Span, p.Core, []core.Term{x, x},
				&core.Atom{Span: p.Span, Pred: m.Of.Core, Args: []core.Term{x}})
			continue
		case m.Family.Lasting:
			if m.Refmode {
				// A refmode has the entities that there are.
				p.Core.Derived = true
				body, entity := c.wholeAtom(c.makers[m])
				add(p.Span, p.Core, []core.Term{entity, body.Args[0]}, body,
					&core.Atom{Span: p.Span, Pred: m.Of.Core, Args: []core.Term{entity}})
			}
			continue
		}
		made := c.makers[p.Maker]
		body, entity := c.wholeAtom(made)
		for _, of := range ancestors(p.Maker.Of) {
			add(p.Span, of.Core, []core.Term{entity}, body)
		}
		if p.Maker.Refmode {
			p.Core.Derived = true
			add(p.Span, p.Core, []core.Term{entity, body.Args[0]}, body)
		}
	}
	c.lastingNumbers(add)
	for _, pair := range c.members.subtypes {
		body, x := c.wholeAtom(pair[0].Core)
		add(pair[0].Span, pair[1].Core, []core.Term{x}, body)
	}
	for _, l := range c.members.literals {
		body, _ := c.wholeAtom(l.pred.Core)
		body.Args[l.column] = core.Const{Value: l.value}
		add(l.span, l.of.Core, []core.Term{core.Const{Value: l.value}}, body)
	}
	for _, col := range c.members.checks {
		c.checkColumn(col)
	}
}

// autoNumbered emits the rule of a refmode whose values are the numbers of
// entities.
func (c *emission) autoNumbered(p *normal.Pred,
	add func(source.Span, *core.Pred, []core.Term, ...core.Literal)) {
	p.Core.Derived = true
	body, x := c.wholeAtom(p.Auto.Core)
	if to := p.Core.Args[1].Type; to != x.Type {
		y := &core.Var{Name: "$y", Type: to, Span: p.Span}
		add(p.Span, p.Core, []core.Term{x, y}, body,
			&core.Let{Span: p.Span, Var: y, Expr: convert(core.VarExpr{Var: x}, to, p.Span)})
		return
	}
	add(p.Span, p.Core, []core.Term{x, x}, body)
}

// extensionalMembers makes the facts of a predicate entities of the types of
// its columns.
func (c *emission) extensionalMembers(p *normal.Pred,
	add func(source.Span, *core.Pred, []core.Term, ...core.Literal)) {
	imported := p.Given || p.File != nil && !p.File.Export
	if p.Rules > 0 || p.Loads > 0 && !imported || isRemoval(p) {
		return
	}
	for i := range p.Columns {
		of := c.entityType(p, i)
		switch {
		case of == nil:
		case p.Core.Args[i].Family != nil && of.Family.Named:
			// The facts name entities by their terms.
		case p.Core.Args[i].Family != nil && imported:
			c.unnamedEntities(p, i)
		case p.Core.Args[i].Family != nil && of.Family.Lasting:
			// Transactions store it.
		case p.Core.Args[i].Family != nil:
			// No fact from outside can name such an entity.
			p.Core.Derived = true
		default:
			body, _ := c.wholeAtom(p.Core)
			for _, t := range ancestors(of) {
				if t != p && t.Core != nil {
					add(p.Span, t.Core, []core.Term{body.Args[i]}, body)
				}
			}
		}
	}
}

// unnamedEntities reports facts from outside for a column of entities that only
// their makers can name.
func (c *emission) unnamedEntities(p *normal.Pred, i int) {
	of := c.entityType(p, i)
	d := c.Errorf(diag.BadEntity, p.Span, "facts of %s cannot come from outside", p.Name)
	d.Note("%s is an entity of %s, and facts name such entities in a declared column",
		p.ColumnName(i), of.Name)
	m := of.Family.Makers[0]
	d.Help("read the facts into a predicate of plain values, and find the entity with %s in a rule "+
		"for %s", m.Pred.Shape(), p.Name)
}

// isNumber reports whether a number stands for the value of a variable, which
// says nothing to a reader.
func (c *emission) isNumber(v *normal.Var) bool {
	t, _ := c.types.TypeOf(v.Node)
	f := c.types.Family(t)
	return f != nil && !f.ByValue()
}

// wholeAtom returns an atom with a variable for each column, and the last of
// these.
func (c *emission) wholeAtom(p *core.Pred) (*core.Atom, *core.Var) {
	a := &core.Atom{Span: p.Span, Pred: p}
	var last *core.Var
	for _, arg := range p.Args {
		last = &core.Var{Name: arg.Name, Type: arg.Type, Span: p.Span}
		a.Args = append(a.Args, last)
	}
	return a, last
}

// checkColumn adds the check that the entities of a column are of its type.
func (c *emission) checkColumn(col typedColumn) {
	span := col.pred.Declared[col.column].Span
	if !span.IsValid() {
		span = col.pred.Span
	}
	body, _ := c.wholeAtom(col.pred.Core)
	x := body.Args[col.column].(*core.Var)
	check := &core.Check{Span: span, Text: col.pred.Shape() + " -> " + col.of.Name + "(" +
		col.pred.Names()[col.column] + ").",
		Body: []core.Literal{body, &core.Not{Span: span, Body: []core.Literal{
			&core.Atom{Span: span, Pred: col.of.Core, Args: []core.Term{x}}}}}}
	for i, t := range body.Args {
		if col.pred.Core.Args[i].Family == nil {
			check.Vars = append(check.Vars, t.(*core.Var))
		}
	}
	c.program.Checks = append(c.program.Checks, check)
}
