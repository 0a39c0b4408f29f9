package sema

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// formula lowers one item of a conjunction.
func (lo *lowering) formula(n ast.Node, k *conj) {
	switch n := n.(type) {
	case *ast.Paren:
		lo.notFormula(n.X)
	case *ast.Apply:
		lo.atomFormula(n, k)
	case *ast.Compare:
		lo.comparison(n, k)
	case *ast.In:
		lo.in(n, k)
	case *ast.Not:
		lo.negated(n.X, n.Span, k)
	case *ast.Disj:
		if e := lo.condition(n, source.Span{}, k); e != nil {
			k.add(&normal.Test{Span: n.Span, Expr: e})
		}
	default:
		lo.notFormula(n)
	}
}

// condition lowers a formula of comparisons, which isTest has admitted, to one
// boolean expression. A comparison without a value is false, and the others
// still count. item is the innermost alternative around n.
func (lo *lowering) condition(n ast.Node, item source.Span, k *conj) normal.Expr {
	join := func(name string, span source.Span, parts []normal.Expr) normal.Expr {
		out := parts[0]
		for _, e := range parts[1:] {
			out = &normal.Call{Span: span, Name: name, Args: []normal.Expr{out, e}}
		}
		return out
	}
	each := func(items []ast.Node, alternatives bool) []normal.Expr {
		var parts []normal.Expr
		for _, x := range items {
			if alternatives {
				item = x.Pos()
			}
			e := lo.condition(x, item, k)
			if e == nil {
				return nil
			}
			parts = append(parts, e)
		}
		return parts
	}
	switch n := ast.Unparen(n).(type) {
	case *ast.Conj:
		if parts := each(n.Items, false); parts != nil {
			return join("and", n.Span, parts)
		}
	case *ast.Disj:
		if parts := each(n.Items, true); parts != nil {
			return join("or", n.Span, parts)
		}
	case *ast.In:
		if of := lo.setOf(n, k); of != nil {
			return lo.tested(of, item)
		}
	case *ast.Compare:
		operands, ok := lo.exprs(n.Operands, k)
		if !ok {
			return nil
		}
		var parts []normal.Expr
		for i, op := range n.Ops {
			span := n.Operands[i].Pos().To(n.Operands[i+1].Pos())
			compared := &normal.Call{Span: span, Name: operatorNames[op],
				Args: []normal.Expr{operands[i], operands[i+1]}}
			parts = append(parts,
				&normal.Call{Span: span, Name: "holds", Args: []normal.Expr{compared},
					Item: item})
		}
		return join("and", n.Span, parts)
	}
	return nil
}

func (lo *lowering) notFormula(n ast.Node) {
	lo.cl.Broken = true
	text := n.Pos().Text()
	if text == "_" {
		lo.c.Errorf(diag.NotAFormula, n.Pos(), "_ is not a formula")
		return
	}
	switch n := ast.Unparen(n).(type) {
	case *ast.Var:
		if desugar.IsVariable(n.Name) {
			lo.valueAsFormula(n.Span)
			return
		}
		d := lo.c.Errorf(diag.NotAFormula, n.Span, "%s is a variable, not a formula", n.Name)
		d.Help("compare it, for example %s = true, or write the predicate %s()", n.Name, n.Name)
	case *ast.Literal:
		if text == "false" && lo.denial(n) {
			return
		}
		d := lo.c.Errorf(diag.NotAFormula, n.Span, "%s is a value, not a formula", text)
		if n.Value.Type.Kind == scalar.Boolean {
			d.Help("true and false are values; leave out a condition that always holds, and the rule if " +
				"it never does")
		} else {
			d.Help("compare it with something, for example x = %s", text)
		}
	default:
		lo.valueAsFormula(n.Pos())
	}
}

func (lo *lowering) valueAsFormula(at source.Span) {
	d := lo.c.Errorf(diag.NotAFormula, at, "%s is a value, not a formula", at.Text())
	d.Help("compare it with something, for example x = %s", at.Text())
}

