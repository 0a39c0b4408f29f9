package sema

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// emit makes the core program. Clauses with errors are left out.
func (c *checker) emit() *core.Program {
	program := &core.Program{Files: c.files}
	for _, p := range c.order {
		program.Preds = append(program.Preds, c.emitPred(p))
	}
	for _, cl := range c.clauses {
		if cl.bad {
			continue
		}
		for _, u := range cl.units {
			if !c.complete(u) {
				continue
			}
			if cl.kind == constraintClause {
				c.emitCheck(program, u)
				continue
			}
			for _, h := range u.heads {
				c.emitRule(program, u, h)
			}
		}
	}
	c.reportFates()
	c.checkFacts()
	return program
}

func (c *checker) emitPred(p *pred) *core.Pred {
	c.nameArguments(p)
	out := &core.Pred{
		Name: p.name, Span: p.span, Keys: p.keys,
		Derived: p.rules > 0, Query: p.query,
		OrderBy: p.orderBy, Limit: p.limit, File: p.file,
	}
	out.Exported = out.Derived && (p.query || p.name[0] != '_')
	for i, n := range p.columns {
		t, _ := c.types.typeOf(n)
		out.Args = append(out.Args, core.Arg{Name: p.argNames[i], Type: t})
	}
	p.core = out
	return out
}

// nameArguments names the arguments of a predicate without declaration after
// the variables of its first rule.
func (c *checker) nameArguments(p *pred) {
	if len(p.argNames) == p.arity && p.named {
		return
	}
	p.named = true
	names := make([]string, p.arity)
	if p.decl != nil {
		copy(names, p.argNames)
	} else if p.firstHead != nil {
		for i, t := range p.firstHead.args {
			if r, ok := t.(ref); ok && !r.v.made {
				names[i] = plainName(r.v.base)
			}
		}
	}
	taken := map[string]bool{}
	for i, name := range names {
		if name == "" || taken[name] {
			names[i] = ""
			continue
		}
		taken[name] = true
	}
	for i := range names {
		if names[i] != "" {
			continue
		}
		name := argName(i)
		if p.functional() && i == p.arity-1 {
			name = "value"
		}
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s%d", argName(i), n)
		}
		names[i], taken[name] = name, true
	}
	p.argNames = names
}

// complete reports whether everything in a unit has a type; if not, the reason
// has been reported.
func (c *checker) complete(u *unit) bool {
	for _, v := range u.vars {
		if _, ok := c.types.typeOf(v.node); !ok {
			return false
		}
	}
	for _, h := range u.heads {
		for _, n := range h.pred.columns {
			if _, ok := c.types.typeOf(n); !ok {
				return false
			}
		}
	}
	return resolved(u.body)
}

func resolved(body []literal) bool {
	var ok func(e expr) bool
	ok = func(e expr) bool {
		k, isCall := e.(*call)
		if !isCall {
			return true
		}
		for _, a := range k.args {
			if !ok(a) {
				return false
			}
		}
		return k.resolved
	}
	for _, l := range body {
		good := true
		switch l := l.(type) {
		case *binding:
			good = ok(l.e)
		case *test:
			good = ok(l.e)
		case *negation:
			good = resolved(l.body)
		}
		if !good {
			return false
		}
	}
	return true
}

// emitter makes the core form of one rule or check.
type emitter struct {
	c *checker
	u *unit
	// By the index of a variable: its core variable, the constant that it
	// equals, and whether it must stay a variable.
	vars   []*core.Var
	consts []*core.Const
	fixed  []bool
	made   int
	// dead is the first test of the conjunction at hand that is certainly false.
	dead source.Span
	// failures has the expressions of the conjunction at hand that certainly have no
	// value.
	failures []failure
}

func (c *checker) newEmitter(u *unit) *emitter {
	n := len(u.vars)
	e := &emitter{c: c, u: u, vars: make([]*core.Var, n), consts: make([]*core.Const, n), fixed: make([]bool, n)}
	for _, a := range u.agg {
		e.fixed[a.out.index] = true
		if a.in != nil {
			e.fixed[a.in.index] = true
		}
	}
	if u.seq != nil {
		e.fixed[u.seq.index.index] = true
	}
	return e
}

