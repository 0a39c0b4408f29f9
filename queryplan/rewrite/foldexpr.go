package rewrite

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// foldExpr evaluates what is constant in an expression. The second result is
// true if the expression is certain to have no value, whatever its columns
// hold.
func foldExpr(e queryplan.Expr) (queryplan.Expr, bool) {
	call, ok := e.(*queryplan.Call)
	if !ok {
		return e, false
	}
	args := make([]queryplan.Expr, len(call.Args))
	constants := make([]*scalar.Value, len(args))
	all, same := true, true
	for i, a := range call.Args {
		folded, none := foldExpr(a)
		if none {
			if call.Func.Name == "holds" {
				return trees.Constant(scalar.OfBool(false)), false
			}
			return e, true
		}
		args[i] = folded
		same = same && folded == a
		if c, ok := folded.(*queryplan.Const); ok {
			constants[i] = &c.Value
		} else {
			all = false
		}
	}
	if !same {
		call = &queryplan.Call{Func: call.Func, Args: args, Result: call.Result}
	}
	if call.Func.Volatile {
		return call, false
	}
	if call.Func.Check(constants) != nil {
		return call, true
	}
	if all {
		v, ok := queryplan.Eval(call, nil)
		switch {
		case !ok:
			return call, true
		case !v.FitsWord():
			// A decimal intermediate may exceed what a constant can be written
			// as.
			return call, false
		}
		return trees.Constant(v), false
	}
	return simplify(call), false
}

// simplify applies identities that hold for every value. Where one drops an
// operand, that operand must be sure to have a value.
func simplify(e *queryplan.Call) queryplan.Expr {
	switch e.Func.Name {
	case "and", "or":
		for i, a := range e.Args {
			b, ok := truth(a)
			if !ok {
				continue
			}
			other := e.Args[1-i]
			if b == (e.Func.Name == "and") {
				return other
			}
			if !queryplan.MayFail(other) {
				return trees.Constant(scalar.OfBool(b))
			}
		}
		if queryplan.EqualExpr(e.Args[0], e.Args[1]) && !queryplan.IsVolatile(e) {
			return e.Args[0]
		}
	case "not":
		if inner, ok := e.Args[0].(*queryplan.Call); ok {
			if inner.Func.Name == "not" {
				return inner.Args[0]
			}
			// Comparisons are total orders, floats included.
			if opposite, ok := opposites[inner.Func.Name]; ok {
				return &queryplan.Call{Func: scalar.Lookup(opposite), Args: inner.Args,
					Result: inner.Result}
			}
		}
	case "holds":
		if !queryplan.MayFail(e.Args[0]) {
			return e.Args[0]
		}
	case "eq", "le", "ge", "ne", "lt", "gt":
		x, y := e.Args[0], e.Args[1]
		if queryplan.EqualExpr(x, y) && !queryplan.MayFail(x) && !queryplan.IsVolatile(x) {
			return trees.Constant(scalar.OfBool(e.Func.Name == "eq" || e.Func.Name == "le" ||
				e.Func.Name == "ge"))
		}
		// A constant on the left moves to the right, so that one form is enough
		// for all who look at comparisons.
		_, left := x.(*queryplan.Const)
		_, right := y.(*queryplan.Const)
		if left && !right {
			return &queryplan.Call{Func: scalar.Lookup(mirrored[e.Func.Name]),
				Args:   []queryplan.Expr{y, x},
				Result: e.Result}
		}
	case "add", "sub":
		if isInteger(e.Result) && isWord(e.Args[1], 0) {
			return e.Args[0]
		}
		if e.Func.Name == "add" && isInteger(e.Result) && isWord(e.Args[0], 0) {
			return e.Args[1]
		}
	case "mul", "div":
		if isInteger(e.Result) && isWord(e.Args[1], 1) {
			return e.Args[0]
		}
		if e.Func.Name == "mul" && isInteger(e.Result) && isWord(e.Args[0], 1) {
			return e.Args[1]
		}
	case "convert":
		if e.Args[0].Type() == e.Result {
			return e.Args[0]
		}
	}
	return e
}

var (
	opposites = map[string]string{"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le",
		"le": "gt"}
	mirrored = map[string]string{"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge",
		"ge": "le"}
)

func isInteger(t scalar.Type) bool { return t.Kind == scalar.Int || t.Kind == scalar.Uint }

func isWord(e queryplan.Expr, want int64) bool {
	c, ok := e.(*queryplan.Const)
	return ok && c.Value.Int() == want
}

// truth returns the value of a boolean constant.
func truth(e queryplan.Expr) (value, ok bool) {
	if c, isConst := e.(*queryplan.Const); isConst {
		return c.Value.Bool(), true
	}
	return false, false
}

// foldConds folds the conjuncts of a filter together: what one says a column
// equals, the others use. It returns ok == false if no tuple satisfies them.
func foldConds(conds []queryplan.Expr) (out []queryplan.Expr, ok bool) {
	known := map[string]queryplan.Expr{}
	for _, c := range conds {
		folded, none := foldExpr(c)
		if none {
			return nil, false
		}
		for _, part := range queryplan.Conjuncts(folded) {
			if b, isConst := truth(part); isConst {
				if !b {
					return nil, false
				}
				continue
			}
			out = trees.AddCond(out, part)
			if col, value, ok := columnEquals(part); ok && known[col] == nil {
				known[col] = value
			}
		}
	}
	if len(known) == 0 {
		return out, true
	}
	conds, out = out, nil
	for _, c := range conds {
		col, value, isEq := columnEquals(c)
		if !(isEq && queryplan.EqualExpr(known[col], value)) {
			substituted := queryplan.Substitute(c, known)
			if substituted != c {
				folded, none := foldExpr(substituted)
				if b, isConst := truth(folded); none || isConst && !b {
					return nil, false
				} else if isConst {
					continue
				}
				c = folded
			}
		}
		for _, part := range queryplan.Conjuncts(c) {
			out = trees.AddCond(out, part)
		}
	}
	return out, true
}

// columnEquals recognises a comparison of a column with a constant.
func columnEquals(e queryplan.Expr) (col string, value queryplan.Expr, ok bool) {
	call, isCall := e.(*queryplan.Call)
	if !isCall || call.Func.Name != "eq" {
		return "", nil, false
	}
	ref, isRef := call.Args[0].(*queryplan.ColRef)
	c, isConst := call.Args[1].(*queryplan.Const)
	if !isRef || !isConst {
		return "", nil, false
	}
	return ref.Col.Name, c, true
}
