package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// A variable that nothing else binds takes its values from int:range, or from
// comparisons that bound it on both sides. A hidden predicate generates them:
//
//	p$wanted(lo, hi) <- what gives lo and hi their values.
//	p$range(lo, hi, lo, hi - lo) <- p$wanted(lo, hi), lo <= hi.
//	p$range(lo, hi, x + 1, h) <- p$range(lo, hi, x, m), 0 < m, h = (m - 1) / 2.
//	p$range(lo, hi, x + h + 2, m - h - 2) <- p$range(lo, hi, x, m), 1 < m, ...
//
// A tuple has a value and the number of values after it that are its to
// generate. It gives each of two tuples one half of them, so n values take
// log n rounds. A range of values on both sides of zero starts on either side,
// so that no difference overflows.

// binding generates until each variable that can have a value has one.
func (lo *lowering) binding(k *conj) {
	chooseBindings(k.literals, k.scope)
	for lo.invertArgument(k) || lo.generate(k) || lo.invertEquation(k) {
		chooseBindings(k.literals, k.scope)
	}
}

// generate gives one variable its values from a range. It reports whether there
// is such a variable.
func (lo *lowering) generate(k *conj) bool {
	for i, l := range k.literals {
		r, ok := l.(*normal.Range)
		if !ok || !valued(r.From) || !valued(r.To) || !valued(r.Step) {
			continue
		}
		if x, ok := r.X.(normal.Ref); ok && isOpen(x, k.scope) {
			k.literals = slices.Delete(k.literals, i, i+1)
			lo.rangeOf(r, x, k)
			return true
		}
	}
	return lo.chooseMember(k) || lo.enumerate(k) || lo.compared(k)
}

func isOpen(r normal.Ref, s *normal.Scope) bool { return !r.Var.Bound && r.Var.Scope == s }

// compared gives a variable its values from the first comparisons that bound it
// below and above. They stay as tests.
func (lo *lowering) compared(k *conj) bool {
	type sides struct{ from, to normal.Expr }
	found := map[*normal.Var]*sides{}
	for _, l := range k.literals {
		t, ok := l.(*normal.Test)
		if !ok {
			continue
		}
		call, ok := t.Expr.(*normal.Call)
		if !ok || len(call.Args) != 2 {
			continue
		}
		for i, arg := range call.Args {
			v, ok := arg.(normal.Ref)
			other := call.Args[1-i]
			if !ok || !isOpen(v, k.scope) || !valued(other) {
				continue
			}
			s := found[v.Var]
			if s == nil {
				s = &sides{}
				found[v.Var] = s
			}
			switch less := call.Name == "lt" || call.Name == "le"; {
			case !less && call.Name != "gt" && call.Name != "ge":
			case less == (i == 0) && s.to == nil:
				s.to = other
			case less != (i == 0) && s.from == nil:
				s.from = other
			}
			if s.from != nil && s.to != nil {
				one := &normal.Const{Value: scalar.OfInt(scalar.IntType, 1), Span: t.Span}
				lo.rangeOf(&normal.Range{Span: t.Span, From: s.from, To: s.to, Step: one}, v, k)
				return true
			}
		}
	}
	return false
}

// rangeOf adds an atom that gives x the values of a range.
func (lo *lowering) rangeOf(of *normal.Range, x normal.Ref, k *conj) {
	g := &rangeRules{span: of.Span, x: x.Var, clause: lo.hiddenClause(), c: lo.c}
	for i, e := range []normal.Expr{of.From, of.To, of.Step} {
		g.terms[i] = lo.bound(e, k)
		v, ok := g.terms[i].(normal.Ref)
		if !ok {
			continue
		}
		if !slices.ContainsFunc(g.inputs, func(r normal.Ref) bool { return r.Var == v.Var }) {
			g.inputs = append(g.inputs, v)
		}
		lo.u.Alike = append(lo.u.Alike, normal.Alike{Span: of.Span, X: x.Var, Y: v.Var})
	}
	g.values = lo.hiddenPred("range", len(g.inputs)+2, of.Span)
	if len(g.inputs) > 0 {
		g.wanted = lo.hiddenPred("wanted", len(g.inputs), of.Span)
		lo.demand(g.clause, g.wanted, g.inputs, k)
	}
	step, isLiteral := literalInt(g.terms[2])
	if !isLiteral || step > 0 {
		g.seeds(!isLiteral, "le", "lt", -1)
	}
	if !isLiteral || step < 0 {
		g.seeds(!isLiteral, "ge", "gt", 0)
	}
	g.halves()
	at := &normal.Atom{Span: of.Span, Pred: &g.values.Pred}
	for _, v := range g.inputs {
		at.Args = append(at.Args, v)
	}
	rest := lo.fresh(of.Span, k.scope)
	at.Args = append(at.Args, x, rest)
	rest.Var.Bound, x.Var.Bound = true, true
	k.add(at)
	lo.c.integers = append(lo.c.integers,
		&integerVar{lo.cl, x.Var, "only a range of integers binds a variable", []*pred{g.wanted, g.values}})
}