// variable returns the core variable of v, or of the one that v equals.
func (e *emitter) variable(v *variable) *core.Var {
	out := e.vars[v.index]
	if out == nil {
		t, _ := e.c.types.typeOf(v.node)
		out = &core.Var{Name: v.name, Type: t, Span: v.span}
		e.vars[v.index] = out
	}
	return out
}

// fresh makes a variable that the program does not have.
func (e *emitter) fresh(t scalar.Type, span source.Span) *core.Var {
	e.made++
	return &core.Var{Name: fmt.Sprintf("$c%d", e.made), Type: t, Span: span}
}

func (c *checker) emitRule(program *core.Program, u *unit, h *atom) {
	e := c.newEmitter(u)
	body := e.body(u.body, 0)
	rule := &core.Rule{Span: u.clause.node.Span, Decl: u.clause.number}
	rule.Head = core.Atom{Span: h.span, Pred: h.pred.core}
	var widened *core.Var // the value after an aggregate has to be widened
	for i, t := range h.args {
		want := h.pred.core.Args[i].Type
		switch t := t.(type) {
		case *constant:
			v, _ := literalAs(t.value, want)
			rule.Head.Args = append(rule.Head.Args, core.Const{Value: v})
		case ref:
			if k := e.consts[t.v.index]; k != nil {
				if v, ok := constantAs(k, t, want); ok {
					rule.Head.Args = append(rule.Head.Args, core.Const{Value: v})
					continue
				}
			}
			v := e.variable(t.v)
			switch {
			case v.Type == want:
				rule.Head.Args = append(rule.Head.Args, v)
			case t.v.out || u.seq != nil:
				// The body of seq<<>> stays one atom.
				widened = v
				rule.Head.Args = append(rule.Head.Args, v)
			default:
				to := e.fresh(want, t.span)
				body = append(body, &core.Let{Span: t.span, Var: to, Expr: convert(core.VarExpr{Var: v}, want, t.span)})
				rule.Head.Args = append(rule.Head.Args, to)
			}
		}
	}
	rule.Body = body
	for _, a := range u.agg {
		if !hasArg(h, a.out) {
			continue
		}
		spec := core.AggSpec{Span: a.span, Out: e.variable(a.out), Fn: a.fn}
		if a.in != nil {
			spec.In = e.variable(a.in)
		}
		rule.Agg = append(rule.Agg, spec)
	}
	if s := u.seq; s != nil {
		rule.Seq = &core.Seq{Index: e.variable(s.index)}
		for _, v := range s.group {
			rule.Seq.Group = append(rule.Seq.Group, e.variable(v))
		}
		for _, v := range s.order {
			rule.Seq.Order = append(rule.Seq.Order, e.variable(v))
		}
	}
	f := e.fate(u.picks)
	c.settled(fatesKey{ruleBody, u.clause.node.Left.Pos()}, f)
	if !f.holds() {
		return
	}
	dropUnused(rule)
	if len(rule.Body) == 0 && len(rule.Agg) == 0 && h.pred.functional() {
		c.facts = append(c.facts, rule)
	}
	if widened != nil {
		rule = c.splitWidening(program, rule, h)
	}
	c.rules = append(c.rules, rule)
}

func hasArg(h *atom, v *variable) bool {
	for _, t := range h.args {
		if r, ok := t.(ref); ok && r.v == v {
			return true
		}
	}
	return false
}

// splitWidening routes an aggregate or sequence, whose result is narrower than
// the declared column, through a hidden predicate, and returns the rule that
// widens it.
func (c *checker) splitWidening(program *core.Program, rule *core.Rule, h *atom) *core.Rule {
	to := h.pred.core
	name := fmt.Sprintf("%s$%d", to.Name, len(program.Preds))
	for c.preds[name] != nil {
		name += "$"
	}
	hidden := &core.Pred{
		Name: name, Span: to.Span,
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
		outer.Body = append(outer.Body, &core.Let{Span: span, Var: wide, Expr: convert(core.VarExpr{Var: v}, wide.Type, span)})
		outer.Head.Args = append(outer.Head.Args, wide)
	}
	rule.Head.Pred = hidden
	program.Preds = append(program.Preds, hidden)
	c.rules = append(c.rules, rule)
	return outer
}

