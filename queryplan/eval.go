package queryplan

import "github.com/redfoxdb/redfox/internal/scalar"

// Eval is the reference evaluation of an expression. The second result is false
// if the expression has no value. Decimals are computed in 128 bits, so
// intermediates may exceed their type. A caller that stores the result checks
// Fits.
func Eval(e Expr, lookup func(column string) scalar.Value) (scalar.Value, bool) {
	switch e := e.(type) {
	case *ColRef:
		return lookup(e.Col.Name), true
	case *Const:
		return e.Value, true
	case *Call:
		args := make([]scalar.Value, len(e.Args))
		for i, a := range e.Args {
			v, ok := Eval(a, lookup)
			if !ok {
				// holds is the one function that sees a missing value.
				return scalar.OfBool(false), e.Func.Name == "holds"
			}
			args[i] = v
		}
		return e.Func.Eval(e.Result, args)
	}
	return scalar.Value{}, false
}

// MayFail reports whether an expression may have no value.
func MayFail(e Expr) bool {
	c, ok := e.(*Call)
	if !ok || c.Func.Name == "holds" {
		return false
	}
	for _, a := range c.Args {
		if MayFail(a) {
			return true
		}
	}
	return c.Func.MayFail(c.Result, exprTypes(c.Args))
}

// IsVolatile reports whether an expression calls a function whose result is not
// determined by its arguments.
func IsVolatile(e Expr) bool {
	volatile := false
	WalkExpr(e, func(e Expr) {
		if c, ok := e.(*Call); ok && c.Func.Volatile {
			volatile = true
		}
	})
	return volatile
}