// bound returns an expression as a literal or as a variable that has its value.
func (lo *lowering) bound(e normal.Expr, k *conj) normal.Term {
	if lit := normal.BoundLiteral(e); lit != nil {
		return lit
	}
	if r, ok := e.(normal.Ref); ok {
		return r
	}
	v := lo.fresh(e.Pos(), k.scope)
	v.Var.Bound, v.Var.Means = true, e
	k.add(&normal.Binding{Span: e.Pos(), Var: v.Var, Expr: e})
	return v
}

// literalInt returns the value of a literal that is an int.
func literalInt(e normal.Expr) (int64, bool) {
	lit := normal.BoundLiteral(e)
	if lit == nil || lit.Value.Type.Kind != scalar.Int {
		return 0, false
	}
	return lit.Value.Int(), true
}

// rangeRules makes the rules of one range.
type rangeRules struct {
	c      *checker
	span   source.Span
	x      *normal.Var
	clause *clause
	// terms are the first and the last value and the step, as literals or
	// variables of the body. inputs has the variables among them.
	terms          [3]normal.Term
	inputs         []normal.Ref
	wanted, values *pred
}

// rule begins a rule. It returns the variables of the inputs, and the terms.
func (g *rangeRules) rule() (r *hiddenRule, inputs []normal.Term, terms [3]normal.Expr) {
	r = g.c.hiddenRule(g.clause, g.span, g.x)
	terms = g.terms
	for _, in := range g.inputs {
		v := r.variable([]string{"lo", "hi", "step"}[len(inputs)])
		inputs = append(inputs, v)
		for i, t := range g.terms {
			if t, ok := t.(normal.Ref); ok && t.Var == in.Var {
				terms[i] = v
			}
		}
	}
	return r, inputs, terms
}

// seeds adds the first tuples of ranges that go up, or of those that go down:
// le and lt compare in the direction of the range. across is the last value
// before zero is crossed. If tested is set, the direction depends on the step.
func (g *rangeRules) seeds(tested bool, le, lt string, across int64) {
	for part := range 3 {
		r, inputs, terms := g.rule()
		if g.wanted != nil {
			r.k.add(r.atom(g.wanted, inputs))
		}
		from, to, step := terms[0], terms[1], terms[2]
		zero := r.number(0)
		if tested {
			r.test(lt, zero, step)
		}
		// Going up, the negative numbers are before zero; going down, zero is
		// with the positive ones.
		isBefore := func(e normal.Expr) normal.Expr { return r.call("lt", e, zero) }
		isAfter := func(e normal.Expr) normal.Expr { return r.call("ge", e, zero) }
		if across == 0 {
			isBefore, isAfter = isAfter, isBefore
		}
		first := from
		var rest normal.Ref
		if part == 0 {
			r.k.add(&normal.Test{Span: g.span, Expr: r.call("or", isAfter(from), isBefore(to))})
			r.test(le, from, to)
			rest = g.steps(r, "m", r.call("sub", to, from), step)
		} else {
			r.k.add(&normal.Test{Span: g.span, Expr: isBefore(from)})
			r.k.add(&normal.Test{Span: g.span, Expr: isAfter(to)})
			left := r.call("sub", zero, from)
			if across != 0 {
				left = r.call("sub", left, r.number(1))
			}
			rest = g.steps(r, "m", left, step)
		}
		if part == 2 {
			far := r.call("mul", r.call("add", rest, r.number(1)), step)
			next := r.let("y", "add", from, far)
			r.test(le, next, to)
			first, rest = next, g.steps(r, "n", r.call("sub", to, next), step)
		}
		r.derive(g.values, append(inputs, first, rest))
	}
}

// steps returns the number of steps in a distance.
func (g *rangeRules) steps(r *hiddenRule, name string, distance, step normal.Expr) normal.Ref {
	if n, ok := literalInt(step); ok && n == 1 {
		call := distance.(*normal.Call)
		return r.let(name, call.Name, call.Args...)
	}
	return r.let(name, "div", distance, step)
}