// atomFormula lowers p(x, y), a type atom, or a built-in used as a relation.
func (lo *lowering) atomFormula(a *ast.Apply, k *conj) {
	name := a.Name.Text
	if a.Square {
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.NotAFormula, a.Span, "%s is a value, not a formula", a.Span.Text())
		if f := scalar.Lookup(name); f != nil && scalar.IsBuiltin(name) {
			d.Help("write %s(%s) for a condition", name, argText(a.Args))
			d.Replace(a.Span, fmt.Sprintf("%s(%s)", name, argText(a.Args)))
		} else {
			d.Help("write %s = _ to ask whether it has a value", a.Span.Text())
			d.Replace(a.Span, a.Span.Text()+" = _")
		}
		return
	}
	if isTypeName(name) && lo.c.preds[name] == nil {
		lo.typeAtom(a, k)
		return
	}
	if scalar.IsRange(name) {
		lo.rangeAtom(a, k)
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
		lo.cl.Broken = true
		return
	}
	at := &normal.Atom{Span: a.Span, Pred: &p.Pred}
	for _, arg := range arguments(a) {
		t := lo.term(arg, k)
		if t == nil {
			return
		}
		at.Args = append(at.Args, t)
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
	lo.cl.Broken = true
	d := lo.c.Errorf(diag.QueryInBody, a.Name.Span,
		"the answer predicate _ cannot be used in a body")
	d.Help("derive a predicate with a name first and use it in both places")
}

// typeAtom lowers int(x), which gives x a type and binds nothing.
func (lo *lowering) typeAtom(a *ast.Apply, k *conj) {
	if len(a.Args) != 1 {
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.WrongArity, a.Span, "the type %s has 1 argument, not %d", a.Name.Text,
			len(a.Args))
		d.Help("write %s(x)", a.Name.Text)
		return
	}
	t, ok := lo.c.typeNamed(a)
	if !ok {
		lo.cl.Broken = true
		return
	}
	v, ok := ast.Unparen(a.Args[0]).(*ast.Var)
	if !ok {
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.NotAFormula, a.Span, "a type atom speaks of a variable")
		d.Help("bind the value to a variable first: x = %s, %s(x)", a.Args[0].Pos().Text(),
			a.Name.Text)
		return
	}
	x := lo.variable(v, k.scope)
	lo.u.Asserts = append(lo.u.Asserts, normal.Assertion{Span: a.Span, Var: x, Type: t,
		Inside: x.Scope != k.scope})
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
			k.add(&normal.Test{Span: a.Span,
				Expr: &normal.Call{Span: a.Span, Name: name, Args: args}})
		}
	case f.Arity() + 1:
		n := f.Arity()
		args, ok := lo.exprs(a.Args[:n], k)
		if !ok {
			return
		}
		result := lo.operand(a.Args[n], k)
		if result != nil {
			k.add(&normal.Equation{Span: a.Span, X: result,
				Y: &normal.Call{Span: a.Span, Name: name,
					Args: args}})
		}
	default:
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.WrongArity, a.Span, "%s takes %s, or one more for its result, not %d",
			name,
			plural(f.Arity(), "argument"), len(a.Args))
		lo.forms(d, f, name)
	}
}

func (lo *lowering) forms(d *diag.Diagnostic, f *scalar.Func, name string) {
	for i, form := range f.Forms {
		if i == 3 {
			break
		}
		d.Help("write %s[%s]", name, form)
	}
}

