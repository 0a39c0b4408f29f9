package sema

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// scope holds the variables of one conjunction: of a body, or of the inside of
// a negation. A name belongs to the outermost conjunction in which it occurs
// outside further negations.
type scope struct {
	parent  *scope
	written map[string]bool
	vars    map[string]*variable
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, written: map[string]bool{}, vars: map[string]*variable{}}
}

// note enters the names that occur in n outside negation.
func (s *scope) note(n ast.Node) {
	inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not:
			return false
		case *ast.Var:
			s.written[n.Name] = true
		}
		return true
	})
}

// owner returns the scope to which a name belongs.
func (s *scope) owner(name string) *scope {
	owner := s
	for at := s; at != nil; at = at.parent {
		if at.written[name] {
			owner = at
		}
	}
	return owner
}

// conj is a conjunction under construction.
type conj struct {
	scope    *scope
	literals []literal
}

func (k *conj) add(l literal) { k.literals = append(k.literals, l) }

// lowering turns one alternative of a clause into a unit.
type lowering struct {
	c  *checker
	cl *clause
	u  *unit
}

// lower brings a clause into normal form.
func (c *checker) lower(cl *clause) {
	if cl.bad {
		c.poisonHeads(cl)
		return
	}
	switch cl.kind {
	case ruleClause:
		c.lowerRule(cl)
	case constraintClause:
		c.lowerConstraint(cl)
	}
	if cl.bad {
		c.poisonHeads(cl)
		cl.units = nil
	}
}

// poisonHeads silences what follows from a broken clause: its heads may lack
// types and tuples.
func (c *checker) poisonHeads(cl *clause) {
	if cl.kind != ruleClause {
		return
	}
	for _, h := range cl.heads {
		if a, _ := headAtom(h); a != nil {
			if p := c.predOf(a, true); p != nil {
				p.poisoned = true
			}
		}
	}
}

// predOf returns the predicate that an application names, nil for built-ins.
func (c *checker) predOf(a *ast.Apply, head bool) *pred {
	name := a.Name.Text
	if name == "_" && head {
		arity, keys := shapeOf(a)
		if keys < 0 {
			keys = arity
		}
		for _, q := range c.queries {
			if q.arity == arity && q.keys == keys {
				return q
			}
		}
	}
	return c.preds[name]
}

func (c *checker) lowerRule(cl *clause) {
	node := cl.node
	body := cl.body
	if node.Update != "" {
		c.lowerUpdate(cl)
		return
	}
	if node.P2P != nil {
		if d := disjunction(body); d != nil {
			c.disjunctionUnderP2P(cl, d)
			cl.bad = true
			return
		}
	}
	alts, ok := c.alternatives(body)
	if !ok {
		cl.bad = true
		return
	}
	report := &unbound{clause: cl}
	for _, items := range alts {
		lo := &lowering{c: c, cl: cl, u: &unit{clause: cl, names: map[string]int{}}}
		k := &conj{scope: newScope(nil)}
		for _, h := range cl.heads {
			k.scope.note(h)
		}
		for _, n := range items {
			k.scope.note(n)
		}
		if node.P2P != nil {
			for _, s := range node.P2P.Specs {
				k.scope.note(s.In)
			}
		}
		for _, n := range items {
			lo.formula(n, k)
		}
		if node.P2P != nil {
			lo.p2p(k)
		} else {
			for _, h := range cl.heads {
				lo.head(h, k)
			}
		}
		if cl.bad {
			return
		}
		lo.u.body = lo.order(k, report)
		lo.checkHeads(report)
		cl.units = append(cl.units, lo.u)
	}
	c.reportUnbound(report, len(alts))
}

// checkHeads finds the head variables that the body does not bind.
func (lo *lowering) checkHeads(report *unbound) {
	for _, h := range lo.u.heads {
		for _, a := range h.args {
			eachVar(a, func(r ref) {
				if !r.v.bound && !r.v.out {
					report.add(r.v)
				}
			})
		}
	}
	for _, a := range lo.u.agg {
		if a.in != nil && !a.in.bound {
			report.add(a.in)
		}
	}
	for _, a := range lo.u.asserts {
		if !a.v.bound && !a.v.out {
			report.add(a.v)
		}
	}
}

