package strata

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// direction says which way values move, or on which sides they have a bound.
type direction uint8

const (
	down direction = 1 << iota
	up
	both = down | up
)

// reversed exchanges up and down.
func (d direction) reversed() direction { return d&down<<1 | d&up>>1 }

// stops reports whether bounds on these sides end a movement. A movement in an
// unknown direction is taken to be the right one.
func (d direction) stops(movement direction) bool {
	return d != 0 && (movement == both || movement == 0 || d&movement != 0)
}

// sides are the sides on which a comparison bounds its operands.
var sides = map[string][2]direction{
	"eq": {both, both},
	"lt": {up, down}, "le": {up, down},
	"gt": {down, up}, "ge": {down, up},
}

// movement returns the direction in which an expression moves its variable: up
// for n + 1, down for n - 1, both if it cannot tell. It is 0 for a variable.
func movement(e core.Expr) direction {
	k, ok := e.(*core.Call)
	if !ok {
		return 0
	}
	switch k.Func.Name {
	case "convert":
		return movement(k.Args[0])
	case "add", "sub":
		c, ok := k.Args[1].(core.Const)
		x := k.Args[0]
		if !ok && k.Func.Name == "add" {
			c, ok = k.Args[0].(core.Const)
			x = k.Args[1]
		}
		if !ok || !c.Value.Type.IsNumeric() {
			return both
		}
		d := signOf(c.Value)
		if k.Func.Name == "sub" {
			d = d.reversed()
		}
		return d | movement(x)
	case "min", "max":
		return movement(k.Args[0]) | movement(k.Args[1])
	}
	return both
}

// limits returns the sides on which an expression has a bound, whatever the
// values are of variables for which of returns 0.
func limits(e core.Expr, of func(*core.Var) direction) direction {
	switch e := e.(type) {
	case core.Const:
		return both
	case core.VarExpr:
		return of(e.Var)
	case *core.Call:
		if e.Result.Kind == scalar.Boolean {
			return both
		}
		all := both // the sides on which each argument has a bound
		var any direction
		for _, a := range e.Args {
			d := limits(a, of)
			all, any = all&d, any|d
		}
		switch e.Func.Name {
		case "min":
			return all | any&up
		case "max":
			return all | any&down
		case "mod":
			return limits(e.Args[1], of) // the divisor
		case "bitand":
			if slices.ContainsFunc(e.Args, isMask) {
				return both
			}
		}
		if all == both {
			return both
		}
	}
	return 0
}

// isMask reports whether an expression is a constant that is not negative.
func isMask(e core.Expr) bool {
	c, ok := e.(core.Const)
	return ok && signOf(c.Value) != down
}

// signOf returns up for a positive number, down for a negative one, else 0.
func signOf(v scalar.Value) direction {
	switch c := scalar.Compare(v, scalar.OfBits(v.Type, 0)); {
	case c > 0:
		return up
	case c < 0:
		return down
	}
	return 0
}

// bound notes the sides on which the variables of an expression have a bound
// while the expression has one on the given sides. The remainder of a division
// moves no variable.
func bound(e core.Expr, on direction, note func(*core.Var, direction)) {
	switch e := e.(type) {
	case core.VarExpr:
		note(e.Var, on)
	case *core.Call:
		switch name := e.Func.Name; {
		case name == "add" || name == "convert":
			for _, a := range e.Args {
				bound(a, on, note)
			}
		case name == "sub":
			bound(e.Args[0], on, note)
			bound(e.Args[1], on.reversed(), note)
		case growers[name] || name == "string:length":
			for _, a := range e.Args {
				bound(a, both, note)
			}
		}
	}
}

// widens reports whether a conversion has a value for each argument, and keeps
// their order.
func widens(k *core.Call) bool {
	from := k.Args[0].Type()
	return from == k.Result || scalar.CanWiden(from, k.Result)
}