// function returns the built-in that an application names.
func (lo *lowering) function(a *ast.Apply) *scalar.Func {
	name := a.Name.Text
	f := scalar.Lookup(name)
	if f == nil {
		lo.cl.Broken = true
		if scalar.IsRange(name) {
			d := lo.c.Errorf(diag.NotAnExpression, a.Span, "int:range is a condition, not a value")
			d.Help("write int:range(lo, hi, step, x), and use x")
			return nil
		}
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
	operands := make([]normal.Expr, len(n.Operands))
	for i, x := range n.Operands {
		operands[i] = lo.operand(x, k)
		if operands[i] == nil {
			return
		}
	}
	for i, op := range n.Ops {
		span := n.Operands[i].Pos().To(n.Operands[i+1].Pos())
		if op == "=" {
			k.add(&normal.Equation{Span: span, X: operands[i], Y: operands[i+1]})
			continue
		}
		k.add(&normal.Test{Span: span, Expr: &normal.Call{Span: span, Name: operatorNames[op],
			Args: []normal.Expr{operands[i], operands[i+1]}}})
	}
}

var operatorNames = map[string]string{
	"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
	"+": "add", "-": "sub", "*": "mul", "/": "div", "^": "float:pow",
}

// equality lowers x = y. With a functional application on one side it is the
// atom f(k, x). Otherwise it may bind a variable.
func (lo *lowering) equality(n *ast.Compare, k *conj) {
	x, y := ast.Unparen(n.Operands[0]), ast.Unparen(n.Operands[1])
	if !isFunctionAtom(x) {
		x, y = y, x
	}
	if !isFunctionAtom(x) {
		y, x := lo.operand(n.Operands[0], k), lo.operand(n.Operands[1], k)
		if x != nil && y != nil {
			k.add(&normal.Equation{Span: n.Span, X: y, Y: x})
		}
		return
	}
	f := x.(*ast.Apply)
	switch v := y.(type) {
	case *ast.Var, *ast.Wildcard, *ast.Literal:
		lo.application(f, v, normal.Ref{}, n.Span, k)
	case *ast.Apply:
		if !isFunctionAtom(v) {
			lo.equated(f, v, n.Span, k)
			return
		}
		shared := lo.fresh(f.Span, k.scope)
		if lo.application(f, nil, shared, f.Span, k) {
			lo.application(v, nil, normal.Ref{Var: shared.Var, Span: v.Span}, v.Span, k)
		}
	default:
		lo.equated(f, y, n.Span, k)
	}
}

// equated lowers f[k] = e for an expression e. It compares the values, so that
// numbers of different types can be equal.
func (lo *lowering) equated(f *ast.Apply, e ast.Node, span source.Span, k *conj) {
	v := lo.fresh(f.Span, k.scope)
	if !lo.application(f, nil, v, f.Span, k) {
		return
	}
	if y := lo.operand(e, k); y != nil {
		k.add(&normal.Equation{Span: span, X: v, Y: y})
	}
}

// isFunctionAtom reports whether n is f[k] of a predicate.
func isFunctionAtom(n ast.Node) bool {
	a, ok := n.(*ast.Apply)
	return ok && a.Square && !scalar.IsBuiltin(a.Name.Text)
}

// application adds the atom f(k..., v), where v is the value as written or, if
// that is nil, the given variable.
func (lo *lowering) application(
	a *ast.Apply, value ast.Node, v normal.Ref, span source.Span, k *conj,
) bool {
	if a.Name.Text == "_" {
		lo.queryInBody(a)
		return false
	}
	p := lo.c.preds[a.Name.Text]
	if p == nil || !lo.c.fits(a, p) {
		lo.cl.Broken = true
		return false
	}
	at := &normal.Atom{Span: span, Pred: &p.Pred}
	for _, arg := range a.Args {
		t := lo.term(arg, k)
		if t == nil {
			return false
		}
		at.Args = append(at.Args, t)
	}
	if value == nil {
		at.Args = append(at.Args, v)
	} else if t := lo.term(value, k); t != nil {
		at.Args = append(at.Args, t)
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
		lo.cl.Broken = true
		return
	}
	for _, alt := range alts {
		inner := &conj{scope: normal.NewScope(k.scope)}
		for _, item := range alt.items {
			inner.scope.Note(item)
		}
		for _, item := range alt.items {
			lo.formula(item, inner)
		}
		k.add(&normal.Negation{Span: span, Of: n.Pos(), Picks: alt.picks, Scope: inner.scope,
			Body: inner.literals})
	}
}
