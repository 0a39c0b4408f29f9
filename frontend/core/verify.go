package core

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Verify checks the invariants of a program. Names of predicates and of their
// arguments are unique, and arguments have types. Every argument of an atom is
// a variable or a constant of its column's type. Every variable has a value
// before it is used, and every head variable has one at the end of the body.
// Functions are applied to arguments of exactly the types that they take. Each
// predicate belongs to one stratum at most, and each stratum needs only itself
// and earlier ones; what it negates or aggregates is complete.
//
// The cost is linear in the size of the program, so every compilation verifies.
func Verify(p *Program) error {
	v := &verifier{complete: map[*Pred]bool{}, known: map[*Pred]bool{}}
	names := map[string]bool{}
	for _, pred := range p.Preds {
		if names[pred.Name] {
			return fmt.Errorf("two predicates are named %s", pred.Name)
		}
		names[pred.Name], v.known[pred] = true, true
		if err := pred.verify(); err != nil {
			return err
		}
	}
	for _, s := range p.Strata {
		for _, r := range s.Rules {
			v.complete[r.Head.Pred] = false
		}
	}
	stratified := map[*Pred]bool{}
	for _, s := range p.Strata {
		members := map[*Pred]bool{}
		for _, pred := range s.Preds {
			if stratified[pred] {
				return fmt.Errorf("%s is in two strata", pred.Name)
			}
			members[pred], stratified[pred] = true, true
		}
		for _, r := range s.Rules {
			if !members[r.Head.Pred] {
				return fmt.Errorf("rule %s is in another stratum than its head", r)
			}
		}
		if s.Iterates() {
			if err := v.iteration(s); err != nil {
				return err
			}
			continue
		}
		for _, r := range s.Rules {
			if err := v.rule(r, members); err != nil {
				return fmt.Errorf("rule %s: %w", r, err)
			}
		}
		for _, pred := range s.Preds {
			v.complete[pred] = true
		}
	}
	for _, c := range p.Checks {
		bound := map[*Var]bool{}
		if err := v.body(c.Body, bound, nil, false); err != nil {
			return fmt.Errorf("check %s: %w", c, err)
		}
		for _, x := range c.Vars {
			if !bound[x] {
				return fmt.Errorf("check %s: %s has no value", c, x.Name)
			}
		}
	}
	return nil
}

func (p *Pred) verify() error {
	if p.Keys < 0 || p.Keys > len(p.Args) {
		return fmt.Errorf("%s has %d keys and %d arguments", p.Name, p.Keys, len(p.Args))
	}
	names := map[string]bool{}
	for _, a := range p.Args {
		if a.Type.Kind == scalar.Invalid || a.Name == "" || names[a.Name] {
			return fmt.Errorf("argument %q of %s is untyped or not unique", a.Name, p.Name)
		}
		names[a.Name] = true
	}
	if p.Numbers != nil && (p.Keys != len(p.Args)-1 || p.Args[p.Keys].Type != scalar.IntType) {
		return fmt.Errorf("%s has no number as its value", p.Name)
	}
	if err := p.verifyKeep(); err != nil {
		return err
	}
	if err := p.verifyIteration(); err != nil {
		return err
	}
	for _, k := range p.OrderBy {
		if k.Arg < 0 || k.Arg >= len(p.Args) {
			return fmt.Errorf("%s is ordered by argument %d of %d", p.Name, k.Arg+1, len(p.Args))
		}
	}
	return nil
}

type verifier struct {
	known map[*Pred]bool
	// complete maps the predicates with rules to whether their stratum is done.
	complete map[*Pred]bool
}

func (v *verifier) rule(r *Rule, members map[*Pred]bool) error {
	if len(r.Agg) > 0 && r.Seq != nil {
		return fmt.Errorf("both aggregate and sequence")
	}
	bound := map[*Var]bool{}
	// An aggregation in a recursion improves what its predicate keeps.
	closed := len(r.Agg) > 0 && !r.Head.Pred.Improves() || r.Seq != nil
	if err := v.body(r.Body, bound, members, closed); err != nil {
		return err
	}
	for _, a := range r.Agg {
		if (a.In == nil) != (a.Fn == Count) {
			return fmt.Errorf("%s with the wrong number of inputs", a.Fn)
		}
		for _, x := range a.Inputs() {
			if !bound[x] {
				return fmt.Errorf("%s has no value", x.Name)
			}
		}
		if (a.Fn == Quantile) != (a.At.Type.Kind == scalar.Decimal) {
			return fmt.Errorf("%s at %s", a.Fn, a.At.Type)
		}
		if bound[a.Out] {
			return fmt.Errorf("%s is bound before the aggregate", a.Out.Name)
		}
		if !a.typed() {
			return fmt.Errorf("%s is %s, which no %s gives", a.Out.Name, a.Out.Type, a.Fn)
		}
	}
	for _, a := range r.Agg {
		bound[a.Out] = true
	}
	if s := r.Seq; s != nil {
		for _, x := range s.Vars() {
			if !bound[x] {
				return fmt.Errorf("%s has no value", x.Name)
			}
		}
		bound[s.Index] = true
	}
	if err := v.head(&r.Head); err != nil {
		return err
	}
	for _, t := range r.Head.Args {
		if x, ok := t.(*Var); ok && !bound[x] {
			return fmt.Errorf("head variable %s has no value", x.Name)
		}
	}
	names := map[string]*Var{}
	for x := range bound {
		if other := names[x.Name]; other != nil && other != x {
			return fmt.Errorf("two variables are named %s", x.Name)
		}
		names[x.Name] = x
	}
	return nil
}

