package normal

import "github.com/redfoxdb/redfox/internal/scalar"

// A literal is a number before it is a value of a type. Where its value fits,
// it takes the type that its surroundings need. A variable that an equality
// binds to a literal is that literal in all its uses, so x = 5, f[y] = x means
// f[y] = 5.

// BoundLiteral returns the literal that an operand is, or that equalities bind
// it to, or nil.
func BoundLiteral(e Expr) *Const {
	for {
		switch x := e.(type) {
		case *Const:
			return x
		case Ref:
			e = x.Var.Means
		default:
			return nil
		}
	}
}

// LiteralOf returns the value of an expression of numeric literals. It is nil
// for other expressions, and for those without a value.
func LiteralOf(e Expr) *scalar.Value {
	switch e := e.(type) {
	case *Const:
		if e.Value.Type.IsNumeric() {
			return &e.Value
		}
	case Ref:
		k, isCall := e.Var.Means.(*Call)
		switch {
		case !isCall:
			return LiteralOf(e.Var.Means)
		case k.Resolved && !e.Var.folded:
			e.Var.folded, e.Var.number = true, LiteralOf(k)
		}
		return e.Var.number
	case *Call:
		if !e.Resolved || e.Sig.Func.Volatile || !e.Sig.Result.IsNumeric() {
			return nil
		}
		args := make([]scalar.Value, len(e.Args))
		for i, a := range e.Args {
			v := LiteralOf(a)
			if v == nil {
				return nil
			}
			w, ok := LiteralAs(*v, e.Sig.Params[i])
			if !ok {
				return nil
			}
			args[i] = w
		}
		if v, ok := e.Sig.Func.Eval(e.Sig.Result, args); ok && v.Fits() {
			return &v
		}
	}
	return nil
}

// LiteralAs returns a literal's value in another type, if it is the same
// number there.
func LiteralAs(v scalar.Value, t scalar.Type) (scalar.Value, bool) {
	from := v.Type
	if from == t {
		return v, true
	}
	switch {
	case IsInteger(from) && IsInteger(t):
		negative := from.Kind == scalar.Int && v.Int() < 0
		if t.Kind == scalar.Uint && negative || t.Kind == scalar.Int && from.Kind == scalar.Uint &&
			v.Bits() >= 1<<63 {
			return v, false
		}
		out := scalar.OfInt(t, int64(v.Bits()))
		return out, out.Bits() == v.Bits()
	case from.Kind == scalar.Decimal && t.Kind == scalar.Decimal &&
		(t.Scale < from.Scale || t.Bits < from.Bits):
		n, _ := v.Int128().Rescale(int(from.Scale), int(t.Scale))
		back, ok := n.Rescale(int(t.Scale), int(from.Scale))
		out := scalar.OfInt128(t, n)
		return out, ok && back == v.Int128() && out.Fits()
	case from.Kind == scalar.Float && t.Kind == scalar.Float:
		return scalar.OfFloat(t, v.Float()), true
	case scalar.CanWiden(from, t):
		out, ok := scalar.Lookup("convert").Eval(t, []scalar.Value{v})
		return out, ok && out.Fits()
	}
	return v, false
}

// IsInteger reports whether a type is an integer of any width.
func IsInteger(t scalar.Type) bool { return t.Kind == scalar.Int || t.Kind == scalar.Uint }

// Untype forgets what type inference noted in the unit's expressions.
func (u *Unit) Untype() {
	for _, v := range u.Vars {
		v.folded, v.number = false, nil
		untypeExpr(v.Means)
	}
	untypeBody(u.Body)
}

func untypeBody(body []Literal) {
	for _, l := range body {
		switch l := l.(type) {
		case *Binding:
			untypeExpr(l.Expr)
		case *Test:
			untypeExpr(l.Expr)
		case *Negation:
			untypeBody(l.Body)
		}
	}
}

func untypeExpr(e Expr) {
	if k, ok := e.(*Call); ok {
		k.Resolved, k.Failed, k.Sig = false, false, scalar.Signature{}
		for _, a := range k.Args {
			untypeExpr(a)
		}
	}
}
