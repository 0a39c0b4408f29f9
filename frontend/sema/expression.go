package sema

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// term lowers an argument. A variable or constant stays, an expression is bound
// to a made-up variable. The result is nil if an error was reported.
func (lo *lowering) term(n ast.Node, k *conj) normal.Term {
	switch e := lo.operand(n, k).(type) {
	case nil:
		return nil
	case *normal.Call:
		v := lo.fresh(e.Span, k.scope)
		k.add(&normal.Equation{Span: e.Span, X: v, Y: e})
		return v
	default:
		return e
	}
}

func (lo *lowering) exprs(nodes []ast.Node, k *conj) ([]normal.Expr, bool) {
	out := make([]normal.Expr, 0, len(nodes))
	for _, n := range nodes {
		e := lo.operand(n, k)
		if e == nil {
			return nil, false
		}
		out = append(out, e)
	}
	return out, true
}

// operand lowers an expression. Applications of predicates become atoms. The
// result is nil if an error was reported.
func (lo *lowering) operand(n ast.Node, k *conj) normal.Expr {
	switch n := ast.Unparen(n).(type) {
	case *ast.Var:
		return normal.Ref{Var: lo.variable(n, k.scope), Span: n.Span}
	case *ast.Wildcard:
		return lo.wildcard(n.Span, k.scope)
	case *ast.Literal:
		return &normal.Const{Value: n.Value, Span: n.Span}
	case *ast.Unary:
		return lo.sign(n, k)
	case *ast.Binary:
		args, ok := lo.exprs([]ast.Node{n.X, n.Y}, k)
		if !ok {
			return nil
		}
		return &normal.Call{Span: n.Span, Name: operatorNames[n.Op], Args: args}
	case *ast.Apply:
		return lo.applied(n, k)
	case *ast.PredRef:
		lo.notExpression(n, "a predicate cannot be a value",
			"quoted predicates stand in lang: directives only")
	case *ast.RefMode:
		lo.notExpression(n, fmt.Sprintf("%s is no value", n.Span.Text()),
			"a colon joins an entity and its value as the only argument of a refmode, as in person:id(x:v)")
	case *ast.If:
		lo.notExpression(n, "a conditional value cannot stand here",
			"bind it to a variable in the body of a rule of its own: v = "+n.Span.Text())
	case nil:
		lo.cl.Broken = true
	default:
		lo.notExpression(n, "a formula cannot be a value",
			"make it a condition of the body; one rule for each case can give different values")
	}
	return nil
}

// sign lowers -x and +x. +x is 0 + x: a number of the type that x has.
func (lo *lowering) sign(n *ast.Unary, k *conj) normal.Expr {
	x := lo.operand(n.X, k)
	if x == nil {
		return nil
	}
	lit, isLiteral := x.(*normal.Const)
	if n.Op == "+" {
		if isLiteral && lit.Value.Type.IsNumeric() {
			return &normal.Const{Value: lit.Value, Span: n.Span}
		}
		at := source.Span{File: n.Span.File, Start: n.Span.Start, End: n.Span.Start + 1}
		zero := &normal.Const{Value: scalar.OfInt(scalar.IntType, 0), Span: at}
		return &normal.Call{Span: n.Span, Name: "add", Args: []normal.Expr{zero, x}}
	}
	if isLiteral {
		if v, ok := negate(lit.Value); ok {
			return &normal.Const{Value: v, Span: n.Span}
		}
	}
	return &normal.Call{Span: n.Span, Name: "neg", Args: []normal.Expr{x}}
}

// applied lowers f[x] as an expression.
func (lo *lowering) applied(n *ast.Apply, k *conj) normal.Expr {
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
			lo.cl.Broken = true
			d := lo.c.Errorf(diag.WrongArity, n.Span, "%s takes %s, not %d", name,
				plural(f.Arity(), "argument"), len(n.Args))
			lo.forms(d, f, name)
			return nil
		}
		args, ok := lo.exprs(n.Args, k)
		if !ok {
			return nil
		}
		return &normal.Call{Span: n.Span, Name: name, Args: args}
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

func (lo *lowering) notExpression(n ast.Node, message, advice string) {
	lo.cl.Broken = true
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
