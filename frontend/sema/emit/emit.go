package emit

import (
	"fmt"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/infer"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// emission makes the core program.
type emission struct {
	*diag.Reporter
	types   *infer.Types
	program *core.Program
	rules   []*core.Rule // in text order
	facts   []*core.Rule // those of functional predicates
	// families and makers have what the families of entities and their makers
	// become.
	families map[*normal.Family]*core.Family
	makers   map[*normal.Maker]*core.Pred
	members  members
	// stored names the predicates of makers whose numbers are stored. lasting
	// has what the makers of lasting entities become.
	stored       map[string]bool
	lasting      map[*normal.Maker]*lasting
	lastingOrder []*lasting
	starts       map[string]*normal.Pred // what a predicate was, by its name
	// fates has the fates of the alternatives of formulas, fateOrder its keys
	// by first appearance.
	fates     map[fatesKey][]fate
	fateOrder []fatesKey
}

// Program makes the core program, still without strata, and its rules in text
// order. Clauses with errors are left out. Stored names the predicates of
// makers whose numbers are stored.
func Program(files []*source.File, preds []*normal.Pred, clauses []*normal.Clause,
	types *infer.Types, stored map[string]bool, report *diag.Reporter) (*core.Program,
	[]*core.Rule) {
	c := &emission{
		Reporter: report, types: types, program: &core.Program{Files: files},
		fates:    map[fatesKey][]fate{},
		families: map[*normal.Family]*core.Family{}, makers: map[*normal.Maker]*core.Pred{},
		stored: stored, lasting: map[*normal.Maker]*lasting{},
		starts: map[string]*normal.Pred{},
	}
	for _, p := range preds {
		c.program.Preds = append(c.program.Preds, c.pred(p))
		if base, start, ok := core.Event(p.Name); ok && start {
			c.starts[base] = p
		}
	}
	for _, p := range preds {
		c.maker(p)
	}
	for _, cl := range clauses {
		if cl.Broken {
			continue
		}
		for _, u := range cl.Units {
			if !c.complete(u) {
				continue
			}
			if cl.Checks {
				c.check(u)
				continue
			}
			c.creations(u)
			for _, h := range u.Heads {
				c.rule(u, h)
			}
		}
	}
	c.membership(preds, len(clauses))
	c.reportFates()
	c.checkFacts()
	return c.program, c.rules
}

func (c *emission) pred(p *normal.Pred) *core.Pred {
	out := &core.Pred{
		Name: p.Name, Span: p.Span, Keys: p.Keys,
		Derived: p.Rules > 0 || p.Hidden && p.Source == "", Query: p.Query,
		Hidden: p.Hidden, Source: p.Source,
		Keeps: p.Keeps, Iterates: p.Iterates, OrderBy: p.OrderBy, Limit: p.Limit, File: p.File,
	}
	out.Exported = out.Derived && !p.Hidden && (p.Query || !p.Private()) && p.Maker == nil &&
		(!p.View || p.File != nil && p.File.Export)
	for i, n := range p.Columns {
		t, _ := c.types.TypeOf(n)
		arg := core.Arg{Name: p.ArgNames[i], Type: c.types.Represented(t)}
		if t.Kind == scalar.Entity {
			arg.Entity = t.String()
		}
		if f := c.types.Family(t); f != nil && !f.ByValue() {
			arg.Family = c.family(f)
		}
		out.Args = append(out.Args, arg)
	}
	p.Core = out
	return out
}

// complete reports whether everything in a unit has a type. If not, the reason
// has been reported.
func (c *emission) complete(u *normal.Unit) bool {
	for _, v := range u.Vars {
		if _, ok := c.types.TypeOf(v.Node); !ok {
			return false
		}
	}
	for _, h := range u.Heads {
		for _, n := range h.Pred.Columns {
			if _, ok := c.types.TypeOf(n); !ok {
				return false
			}
		}
	}
	return resolved(u.Body)
}

func resolved(body []normal.Literal) bool {
	var ok func(e normal.Expr) bool
	ok = func(e normal.Expr) bool {
		k, isCall := e.(*normal.Call)
		if !isCall {
			return true
		}
		for _, a := range k.Args {
			if !ok(a) {
				return false
			}
		}
		return k.Resolved
	}
	for _, l := range body {
		good := true
		switch l := l.(type) {
		case *normal.Binding:
			good = ok(l.Expr)
		case *normal.Test:
			good = ok(l.Expr)
		case *normal.Negation:
			good = resolved(l.Body)
		}
		if !good {
			return false
		}
	}
	return true
}

// emitter makes the core form of one rule or check.
type emitter struct {
	c *emission
	u *normal.Unit
	// By the index of a variable: its core variable, the constant that it
	// equals, and whether it must stay a variable.
	vars   []*core.Var
	consts []*core.Const
	fixed  []bool
	made   int
	// dead is the first test of the conjunction at hand that is certainly
	// false.
	dead source.Span
	// failures has the expressions of the conjunction at hand that certainly
	// have no value.
	failures []failure
	// dropped is set if an atom was left out because another one says the same.
	// Literals may then stand before the atom that gives their variables
	// values.
	dropped bool
	mixed   mixing
}

func (c *emission) newEmitter(u *normal.Unit) *emitter {
	n := len(u.Vars)
	e := &emitter{c: c, u: u, vars: make([]*core.Var, n), consts: make([]*core.Const, n),
		fixed: make([]bool, n)}
	for _, a := range u.Aggs {
		e.fixed[a.Out.Index] = true
		if a.In != nil {
			e.fixed[a.In.Index] = true
		}
		for _, k := range a.By {
			e.fixed[k.Var.Index] = true
		}
	}
	if u.Seq != nil {
		e.fixed[u.Seq.Index.Index] = true
		for _, v := range u.Seq.Group {
			e.fixed[v.Index] = true
		}
		for _, k := range u.Seq.Order {
			e.fixed[k.Var.Index] = true
		}
	}
	return e
}

// variable returns the core variable of v, or of the one that v equals.
func (e *emitter) variable(v *normal.Var) *core.Var {
	out := e.vars[v.Index]
	if out == nil {
		out = &core.Var{Name: v.Name, Type: e.typeOf(v), Span: v.Span}
		e.vars[v.Index] = out
	}
	return out
}

// typeOf returns the type of what stands for a variable.
func (e *emitter) typeOf(v *normal.Var) scalar.Type {
	t, _ := e.c.types.TypeOf(v.Node)
	return e.c.types.Represented(t)
}

// fresh makes a variable that the program does not have.
func (e *emitter) fresh(t scalar.Type, span source.Span) *core.Var {
	e.made++
	return &core.Var{Name: fmt.Sprintf("$c%d", e.made), Type: t, Span: span}
}

// headTerm returns what stands for an argument of a head. A conversion to the
// type of the column goes to the body.
func (e *emitter) headTerm(t normal.Term, want scalar.Type, body *[]core.Literal) core.Term {
	r, ok := t.(normal.Ref)
	if !ok {
		v, _ := normal.LiteralAs(t.(*normal.Const).Value, want)
		return core.Const{Value: v}
	}
	if k := e.consts[r.Var.Index]; k != nil {
		if v, ok := constantAs(k, r, want); ok {
			return core.Const{Value: v}
		}
	}
	v := e.variable(r.Var)
	if v.Type == want {
		return v
	}
	to := e.fresh(want, r.Span)
	*body = append(*body,
		&core.Let{Span: r.Span, Var: to, Expr: convert(core.VarExpr{Var: v}, want, r.Span)})
	return to
}

func (c *emission) rule(u *normal.Unit, h *normal.Atom) {
	if impliedBy(u, h) {
		return
	}
	c.noteMembers(u, h)
	e := c.newEmitter(u)
	body := e.created(u.Creates, e.body(u.Body, 0))
	rule := &core.Rule{Span: u.Clause.Node.Span, Decl: u.Clause.Number}
	rule.Head = core.Atom{Span: h.Span, Pred: h.Pred.Core}
	var widened *core.Var // the value after an aggregate has to be widened
	for i, t := range h.Args {
		want := h.Pred.Core.Args[i].Type
		if r, ok := t.(normal.Ref); ok && (r.Var.Out || u.Seq != nil) &&
			e.consts[r.Var.Index] == nil && e.variable(r.Var).Type != want {
			// The body of seq<<>> stays one atom.
			widened = e.variable(r.Var)
			rule.Head.Args = append(rule.Head.Args, widened)
			continue
		}
		rule.Head.Args = append(rule.Head.Args, e.headTerm(t, want, &body))
	}
	rule.Body = body
	for _, a := range u.Aggs {
		if !hasArg(h, a.Out) {
			continue
		}
		spec := core.AggSpec{Span: a.Span, Out: e.variable(a.Out), Fn: a.Fn, At: a.At,
			Separator: a.Separator, By: e.orderKeys(a.By)}
		if a.In != nil {
			spec.In = e.variable(a.In)
		}
		rule.Agg = append(rule.Agg, spec)
	}
	if s := u.Seq; s != nil {
		rule.Seq = &core.Seq{Index: e.variable(s.Index)}
		for _, v := range s.Group {
			if x := e.variable(v); !slices.Contains(rule.Seq.Group, x) {
				rule.Seq.Group = append(rule.Seq.Group, x)
			}
		}
		rule.Seq.Order = e.orderKeys(s.Order, rule.Seq.Group...)
	}
	c.finish(e, rule, h, widened != nil)
}

// orderKeys returns an order without variables that decide nothing: those that
// equal one before, or one of a group.
func (e *emitter) orderKeys(keys []normal.OrderKey, group ...*core.Var) (out []core.SeqKey) {
	for _, k := range keys {
		v := e.variable(k.Var)
		isBefore := slices.ContainsFunc(out, func(k core.SeqKey) bool { return k.Var == v })
		if !isBefore && !slices.Contains(group, v) {
			out = append(out, core.SeqKey{Var: v, Desc: k.Desc})
		}
	}
	return out
}

// finish adds a rule, unless its body cannot hold. If widen is set, its value
// after an aggregate has to be widened.
func (c *emission) finish(e *emitter, rule *core.Rule, h *normal.Atom, widen bool) {
	f := e.fate(e.u.Picks)
	if !e.u.Hidden {
		c.settled(fatesKey{ruleBody, e.u.Clause.Node.Left.Pos()}, f)
	}
	if !f.holds() {
		return
	}
	dropUnused(rule)
	p := rule.Head.Pred
	if len(rule.Body) == 0 && len(rule.Agg) == 0 && p.Functional() && p.Numbers == nil {
		c.facts = append(c.facts, rule)
	}
	if widen {
		rule = c.splitWidening(rule, h)
	}
	c.rules = append(c.rules, rule)
}

func hasArg(h *normal.Atom, v *normal.Var) bool {
	for _, t := range h.Args {
		if r, ok := t.(normal.Ref); ok && r.Var == v {
			return true
		}
	}
	return false
}

// splitWidening routes an aggregate or sequence, whose result is narrower than
// the declared column, through a hidden predicate, and returns the rule that
// widens it.
func (c *emission) splitWidening(rule *core.Rule, h *normal.Atom) *core.Rule {
	to := h.Pred.Core
	hidden := &core.Pred{
		Name: c.fresh(to.Name), Span: to.Span,
		Keys: to.Keys, Derived: true, Hidden: true, Limit: -1,
	}
	outer := &core.Rule{Span: rule.Span, Decl: rule.Decl}
	outer.Head = core.Atom{Span: rule.Head.Span, Pred: to}
	read := &core.Atom{Span: rule.Head.Span, Pred: hidden}
	outer.Body = []core.Literal{read}
	for i, t := range rule.Head.Args {
		typ, span := to.Args[i].Type, rule.Head.Span
		name := to.Args[i].Name
		if v, ok := t.(*core.Var); ok {
			typ, span = v.Type, v.Span
		}
		hidden.Args = append(hidden.Args, core.Arg{Name: name, Type: typ})
		v := &core.Var{Name: name, Type: typ, Span: span}
		read.Args = append(read.Args, v)
		if typ == to.Args[i].Type {
			outer.Head.Args = append(outer.Head.Args, v)
			continue
		}
		wide := &core.Var{Name: "$c" + name, Type: to.Args[i].Type, Span: span}
		outer.Body = append(outer.Body,
			&core.Let{Span: span, Var: wide, Expr: convert(core.VarExpr{Var: v}, wide.Type, span)})
		outer.Head.Args = append(outer.Head.Args, wide)
	}
	rule.Head.Pred = hidden
	c.program.Preds = append(c.program.Preds, hidden)
	c.rules = append(c.rules, rule)
	return outer
}

// fresh returns a name for a hidden predicate beside a named one.
func (c *emission) fresh(name string) string {
	name = fmt.Sprintf("%s$%d", name, len(c.program.Preds))
	for c.taken(name) {
		name += "$"
	}
	return name
}

// taken reports whether a predicate has a name.
func (c *emission) taken(name string) bool {
	return slices.ContainsFunc(c.program.Preds, func(p *core.Pred) bool { return p.Name == name })
}

func (c *emission) check(u *normal.Unit) {
	if u.TypesOnly {
		return
	}
	e := c.newEmitter(u)
	body := e.body(u.Body, 0)
	f := e.fate(u.Picks)
	c.settled(fatesKey{constraintLeft, u.Clause.Node.Span}, f)
	if !f.holds() {
		return // it cannot be violated
	}
	check := &core.Check{Span: u.Clause.Node.Span, Text: u.Clause.Node.Span.Text(), Body: body}
	for _, v := range u.Vars[:u.Shown] {
		isNested := v.Short || v.Made && !v.IsWildcard() || v.Scope.Parent != nil
		if isNested || e.consts[v.Index] != nil || c.isNumber(v) {
			continue
		}
		if x := e.variable(v); !slices.Contains(check.Vars, x) {
			check.Vars = append(check.Vars, x)
		}
	}
	c.program.Checks = append(c.program.Checks, check)
}

// body emits the literals of a conjunction at the given depth of negation.
func (e *emitter) body(literals []normal.Literal, depth int) []core.Literal {
	var out []core.Literal
	outer := e.enter(literals)
	for _, l := range literals {
		switch l := l.(type) {
		case *normal.Atom:
			out = append(append(out, e.matched(l)...), e.takeConversions()...)
		case *normal.Binding:
			if r, ok := l.Expr.(normal.Ref); ok && e.typeOf(r.Var) == e.typeOf(l.Var) {
				if k := e.consts[r.Var.Index]; k == nil {
					e.vars[l.Var.Index] = e.variable(r.Var)
					continue
				} else if !e.fixed[l.Var.Index] {
					e.consts[l.Var.Index] = k
					continue
				}
			}
			x, ok := e.expr(l.Expr, e.typeOf(l.Var))
			if !ok {
				continue
			}
			if k, ok := x.(core.Const); ok && !e.fixed[l.Var.Index] {
				e.consts[l.Var.Index] = &k
				continue
			}
			out = append(out, &core.Let{Span: l.Span, Var: e.variable(l.Var), Expr: x})
		case *normal.Test:
			if l.Solved && oneInteger(l.Expr) {
				continue // integers wrap around, so the binding solves it exactly
			}
			if x, ok := e.test(l); ok {
				out = append(out, &core.Test{Span: l.Span, Expr: x})
			}
		case *normal.Negation:
			out = append(out, e.negation(l, depth)...)
		}
	}
	if e.leave(outer) || depth == 0 && e.dropped {
		return inOrder(out)
	}
	return out
}

// test emits a test, and reports whether there is something to evaluate. Some
// alternatives of a disjunction may have no value.
func (e *emitter) test(l *normal.Test) (core.Expr, bool) {
	before := len(e.failures)
	x, ok := e.expr(l.Expr, scalar.BooleanType)
	if !ok {
		return nil, false
	}
	x = equalIntegers(x)
	k, isConst := x.(core.Const)
	switch {
	case isConst && !k.Value.Bool():
		if len(e.failures) == before {
			e.fail(l.Span)
		}
		return nil, false
	case len(e.failures) > before:
		key := fatesKey{testedDisjunction, l.Span}
		for _, f := range e.failures[before:] {
			e.c.settled(key, fate{picks: []source.Span{f.item}, failures: []failure{f}})
		}
		e.c.settled(key, fate{})
		e.failures = e.failures[:before]
	}
	return x, !isConst
}

// fail notes a test that is certainly false.
func (e *emitter) fail(span source.Span) {
	if !e.dead.IsValid() {
		e.dead = span
	}
}

// fate returns the fate of the conjunction at hand. A false test silences
// failures of the others, so that x != 0 guards a division by x.
func (e *emitter) fate(picks []source.Span) fate {
	f := fate{picks: picks, dead: e.dead}
	if !f.dead.IsValid() {
		f.failures = e.failures
	}
	return f
}

// negation emits !F. A negation that is certainly true disappears. A negated
// test is turned round. A double negation is lifted, which changes nothing in a
// set.
func (e *emitter) negation(n *normal.Negation, depth int) []core.Literal {
	dead, failures := e.dead, e.failures
	e.dead, e.failures = source.Span{}, nil
	inner := e.body(n.Body, depth+1)
	f := e.fate(n.Picks)
	f.outer = e.u.Picks
	e.dead, e.failures = dead, failures
	e.c.settled(fatesKey{negated, n.Of}, f)
	if !f.holds() {
		return nil
	}
	if len(inner) == 0 {
		e.fail(n.Span)
		return nil
	}
	if len(inner) == 1 {
		switch x := inner[0].(type) {
		case *core.Test:
			return []core.Literal{&core.Test{Span: n.Span, Expr: not(x.Expr, n.Span)}}
		case *core.Not:
			if len(e.u.Aggs) == 0 && e.u.Seq == nil {
				return x.Body
			}
		}
	}
	return []core.Literal{&core.Not{Span: n.Span, Body: inner}}
}

func (e *emitter) atom(a *normal.Atom) *core.Atom { return e.atomOf(a, a.Pred.Core) }

// atomOf emits an atom as one of another predicate.
func (e *emitter) atomOf(a *normal.Atom, p *core.Pred) *core.Atom {
	out := &core.Atom{Span: a.Span, Pred: p}
	for i, t := range a.Args {
		switch t := t.(type) {
		case *normal.Const:
			v, _ := normal.LiteralAs(t.Value, p.Args[i].Type)
			out.Args = append(out.Args, core.Const{Value: v})
		case normal.Ref:
			if k := e.consts[t.Var.Index]; k != nil {
				v, ok := constantAs(k, t, p.Args[i].Type)
				if !ok {
					e.fail(t.Span)
				}
				out.Args = append(out.Args, core.Const{Value: v})
			} else {
				out.Args = append(out.Args, e.occurrence(t, p.Args[i].Type))
			}
		}
	}
	return out
}
