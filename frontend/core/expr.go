package core

import "github.com/redfoxdb/redfox/internal/scalar"

// ExprVars returns the variables of an expression in text order, some of them
// several times.
func ExprVars(e Expr) []*Var {
	switch e := e.(type) {
	case VarExpr:
		return []*Var{e.Var}
	case *Call:
		var out []*Var
		for _, a := range e.Args {
			out = append(out, ExprVars(a)...)
		}
		return out
	}
	return nil
}

// MayFail reports whether an expression may have no value.
func MayFail(x Expr) bool {
	k, ok := x.(*Call)
	if !ok {
		return false
	}
	types := make([]scalar.Type, len(k.Args))
	for i, a := range k.Args {
		if MayFail(a) {
			return true
		}
		types[i] = a.Type()
	}
	return k.Func.MayFail(k.Result, types)
}
