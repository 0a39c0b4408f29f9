package emit

import (
	"errors"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// expr emits an expression of the wanted type, folded. It returns false if the
// expression certainly has no value.
func (e *emitter) expr(x normal.Expr, want scalar.Type) (core.Expr, bool) {
	switch x := x.(type) {
	case *normal.Const:
		if v, ok := normal.LiteralAs(x.Value, want); ok {
			return core.Const{Value: v}, true
		}
		return e.widen(core.Const{Value: x.Value}, want, x.Span)
	case normal.Ref:
		if k := e.consts[x.Var.Index]; k != nil {
			if v, ok := constantAs(k, x, want); ok {
				return core.Const{Value: v}, true
			}
			return e.widen(*k, want, x.Span)
		}
		return e.widen(core.VarExpr{Var: e.variable(x.Var)}, want, x.Span)
	}
	k := x.(*normal.Call)
	if k.Name == "eq" {
		if a, ok := k.Args[0].(normal.Ref); ok {
			if b, ok := k.Args[1].(normal.Ref); ok && a.Var == b.Var {
				return core.Const{Value: scalar.OfBool(true)}, true
			}
		}
	}
	args := make([]core.Expr, len(k.Args))
	marks := make([]int, len(k.Args)+1) // the failures before each argument
	values := make([]*scalar.Value, len(k.Args))
	constant := true
	for i, a := range k.Args {
		marks[i] = len(e.failures)
		arg, ok := e.expr(a, e.c.types.Represented(k.Sig.Params[i]))
		if !ok && k.Name == "holds" {
			for j := range e.failures[marks[i]:] {
				e.failures[marks[i]+j].item = k.Item
			}
			return core.Const{Value: scalar.OfBool(false)}, true
		}
		if !ok {
			return nil, false
		}
		args[i] = arg
		if v, ok := arg.(core.Const); ok {
			values[i] = &v.Value
		} else {
			constant = false
		}
	}
	f := k.Sig.Func
	marks[len(k.Args)] = len(e.failures)
	switch {
	case f.Name == "holds" && !core.MayFail(args[0]):
		return args[0], true
	case f.Name == "or" || f.Name == "and":
		// A constant decides, or drops out.
		for i, v := range values {
			if v != nil && v.Bool() == (f.Name == "or") {
				if f.Name == "and" && marks[i] == marks[i+1] {
					// A guard: x != 0, 1 / x > y.
					e.failures = e.failures[:marks[0]]
				}
				return args[i], true
			} else if v != nil {
				return args[1-i], true
			}
		}
	}
	if f.Name == "eq" && args[0].Type() == scalar.BooleanType {
		// x = true is x.
		for i, v := range values {
			if v != nil && v.Bool() {
				return args[1-i], true
			}
		}
	}
	if err := f.Check(values); err != nil {
		e.certainFailure(k, err)
		return nil, false
	}
	if constant && !f.Volatile {
		flat := make([]scalar.Value, len(values))
		for i, v := range values {
			flat[i] = *v
		}
		v, ok := f.Eval(k.Sig.Result, flat)
		if !ok || !v.Fits() {
			e.noValue(k)
			return nil, false
		}
		return e.widen(core.Const{Value: v}, want, k.Span)
	}
	return e.widen(&core.Call{Span: k.Span, Func: f, Args: args, Result: k.Sig.Result}, want,
		k.Span)
}

// oneInteger reports whether all calls of an expression compute with one type
// of integers.
func oneInteger(x normal.Expr) bool {
	var t scalar.Type
	var same func(x normal.Expr) bool
	same = func(x normal.Expr) bool {
		k, ok := x.(*normal.Call)
		if !ok {
			return true
		}
		for i, p := range k.Sig.Params {
			if t.Kind == scalar.Invalid {
				t = p
			}
			if p != t || !same(k.Args[i]) {
				return false
			}
		}
		return normal.IsInteger(t)
	}
	return same(x)
}

// constantAs converts the constant that a variable equals to another type. A
// literal is converted from its text, because the type of the variable may be
// wider than want.
func constantAs(k *core.Const, r normal.Ref, want scalar.Type) (scalar.Value, bool) {
	if lit := normal.BoundLiteral(r); lit != nil {
		if v, ok := normal.LiteralAs(lit.Value, want); ok {
			return v, true
		}
	}
	return normal.LiteralAs(k.Value, want)
}

// widen converts an expression to a type that it widens to.
func (e *emitter) widen(x core.Expr, want scalar.Type, span source.Span) (core.Expr, bool) {
	if x.Type() == want {
		return x, true
	}
	if k, ok := x.(core.Const); ok {
		if v, ok := normal.LiteralAs(k.Value, want); ok {
			return core.Const{Value: v}, true
		}
	}
	return convert(x, want, span), true
}

func convert(x core.Expr, to scalar.Type, span source.Span) core.Expr {
	return &core.Call{Span: span, Func: scalar.Lookup("convert"), Args: []core.Expr{x}, Result: to}
}

// failed records that an expression certainly has no value.
func (e *emitter) failed(code *diag.Code, span source.Span, message string) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Error, Code: code, Span: span, Message: message}
	e.failures = append(e.failures, failure{d: d})
	return d
}