// halves adds the rules that give the values after a tuple to two others.
func (g *rangeRules) halves() {
	for half := range 2 {
		r, inputs, terms := g.rule()
		x, m := r.variable("x"), r.variable("m")
		r.k.add(r.atom(g.values, append(inputs[:len(inputs):len(inputs)], x, m)))
		r.test("lt", r.number(int64(half)), m)
		h := r.let("h", "div", r.call("sub", m, r.number(1)), r.number(2))
		y, rest := normal.Ref{}, h
		if half == 0 {
			y = r.let("y", "add", x, terms[2])
		} else {
			skipped := r.let("k", "add", h, r.number(2))
			far := r.call("mul", skipped, terms[2])
			y, rest = r.let("y", "add", x, far), r.let("n", "sub", m, skipped)
		}
		r.derive(g.values, append(inputs, y, rest))
	}
}

// rangeAtom lowers int:range(lo, hi, step, x).
func (lo *lowering) rangeAtom(a *ast.Apply, k *conj) {
	if len(a.Args) != 4 {
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.WrongArity, a.Span, "int:range has 4 arguments, not %d", len(a.Args))
		d.Help("write int:range(lo, hi, step, x)")
		return
	}
	args, ok := lo.exprs(a.Args[:3], k)
	x := lo.term(a.Args[3], k)
	if ok && x != nil {
		k.add(&normal.Range{Span: a.Span, From: args[0], To: args[1], Step: args[2], X: x})
	}
}

// within adds the tests that a value is in a range.
func (lo *lowering) within(of *normal.Range) []normal.Literal {
	call := func(name string, args ...normal.Expr) normal.Expr {
		return &normal.Call{Span: of.Span, Name: name, Args: args, Copy: true}
	}
	all := func(name string, parts ...normal.Expr) normal.Expr {
		out := parts[0]
		for _, p := range parts[1:] {
			out = call(name, out, p)
		}
		return out
	}
	from, to, step, x := of.From, of.To, of.Step, of.X
	zero := &normal.Const{Value: scalar.OfInt(scalar.IntType, 0), Span: of.Span}
	up := all("and", call("lt", zero, step), call("le", from, x), call("le", x, to))
	down := all("and", call("lt", step, zero), call("le", to, x), call("le", x, from))
	out := []normal.Literal{&normal.Test{Span: of.Span, Expr: call("or", up, down)}}
	lo.c.filters = append(lo.c.filters, &rangeFilter{lo.cl, of})
	if n, ok := literalInt(step); ok && n >= -1 && n <= 1 {
		return out
	}
	// x and from have the same remainder by the step, or remainders of
	// different signs that are one step apart. The difference of x and from
	// could overflow.
	a, b := call("int:mod", x, step), call("int:mod", from, step)
	apart := func(low, high normal.Expr) normal.Expr {
		return all("and", call("lt", low, zero), call("lt", zero, high), call("or",
			call("and", call("lt", zero, step), call("eq", call("sub", high, low), step)),
			call("and", call("lt", step, zero), call("eq", call("sub", low, high), step))))
	}
	same := all("or", call("eq", a, b), apart(a, b), apart(b, a))
	return append(out, &normal.Test{Span: of.Span, Expr: same})
}

// rangeFilter is an int:range whose variables all have values.
type rangeFilter struct {
	clause *clause
	of     *normal.Range
}

// checkRanges reports the ranges that are not of integers.
func (c *checker) checkRanges() {
	for _, f := range c.filters {
		if f.clause.Broken {
			continue
		}
		for _, e := range []normal.Expr{f.of.From, f.of.To, f.of.Step, f.of.X} {
			t, ok := c.typeOfTerm(e)
			if ok && !normal.IsInteger(t) {
				f.clause.Broken = true
				d := c.Errorf(diag.WrongArgumentTypes, e.Pos(), "int:range takes integers, not %s", t)
				d.Help("compare the values instead: lo <= x, x <= hi")
				break
			}
		}
	}
}

// typeOfTerm returns the type of a variable or literal.
func (c *checker) typeOfTerm(e normal.Expr) (scalar.Type, bool) {
	switch e := e.(type) {
	case normal.Ref:
		return c.types.TypeOf(e.Var.Node)
	case *normal.Const:
		return e.Value.Type, true
	case *normal.Call:
		return e.Sig.Result, e.Resolved
	}
	return scalar.Type{}, false
}