// head lowers one head atom; its nested expressions go to the body.
func (lo *lowering) head(h ast.Node, k *conj) {
	a, value := headAtom(h)
	if a == nil {
		lo.badHead(h)
		return
	}
	if lo.c.reservedHead(a) {
		lo.cl.bad = true
		return
	}
	if a.Square && value == nil {
		d := lo.c.errorf(diag.BadHead, h.Pos(), "%s is a value, not an atom", h.Pos().Text())
		help(d, "write what the value is: %s = v", h.Pos().Text())
		lo.cl.bad = true
		return
	}
	p := lo.c.predOf(a, true)
	if p == nil || !lo.c.fits(a, p) {
		lo.cl.bad = true
		return
	}
	args := a.Args
	if value != nil {
		args = append(args[:len(args):len(args)], value)
	}
	at := &atom{span: h.Pos(), pred: p}
	for _, arg := range args {
		if w, ok := unparen(arg).(*ast.Wildcard); ok {
			d := lo.c.errorf(diag.WildcardInHead, w.Span, "a head can not contain _")
			note(d, "the rule must say which value to derive")
			help(d, "name a variable that the body binds, or leave the argument out of %s", p.name)
			lo.cl.bad = true
			continue
		}
		t := lo.term(arg, k)
		if t == nil {
			lo.cl.bad = true
			continue
		}
		at.args = append(at.args, t)
	}
	lo.u.heads = append(lo.u.heads, at)
	if p.firstHead == nil {
		p.firstHead = at
	}
	if !p.ruleSpan.IsValid() && (lo.cl.body != nil || len(k.literals) > 0) {
		p.ruleSpan = h.Pos()
	}
}

func (lo *lowering) badHead(h ast.Node) {
	lo.cl.bad = true
	d := lo.c.errorf(diag.BadHead, h.Pos(), "a head is an atom p(x, y) or f[x] = y")
	switch h := unparen(h).(type) {
	case *ast.Disj:
		d.Message = "a head can not contain a disjunction"
		help(d, "a rule derives all of its head; say which alternative holds in the body")
	case *ast.Not:
		d.Message = "a head can not be negated"
		help(d, "to forbid something write a constraint: !(...).")
	case *ast.Compare:
		d.Message = "a head can not be a comparison"
		help(d, "move %s to the body, after <-", h.Span.Text())
	case *ast.Var:
		help(d, "%s alone is a variable; a predicate without arguments is written %s()", h.Name, h.Name)
	}
}

// reservedHead reports a head that names a built-in or a type.
func (c *checker) reservedHead(a *ast.Apply) bool {
	name := a.Name.Text
	switch {
	case scalar.IsBuiltin(name):
		d := c.errorf(diag.BuiltinDefined, a.Name.Span, "%s is a built-in function and can not be defined", name)
		help(d, "choose another name for the predicate")
	case isTypeName(name):
		d := c.errorf(diag.BuiltinDefined, a.Name.Span, "%s is a type and can not be defined", name)
		help(d, "choose another name for the predicate")
	default:
		return false
	}
	return true
}

// fits checks an application against its predicate's arity and keys.
func (c *checker) fits(a *ast.Apply, p *pred) bool {
	arity, keys := shapeOf(a)
	switch {
	case arity != p.arity:
		if p.poisoned && p.shapeRole == unseen {
			return false
		}
		d := c.errorf(diag.WrongArity, a.Span, "%s has %s, not %s", p.name, counted(p.arity, p.keys), counted(arity, keys))
		where := "used with " + plural(p.arity, "argument") + " here"
		if p.decl != nil {
			where = "declared here"
		}
		label(d, p.shapeSpan, "%s", where)
		help(d, "write %s", p.shape())
		return false
	case keys >= 0 && keys != p.keys:
		if p.functional() {
			d := c.errorf(diag.NotFunctional, a.Span, "%s has %s, not %d", p.name, plural(p.keys, "key"), keys)
			label(d, p.keysSpan, "its keys are seen here")
			help(d, "write %s", p.shape())
			return false
		}
		d := c.errorf(diag.NotFunctional, a.Span, "%s is a relation and has no value", p.name)
		where := "it is used as a relation here"
		if p.decl != nil {
			where = "it is declared here"
		}
		label(d, p.shapeSpan, "%s", where)
		help(d, "write %s, or declare it as a function: %s", p.shape(), written(p.name, argNames(p), p.arity-1))
		return false
	}
	return true
}