// certainFailure records a call without a value, because of its constant
// arguments.
func (e *emitter) certainFailure(k *normal.Call, err error) {
	if name := k.Sig.Func.Name; name == "div" || name == "mod" {
		d := e.failed(diag.DivisionByZero, k.Span, "division by zero")
		d.Label(k.Args[1].Pos(), "this is zero")
		d.Note("the expression never has a value, so the rule could never fire")
		return
	}
	var at *scalar.ArgumentError
	if !errors.As(err, &at) {
		e.failed(diag.BadConstant, k.Span, err.Error())
		return
	}
	d := e.failed(diag.BadConstant, k.Args[at.Arg].Pos(), at.Message)
	if at.Help != "" {
		d.Help("%s", at.Help)
	}
}

// noValue records a constant expression without value.
func (e *emitter) noValue(k *normal.Call) {
	d := e.failed(diag.NoValue, k.Span, k.Span.Text()+" has no value")
	d.Note("its arguments are constants, so this can never hold")
}

// inverse has the comparison that holds exactly where the other does not.
var inverse = map[string]string{"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le",
	"le": "gt"}

// not negates a boolean expression: true where it is false or has no value.
func not(x core.Expr, span source.Span) core.Expr {
	k, ok := x.(*core.Call)
	if ok && !core.MayFail(x) {
		if other, ok := inverse[k.Func.Name]; ok {
			return &core.Call{Span: span, Func: scalar.Lookup(other), Args: k.Args,
				Result: scalar.BooleanType}
		}
	}
	if core.MayFail(x) {
		x = &core.Call{Span: span, Func: scalar.Lookup("holds"), Args: []core.Expr{x},
			Result: scalar.BooleanType}
	}
	return &core.Call{Span: span, Func: scalar.Lookup("not"), Args: []core.Expr{x},
		Result: scalar.BooleanType}
}

// dropUnused removes the bindings that have a value and that nothing uses. A
// clause with several heads has such bindings, because each rule gets all of
// them.
func dropUnused(r *core.Rule) {
	if len(r.Agg) > 0 || r.Seq != nil {
		return
	}
	used := map[*core.Var]bool{}
	for _, t := range r.Head.Args {
		if v, ok := t.(*core.Var); ok {
			used[v] = true
		}
	}
	var mark func(body []core.Literal)
	mark = func(body []core.Literal) {
		for i := len(body) - 1; i >= 0; i-- {
			switch l := body[i].(type) {
			case *core.Atom:
				for _, t := range l.Args {
					if v, ok := t.(*core.Var); ok {
						used[v] = true
					}
				}
			case *core.Let:
				if used[l.Var] || core.MayFail(l.Expr) {
					for _, v := range core.ExprVars(l.Expr) {
						used[v] = true
					}
				}
			case *core.Test:
				for _, v := range core.ExprVars(l.Expr) {
					used[v] = true
				}
			case *core.Not:
				mark(l.Body)
			}
		}
	}
	mark(r.Body)
	kept := r.Body[:0]
	for _, l := range r.Body {
		if let, ok := l.(*core.Let); ok && !used[let.Var] && !core.MayFail(let.Expr) {
			continue
		}
		kept = append(kept, l)
	}
	r.Body = kept
}
