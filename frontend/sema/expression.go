package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

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
	switch n := ast.Unparen(n).(type) {
	case *ast.Var:
		return ref{lo.variable(n, k.scope), n.Span}
	case *ast.Wildcard:
		return lo.wildcard(n.Span, k.scope)
	case *ast.Literal:
		return &constant{n.Value, n.Span}
	case *ast.Unary:
		return lo.sign(n, k)
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

// sign lowers -x and +x. +x is 0 + x: a number of the type that x has.
func (lo *lowering) sign(n *ast.Unary, k *conj) expr {
	x := lo.operand(n.X, k)
	if x == nil {
		return nil
	}
	lit, isLiteral := x.(*constant)
	if n.Op == "+" {
		if isLiteral && lit.value.Type.IsNumeric() {
			return &constant{lit.value, n.Span}
		}
		zero := &constant{scalar.OfInt(scalar.IntType, 0), source.Span{File: n.Span.File, Start: n.Span.Start, End: n.Span.Start + 1}}
		return &call{span: n.Span, name: "add", args: []expr{zero, x}}
	}
	if isLiteral {
		if v, ok := negate(lit.value); ok {
			return &constant{v, n.Span}
		}
	}
	return &call{span: n.Span, name: "neg", args: []expr{x}}
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
			d := lo.c.Errorf(diag.WrongArity, n.Span, "%s takes %s, not %d", name, plural(f.Arity(), "argument"), len(n.Args))
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
	d := lo.c.Errorf(diag.NotAnExpression, n.Span, "%s is a formula, not a value", n.Span.Text())
	d.Help("a value is written with brackets: %s[%s]", n.Name.Text, argText(n.Args))
}

func (lo *lowering) notExpression(n ast.Node, message, advice string) {
	lo.cl.bad = true
	d := lo.c.Errorf(diag.NotAnExpression, n.Pos(), "%s", message)
	d.Help("%s", advice)
}

// negate returns -v of a literal's value where it has the same type.
func negate(v scalar.Value) (scalar.Value, bool) {
	switch v.Type.Kind {
	case scalar.Int:
		return scalar.OfInt(v.Type, -v.Int()), true
	case scalar.Float:
		return scalar.OfFloat(v.Type, -v.Float()), true
	case scalar.Decimal:
		n, ok := v.Int128().Neg()
		minus := scalar.OfInt128(v.Type, n)
		return minus, ok && minus.Fits()
	case scalar.Uint:
		// Only 2^63, as the literal -9223372036854775808, is in range.
		if v.Bits() == 1<<63 {
			return scalar.OfInt(scalar.IntType, -1<<63), true
		}
	}
	return v, false
}