// body verifies literals in order and adds the variables that they bind to
// bound. Predicates outside members must be complete, and so must negated ones.
// If closed is set, all must be.
func (v *verifier) body(
	body []Literal, bound map[*Var]bool, members map[*Pred]bool, closed bool,
) error {
	for _, l := range body {
		switch l := l.(type) {
		case *Atom:
			done, derived := v.complete[l.Pred]
			if derived && !done && (closed || !members[l.Pred]) {
				return fmt.Errorf("%s is used before it is complete", l.Pred.Name)
			}
			if err := v.args(l); err != nil {
				return err
			}
			for _, t := range l.Args {
				if x, ok := t.(*Var); ok {
					bound[x] = true
				}
			}
		case *Let:
			if bound[l.Var] {
				return fmt.Errorf("%s is bound twice", l.Var.Name)
			}
			if err := v.expr(l.Expr, bound); err != nil {
				return err
			}
			if l.Expr.Type() != l.Var.Type {
				return fmt.Errorf("%s is %s, its expression %s", l.Var.Name, l.Var.Type,
					l.Expr.Type())
			}
			bound[l.Var] = true
		case *Test:
			if err := v.expr(l.Expr, bound); err != nil {
				return err
			}
			if l.Expr.Type() != scalar.BooleanType {
				return fmt.Errorf("test of type %s", l.Expr.Type())
			}
		case *Not:
			inner := make(map[*Var]bool, len(bound))
			for x := range bound {
				inner[x] = true
			}
			if len(l.Body) == 0 {
				return fmt.Errorf("empty negation")
			}
			if err := v.body(l.Body, inner, members, true); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown literal %T", l)
		}
	}
	return nil
}

// head verifies the head of a rule, whose last argument is new if, and only if,
// the predicate numbers its keys.
func (v *verifier) head(a *Atom) error {
	if a.Pred.Numbers == nil || len(a.Args) != len(a.Pred.Args) {
		return v.args(a)
	}
	last := len(a.Args) - 1
	if _, ok := a.Args[last].(New); !ok {
		return fmt.Errorf("the value of %s is not new", a.Pred.Name)
	}
	for i, t := range a.Args[:last] {
		if err := a.Pred.argument(i, t); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) args(a *Atom) error {
	if !v.known[a.Pred] {
		return fmt.Errorf("%s is not a predicate of the program", a.Pred.Name)
	}
	if len(a.Args) != len(a.Pred.Args) {
		return fmt.Errorf("%s has %d arguments, not %d", a.Pred.Name, len(a.Pred.Args), len(a.Args))
	}
	for i, t := range a.Args {
		if err := a.Pred.argument(i, t); err != nil {
			return err
		}
	}
	return nil
}

// argument verifies one argument of an atom.
func (p *Pred) argument(i int, t Term) error {
	var typ scalar.Type
	switch t := t.(type) {
	case *Var:
		typ = t.Type
	case Const:
		typ = t.Value.Type
	default:
		return fmt.Errorf("argument %d of %s is %T", i+1, p.Name, t)
	}
	if typ != p.Args[i].Type {
		return fmt.Errorf("argument %d of %s is %s, not %s", i+1, p.Name, typ, p.Args[i].Type)
	}
	return nil
}

func (v *verifier) expr(e Expr, bound map[*Var]bool) error {
	switch e := e.(type) {
	case VarExpr:
		if !bound[e.Var] {
			return fmt.Errorf("%s has no value", e.Var.Name)
		}
	case Const:
	case *Call:
		if e.Func == nil || e.Result.Kind == scalar.Invalid || len(e.Args) != e.Func.Arity() {
			return fmt.Errorf("malformed call %s", ExprString(e))
		}
		for _, a := range e.Args {
			if err := v.expr(a, bound); err != nil {
				return err
			}
		}
		return e.typed()
	default:
		return fmt.Errorf("unknown expression %T", e)
	}
	return nil
}

// typed checks that a call applies an overload of its function: conversions are
// calls of convert, so that no argument is converted in passing.
func (c *Call) typed() error {
	args := make([]scalar.Type, len(c.Args))
	for i, a := range c.Args {
		args[i] = a.Type()
	}
	if c.Func.Name == "convert" {
		if !scalar.CanConvert(args[0], c.Result) {
			return fmt.Errorf("%s: there is no such conversion", ExprString(c))
		}
		return nil
	}
	sig, err := scalar.Resolve(c.Func.Name, args)
	if err != nil {
		return fmt.Errorf("%s: %w", ExprString(c), err)
	}
	for i, t := range sig.Params {
		if t != args[i] {
			return fmt.Errorf("%s: argument %d is %s, not %s", ExprString(c), i+1, args[i], t)
		}
	}
	if sig.Result != c.Result {
		return fmt.Errorf("%s: the result is %s, not %s", ExprString(c), sig.Result, c.Result)
	}
	return nil
}

// typed reports whether the result of an aggregation has a type that its input
// gives.
func (a *AggSpec) typed() bool {
	switch a.Fn {
	case Count, CountDistinct:
		return a.Out.Type == scalar.IntType
	case StringJoin:
		return a.Out.Type == scalar.StringType && a.In.Type == scalar.StringType
	case Min, Max, Quantile:
		return a.Out.Type == a.In.Type
	case Total:
		return a.In.Type.IsNumeric() && scalar.CanWiden(a.In.Type, a.Out.Type)
	}
	return a.In.Type.IsNumeric() && a.Out.Type.IsNumeric()
}