func (c *checker) emitCheck(program *core.Program, u *unit) {
	if u.typesOnly {
		return
	}
	e := c.newEmitter(u)
	body := e.body(u.body, 0)
	f := e.fate(u.picks)
	c.settled(fatesKey{constraintLeft, u.clause.node.Span}, f)
	if !f.holds() {
		return // it cannot be violated
	}
	check := &core.Check{Span: u.clause.node.Span, Text: u.clause.node.Span.Text(), Body: body}
	for _, v := range u.vars[:u.shown] {
		if v.made || v.scope.parent != nil || e.consts[v.index] != nil {
			continue
		}
		if x := e.variable(v); !slices.Contains(check.Vars, x) {
			check.Vars = append(check.Vars, x)
		}
	}
	program.Checks = append(program.Checks, check)
}

// body emits the literals of a conjunction at the given depth of negation.
func (e *emitter) body(literals []literal, depth int) []core.Literal {
	var out []core.Literal
	for _, l := range literals {
		switch l := l.(type) {
		case *atom:
			out = append(out, e.atom(l))
		case *binding:
			if r, ok := l.e.(ref); ok {
				if k := e.consts[r.v.index]; k == nil {
					e.vars[l.v.index] = e.variable(r.v)
					continue
				} else if !e.fixed[l.v.index] {
					e.consts[l.v.index] = k
					continue
				}
			}
			t, _ := e.c.types.typeOf(l.v.node)
			x, ok := e.expr(l.e, t)
			if !ok {
				continue
			}
			if k, ok := x.(core.Const); ok && !e.fixed[l.v.index] {
				e.consts[l.v.index] = &k
				continue
			}
			out = append(out, &core.Let{Span: l.span, Var: e.variable(l.v), Expr: x})
		case *test:
			if x, ok := e.test(l); ok {
				out = append(out, &core.Test{Span: l.span, Expr: x})
			}
		case *negation:
			out = append(out, e.negation(l, depth)...)
		}
	}
	return out
}

// test emits a test, and reports whether there is something to evaluate. Of a
// disjunction some alternatives may be without value.
func (e *emitter) test(l *test) (core.Expr, bool) {
	before := len(e.failures)
	x, ok := e.expr(l.e, scalar.BooleanType)
	if !ok {
		return nil, false
	}
	k, isConst := x.(core.Const)
	switch {
	case isConst && !k.Value.Bool():
		if len(e.failures) == before {
			e.fail(l.span)
		}
		return nil, false
	case len(e.failures) > before:
		key := fatesKey{testedDisjunction, l.span}
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

// fate says what became of the conjunction at hand. A test that is false spares
// the others, so that x != 0 guards a division by x.
func (e *emitter) fate(picks []source.Span) fate {
	f := fate{picks: picks, dead: e.dead}
	if !f.dead.IsValid() {
		f.failures = e.failures
	}
	return f
}

// negation emits !F. One that is certainly true disappears, a negated test is
// turned round, and a double negation is lifted, which in a set changes
// nothing.
func (e *emitter) negation(n *negation, depth int) []core.Literal {
	dead, failures := e.dead, e.failures
	e.dead, e.failures = source.Span{}, nil
	inner := e.body(n.body, depth+1)
	f := e.fate(n.picks)
	f.outer = e.u.picks
	e.dead, e.failures = dead, failures
	e.c.settled(fatesKey{negated, n.of}, f)
	if !f.holds() {
		return nil
	}
	if len(inner) == 0 {
		e.fail(n.span)
		return nil
	}
	if len(inner) == 1 {
		switch x := inner[0].(type) {
		case *core.Test:
			return []core.Literal{&core.Test{Span: n.span, Expr: not(x.Expr, n.span)}}
		case *core.Not:
			if len(e.u.agg) == 0 && e.u.seq == nil {
				return x.Body
			}
		}
	}
	return []core.Literal{&core.Not{Span: n.span, Body: inner}}
}

func (e *emitter) atom(a *atom) *core.Atom {
	out := &core.Atom{Span: a.span, Pred: a.pred.core}
	for i, t := range a.args {
		switch t := t.(type) {
		case *constant:
			v, _ := literalAs(t.value, a.pred.core.Args[i].Type)
			out.Args = append(out.Args, core.Const{Value: v})
		case ref:
			if k := e.consts[t.v.index]; k != nil {
				v, _ := constantAs(k, t, a.pred.core.Args[i].Type)
				out.Args = append(out.Args, core.Const{Value: v})
			} else {
				out.Args = append(out.Args, e.variable(t.v))
			}
		}
	}
	return out
}