func argNames(p *pred) []string {
	if len(p.argNames) == p.arity {
		return p.argNames
	}
	names := make([]string, p.arity)
	for i := range names {
		names[i] = argName(i)
	}
	return names
}

func counted(arity, keys int) string {
	if keys >= 0 && keys == arity-1 {
		return plural(keys, "key") + " and a value"
	}
	return plural(arity, "argument")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// formula lowers one item of a conjunction.
func (lo *lowering) formula(n ast.Node, k *conj) {
	switch n := n.(type) {
	case *ast.Paren:
		lo.notFormula(n.X)
	case *ast.Apply:
		lo.atomFormula(n, k)
	case *ast.Compare:
		lo.comparison(n, k)
	case *ast.Not:
		lo.negated(n.X, n.Span, k)
	default:
		lo.notFormula(n)
	}
}

func (lo *lowering) notFormula(n ast.Node) {
	lo.cl.bad = true
	text := n.Pos().Text()
	switch n := unparen(n).(type) {
	case *ast.Var:
		d := lo.c.errorf(diag.NotAFormula, n.Span, "%s is a variable, not a formula", n.Name)
		help(d, "compare it, for example %s = true, or write the predicate %s()", n.Name, n.Name)
	case *ast.Literal:
		d := lo.c.errorf(diag.NotAFormula, n.Span, "%s is a value, not a formula", text)
		if n.Value.Type.Kind == scalar.Boolean {
			help(d, "true and false are values; leave out a condition that always holds, and the rule if it never does")
		} else {
			help(d, "compare it with something, for example x = %s", text)
		}
	case *ast.Wildcard:
		lo.c.errorf(diag.NotAFormula, n.Span, "_ is not a formula")
	default:
		d := lo.c.errorf(diag.NotAFormula, n.Pos(), "%s is a value, not a formula", text)
		help(d, "compare it with something, for example x = %s", text)
	}
}

// atomFormula lowers p(x, y), a type atom, or a built-in used as a relation.
func (lo *lowering) atomFormula(a *ast.Apply, k *conj) {
	name := a.Name.Text
	if a.Square {
		lo.cl.bad = true
		d := lo.c.errorf(diag.NotAFormula, a.Span, "%s is a value, not a formula", a.Span.Text())
		if f := scalar.Lookup(name); f != nil && scalar.IsBuiltin(name) {
			help(d, "write %s(%s) for a condition", name, argText(a.Args))
		} else {
			help(d, "write %s = _ to ask whether it has a value", a.Span.Text())
		}
		return
	}
	if isTypeName(name) && lo.c.preds[name] == nil {
		lo.typeAtom(a, k)
		return
	}
	if scalar.IsBuiltin(name) {
		lo.builtinAtom(a, k)
		return
	}
	if name == "_" {
		lo.queryInBody(a)
		return
	}
	p := lo.c.preds[name]
	if p == nil || !lo.c.fits(a, p) {
		lo.cl.bad = true
		return
	}
	at := &atom{span: a.Span, pred: p}
	for _, arg := range a.Args {
		t := lo.term(arg, k)
		if t == nil {
			return
		}
		at.args = append(at.args, t)
	}
	k.add(at)
}

func argText(args []ast.Node) string {
	var out []string
	for _, a := range args {
		out = append(out, a.Pos().Text())
	}
	return strings.Join(out, ", ")
}

func (lo *lowering) queryInBody(a *ast.Apply) {
	lo.cl.bad = true
	d := lo.c.errorf(diag.QueryInBody, a.Name.Span, "the answer predicate _ can not be used in a body")
	help(d, "derive a predicate with a name first and use it in both places")
}

// typeAtom lowers int(x): it says x's type and binds nothing.
func (lo *lowering) typeAtom(a *ast.Apply, k *conj) {
	if len(a.Args) != 1 {
		lo.cl.bad = true
		d := lo.c.errorf(diag.WrongArity, a.Span, "the type %s has 1 argument, not %d", a.Name.Text, len(a.Args))
		help(d, "write %s(x)", a.Name.Text)
		return
	}
	t, ok := lo.c.typeNamed(a)
	if !ok {
		lo.cl.bad = true
		return
	}
	v, ok := unparen(a.Args[0]).(*ast.Var)
	if !ok {
		lo.cl.bad = true
		d := lo.c.errorf(diag.NotAFormula, a.Span, "a type atom speaks of a variable")
		help(d, "bind the value to a variable first: x = %s, %s(x)", a.Args[0].Pos().Text(), a.Name.Text)
		return
	}
	lo.u.asserts = append(lo.u.asserts, assertion{span: a.Span, v: lo.variable(v, k.scope), typ: t})
}

// builtinAtom lowers string:like(s, p) and int:add(x, 1, y).
func (lo *lowering) builtinAtom(a *ast.Apply, k *conj) {
	name := a.Name.Text
	f := lo.function(a)
	if f == nil {
		return
	}
	switch len(a.Args) {
	case f.Arity():
		args, ok := lo.exprs(a.Args, k)
		if ok {
			k.add(&test{span: a.Span, e: &call{span: a.Span, name: name, args: args}})
		}
	case f.Arity() + 1:
		n := f.Arity()
		args, ok := lo.exprs(a.Args[:n], k)
		if !ok {
			return
		}
		result := lo.operand(a.Args[n], k)
		if result != nil {
			k.add(&equation{span: a.Span, x: result, y: &call{span: a.Span, name: name, args: args}})
		}
	default:
		lo.cl.bad = true
		d := lo.c.errorf(diag.WrongArity, a.Span, "%s takes %s, or one more for its result, not %d", name, plural(f.Arity(), "argument"), len(a.Args))
		lo.forms(d, f, name)
	}
}

func (lo *lowering) forms(d *diag.Diagnostic, f *scalar.Func, name string) {
	for i, form := range f.Forms {
		if i == 3 {
			break
		}
		help(d, "write %s[%s]", name, form)
	}
}

// function returns the built-in that an application names.
func (lo *lowering) function(a *ast.Apply) *scalar.Func {
	name := a.Name.Text
	f := scalar.Lookup(name)
	if f == nil {
		lo.cl.bad = true
		_, err := scalar.Resolve(name, nil)
		why := ""
		if err != nil {
			_, why, _ = strings.Cut(err.Error(), "not supported yet: ")
		}
		lo.c.refuse(a.Name.Span, name, why)
	}
	return f
}

// comparison lowers a chain a < b <= c. Each operand is lowered once.
func (lo *lowering) comparison(n *ast.Compare, k *conj) {
	if len(n.Ops) == 1 && n.Ops[0] == "=" {
		lo.equality(n, k)
		return
	}
	operands := make([]expr, len(n.Operands))
	for i, x := range n.Operands {
		operands[i] = lo.operand(x, k)
		if operands[i] == nil {
			return
		}
	}
	for i, op := range n.Ops {
		span := n.Operands[i].Pos().To(n.Operands[i+1].Pos())
		if op == "=" {
			k.add(&equation{span: span, x: operands[i], y: operands[i+1]})
			continue
		}
		k.add(&test{span: span, e: &call{span: span, name: operatorNames[op], args: []expr{operands[i], operands[i+1]}}})
	}
}

var operatorNames = map[string]string{
	"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
	"+": "add", "-": "sub", "*": "mul", "/": "div",
}

// equality lowers x = y. A functional application on one side is the atom
// f(k, x); otherwise the equality may bind a variable.
func (lo *lowering) equality(n *ast.Compare, k *conj) {
	x, y := unparen(n.Operands[0]), unparen(n.Operands[1])
	if !isFunctionAtom(x) {
		x, y = y, x
	}
	if !isFunctionAtom(x) {
		y, x := lo.operand(n.Operands[0], k), lo.operand(n.Operands[1], k)
		if x != nil && y != nil {
			k.add(&equation{span: n.Span, x: y, y: x})
		}
		return
	}
	f := x.(*ast.Apply)
	switch v := y.(type) {
	case *ast.Var, *ast.Wildcard, *ast.Literal:
		lo.application(f, v, ref{}, n.Span, k)
	case *ast.Apply:
		if !isFunctionAtom(v) {
			lo.equated(f, v, n.Span, k)
			return
		}
		shared := lo.fresh(f.Span, k.scope)
		if lo.application(f, nil, shared, f.Span, k) {
			lo.application(v, nil, ref{shared.v, v.Span}, v.Span, k)
		}
	default:
		lo.equated(f, y, n.Span, k)
	}
}

// equated lowers f[k] = e for an expression e: the values are compared, so that
// numbers of different types can be equal.
func (lo *lowering) equated(f *ast.Apply, e ast.Node, span source.Span, k *conj) {
	v := lo.fresh(f.Span, k.scope)
	if !lo.application(f, nil, v, f.Span, k) {
		return
	}
	if y := lo.operand(e, k); y != nil {
		k.add(&equation{span: span, x: v, y: y})
	}
}

// isFunctionAtom reports whether n is f[k] of a predicate.
func isFunctionAtom(n ast.Node) bool {
	a, ok := n.(*ast.Apply)
	return ok && a.Square && !scalar.IsBuiltin(a.Name.Text)
}

// application adds the atom f(k..., v), where v is the value as written or, if
// that is nil, the given variable.
func (lo *lowering) application(a *ast.Apply, value ast.Node, v ref, span source.Span, k *conj) bool {
	if a.Name.Text == "_" {
		lo.queryInBody(a)
		return false
	}
	p := lo.c.preds[a.Name.Text]
	if p == nil || !lo.c.fits(a, p) {
		lo.cl.bad = true
		return false
	}
	at := &atom{span: span, pred: p}
	for _, arg := range a.Args {
		t := lo.term(arg, k)
		if t == nil {
			return false
		}
		at.args = append(at.args, t)
	}
	if value == nil {
		at.args = append(at.args, v)
	} else if t := lo.term(value, k); t != nil {
		at.args = append(at.args, t)
	} else {
		return false
	}
	k.add(at)
	return true
}

// negated lowers !F.
func (lo *lowering) negated(n ast.Node, span source.Span, k *conj) {
	alts, ok := lo.c.alternatives(n)
	if !ok {
		lo.cl.bad = true
		return
	}
	for _, items := range alts {
		inner := &conj{scope: newScope(k.scope)}
		for _, item := range items {
			inner.scope.note(item)
		}
		for _, item := range items {
			lo.formula(item, inner)
		}
		k.add(&negation{span: span, scope: inner.scope, body: inner.literals})
	}
}

// term lowers an argument: a variable or constant stays, an expression is bound
// to a made-up variable. nil means that an error was reported.
func (lo *lowering) term(n ast.Node, k *conj) term {
	switch e := lo.operand(n, k).(type) {
	case nil:
		return nil
	case *call:
		v := lo.fresh(e.span, k.scope)
		k.add(&equation{span: e.span, x: v, y: e})
		return v
	default:
		return e
	}
}

func (lo *lowering) exprs(nodes []ast.Node, k *conj) ([]expr, bool) {
	out := make([]expr, 0, len(nodes))
	for _, n := range nodes {
		e := lo.operand(n, k)
		if e == nil {
			return nil, false
		}
		out = append(out, e)
	}
	return out, true
}

// operand lowers an expression. Applications of predicates become atoms. nil
// means that an error was reported.
func (lo *lowering) operand(n ast.Node, k *conj) expr {
	switch n := unparen(n).(type) {
	case *ast.Var:
		return ref{lo.variable(n, k.scope), n.Span}
	case *ast.Wildcard:
		return lo.wildcard(n.Span, k.scope)
	case *ast.Literal:
		return &constant{n.Value, n.Span}
	case *ast.Unary:
		x := lo.operand(n.X, k)
		if x == nil {
			return nil
		}
		if lit, ok := x.(*constant); ok {
			if v, ok := negate(lit.value); ok {
				return &constant{v, n.Span}
			}
		}
		return &call{span: n.Span, name: "neg", args: []expr{x}}
	case *ast.Binary:
		args, ok := lo.exprs([]ast.Node{n.X, n.Y}, k)
		if !ok {
			return nil
		}
		return &call{span: n.Span, name: operatorNames[n.Op], args: args}
	case *ast.Apply:
		return lo.applied(n, k)
	case *ast.PredRef:
		lo.notExpression(n, "a predicate can not be a value", "quoted predicates stand in lang: directives only")
	case nil:
		lo.cl.bad = true
	default:
		lo.notExpression(n, "a formula can not be a value", "make it a condition of the body; one rule for each case can give different values")
	}
	return nil
}

// applied lowers f[x] as an expression.
func (lo *lowering) applied(n *ast.Apply, k *conj) expr {
	name := n.Name.Text
	if scalar.IsBuiltin(name) {
		f := lo.function(n)
		if f == nil {
			return nil
		}
		if !n.Square {
			lo.roundValue(n)
			return nil
		}
		if len(n.Args) != f.Arity() {
			lo.cl.bad = true
			d := lo.c.errorf(diag.WrongArity, n.Span, "%s takes %s, not %d", name, plural(f.Arity(), "argument"), len(n.Args))
			lo.forms(d, f, name)
			return nil
		}
		args, ok := lo.exprs(n.Args, k)
		if !ok {
			return nil
		}
		return &call{span: n.Span, name: name, args: args}
	}
	if !n.Square {
		lo.roundValue(n)
		return nil
	}
	v := lo.fresh(n.Span, k.scope)
	if !lo.application(n, nil, v, n.Span, k) {
		return nil
	}
	return v
}

func (lo *lowering) roundValue(n *ast.Apply) {
	lo.cl.bad = true
	d := lo.c.errorf(diag.NotAnExpression, n.Span, "%s is a formula, not a value", n.Span.Text())
	help(d, "a value is written with brackets: %s[%s]", n.Name.Text, argText(n.Args))
}

func (lo *lowering) notExpression(n ast.Node, message, advice string) {
	lo.cl.bad = true
	d := lo.c.errorf(diag.NotAnExpression, n.Pos(), "%s", message)
	help(d, "%s", advice)
}

// negate returns -v of a literal's value where it has the same type.
func negate(v scalar.Value) (scalar.Value, bool) {
	switch v.Type.Kind {
	case scalar.Int:
		return scalar.OfInt(v.Type, -v.Int()), true
	case scalar.Float:
		return scalar.OfFloat(v.Type, -v.Float()), true
	case scalar.Decimal:
		if v.Fits() {
			return scalar.OfDecimal(v.Type.Scale, -v.Int()), true
		}
	case scalar.Uint:
		// Only 2^63, as the literal -9223372036854775808, is in range.
		if v.Bits() == 1<<63 {
			return scalar.OfInt(scalar.IntType, -1<<63), true
		}
	}
	return v, false
}

// variable returns the variable that a name means in a scope.
func (lo *lowering) variable(n *ast.Var, s *scope) *variable {
	s = s.owner(n.Name)
	v := s.vars[n.Name]
	if v == nil {
		v = lo.newVariable(n.Name, n.Span, s)
		s.vars[n.Name] = v
	}
	return v
}

func (lo *lowering) newVariable(name string, span source.Span, s *scope) *variable {
	u, base := lo.u, name
	u.names[name]++
	if n := u.names[name]; n > 1 {
		name = fmt.Sprintf("%s$%d", name, n)
	}
	v := &variable{name: name, base: base, span: span, scope: s}
	v.node = lo.c.types.variable(v)
	u.vars = append(u.vars, v)
	return v
}

// fresh makes up a variable for a nested expression.
func (lo *lowering) fresh(span source.Span, s *scope) ref {
	lo.u.made++
	v := lo.newVariable(fmt.Sprintf("$%d", lo.u.made), span, s)
	v.made = true
	return ref{v, span}
}

// wildcard makes up a variable for `_`.
func (lo *lowering) wildcard(span source.Span, s *scope) ref {
	lo.u.made++
	v := lo.newVariable(fmt.Sprintf("_$%d", lo.u.made), span, s)
	v.made = true
	return ref{v, span}
}
