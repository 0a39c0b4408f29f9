package oracle

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Tuple is one tuple of a predicate.
type Tuple []scalar.Value

// Facts are tuples by predicate.
type Facts map[string][]Tuple

// Result is the answer of a program.
type Result struct {
	// Tuples of every predicate, sorted, or ordered and cut as the program's
	// lang:output directives say.
	Tuples map[string][]Tuple
	// Violations are the constraints that do not hold.
	Violations []Violation
}

// Violation is a constraint that does not hold, with its distinct violating
// bindings, sorted.
type Violation struct {
	Check    *core.Check
	Bindings []Tuple
}

// KeyError is a functional predicate that got two values for one key.
type KeyError struct {
	Pred          *core.Pred
	First, Second Tuple
}

// Error shows both tuples.
func (e *KeyError) Error() string {
	return fmt.Sprintf("%s has two values for one key: %s and %s", e.Pred.Name, e.First, e.Second)
}

// OverflowError is a total or average that does not fit its type.
type OverflowError struct {
	Rule  *core.Rule
	Group Tuple // the other arguments of the head
}

// Error names the group.
func (e *OverflowError) Error() string {
	return fmt.Sprintf("an aggregate of %s does not fit its type for the group %s",
		e.Rule.Head.Pred.Name, e.Group)
}

// String lists the values as literals.
func (t Tuple) String() string {
	parts := make([]string, len(t))
	for i, v := range t {
		parts[i] = scalar.Literal(v)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Compare orders tuples by their columns from the left.
func Compare(a, b Tuple) int { return slices.CompareFunc(a, b, scalar.Compare) }

// relation is a set of tuples, and for a functional predicate a map of its
// keys.
type relation struct {
	tuples []Tuple
	seen   map[string]bool
	values map[string]Tuple
}

type machine struct {
	relations map[*core.Pred]*relation
	steps     int64 // literals that may still be tried
}

// ErrTooLarge is the error of a program that needs more steps than allowed.
var ErrTooLarge = errors.New("too large for brute force")

// unbounded is more steps than anyone waits for.
const unbounded = 1 << 62

// env binds the variables of one rule.
type env map[*core.Var]scalar.Value

// Run evaluates a program. The error is a *KeyError or an *OverflowError.
func Run(p *core.Program, facts Facts) (*Result, error) { return RunBounded(p, facts, unbounded) }

// RunBounded is Run that gives up with ErrTooLarge when it has matched as many
// tuples as steps says. Ten million take some seconds.
func RunBounded(p *core.Program, facts Facts, steps int64) (*Result, error) {
	m := &machine{relations: map[*core.Pred]*relation{}, steps: steps}
	held := map[string]bool{} // predicates whose facts another one holds
	for _, pred := range p.Preds {
		held[pred.Source] = true
	}
	for _, pred := range p.Preds {
		m.relations[pred] = newRelation()
		source := pred.Source
		if source == "" && !held[pred.Name] {
			source = pred.Name
		}
		for _, t := range facts[source] {
			if _, err := m.insert(pred, t); err != nil {
				return nil, err
			}
		}
	}
	for _, stratum := range p.Strata {
		if stratum.Iterates() {
			if err := m.iterate(stratum); err != nil {
				return nil, err
			}
			continue
		}
		if stratum.Chooses() {
			if err := m.choose(stratum); err != nil {
				return nil, err
			}
			continue
		}
		for changed := true; changed; {
			changed = false
			for _, rule := range stratum.Rules {
				derived, err := m.derive(rule)
				if m.steps <= 0 {
					return nil, ErrTooLarge
				}
				if err != nil {
					return nil, err
				}
				for _, t := range derived {
					isNew, err := m.insert(rule.Head.Pred, t)
					if err != nil {
						return nil, err
					}
					changed = changed || isNew
				}
			}
		}
	}
	result := &Result{Tuples: map[string][]Tuple{}}
	for _, pred := range p.Preds {
		result.Tuples[pred.Name] = present(pred, m.shown(pred))
	}
	for _, check := range p.Checks {
		if bindings := m.violations(check); len(bindings) > 0 {
			result.Violations = append(result.Violations, Violation{check, bindings})
		}
	}
	if m.steps <= 0 {
		return nil, ErrTooLarge
	}
	return result, nil
}

func (m *machine) insert(pred *core.Pred, t Tuple) (isNew bool, err error) {
	r := m.relations[pred]
	if n := pred.Numbers; n != nil {
		if r.values[t[:pred.Keys].String()] != nil {
			return false, nil
		}
		t[pred.Keys] = scalar.OfInt(scalar.IntType, n.Start+n.Step*int64(len(r.tuples)))
	}
	if r.seen[t.String()] {
		return false, nil
	}
	key := t[:pred.Keys].String()
	if pred.KeepsOne() {
		return r.improve(pred, key, t), nil
	}
	if first, ok := r.values[key]; ok && pred.Functional() {
		return false, &KeyError{pred, first, t}
	}
	r.seen[t.String()] = true
	r.values[key] = t
	r.tuples = append(r.tuples, t)
	return true, nil
}

// improve gives a key a value if it has none or a worse one.
func (r *relation) improve(pred *core.Pred, key string, t Tuple) bool {
	old, ok := r.values[key]
	if !ok {
		t = slices.Clone(t)
		r.values[key] = t
		r.tuples = append(r.tuples, t)
		return true
	}
	sign := scalar.Compare(t[pred.Keys], old[pred.Keys])
	if sign == 0 || (sign > 0) != (pred.Keeps == core.KeepGreatest) {
		return false
	}
	copy(old, t) // the tuple is replaced in place
	return true
}

// derive returns the head's tuples for what the relations hold now.
func (m *machine) derive(rule *core.Rule) (out []Tuple, err error) {
	switch {
	case rule.Seq != nil:
		return m.sequence(rule), nil
	case len(rule.Agg) > 0:
		return m.aggregate(rule)
	}
	bindings := env{}
	m.solve(rule.Body, bindings, func() { out = append(out, bindings.tuple(rule.Head.Args)) })
	return out, nil
}

// solve calls found for every extension of the bindings that makes all literals
// true.
func (m *machine) solve(body []core.Literal, bindings env, found func()) {
	if len(body) == 0 {
		found()
		return
	}
	rest := body[1:]
	switch l := body[0].(type) {
	case *core.Atom:
		for _, t := range m.relations[l.Pred].tuples {
			if m.steps--; m.steps <= 0 {
				return
			}
			var bound []*core.Var
			if bindings.match(l.Args, t, &bound) {
				m.solve(rest, bindings, found)
			}
			for _, v := range bound {
				delete(bindings, v)
			}
		}
	case *core.Let:
		v, ok := bindings.eval(l.Expr)
		if !ok || !v.Fits() {
			return
		}
		if old, isBound := bindings[l.Var]; isBound {
			if old == v {
				m.solve(rest, bindings, found)
			}
			return
		}
		bindings[l.Var] = v
		m.solve(rest, bindings, found)
		delete(bindings, l.Var)
	case *core.Test:
		if v, ok := bindings.eval(l.Expr); ok && v.Bool() {
			m.solve(rest, bindings, found)
		}
	case *core.Not:
		some := false
		m.solve(l.Body, bindings, func() { some = true })
		if !some {
			m.solve(rest, bindings, found)
		}
	}
}

// match binds the variables of an atom to a tuple and lists those that were
// free, also when it fails.
func (e env) match(args []core.Term, t Tuple, bound *[]*core.Var) bool {
	for i, arg := range args {
		switch a := arg.(type) {
		case core.Const:
			if a.Value != t[i] {
				return false
			}
		case *core.Var:
			v, ok := e[a]
			if !ok {
				e[a] = t[i]
				*bound = append(*bound, a)
			} else if v != t[i] {
				return false
			}
		}
	}
	return true
}

func (e env) tuple(args []core.Term) Tuple {
	out := make(Tuple, len(args))
	for i, arg := range args {
		switch a := arg.(type) {
		case core.Const:
			out[i] = a.Value
		case *core.Var:
			out[i] = e[a]
		}
	}
	return out
}

func (e env) values(vars []*core.Var) Tuple {
	out := make(Tuple, len(vars))
	for i, v := range vars {
		out[i] = e[v]
	}
	return out
}

func (e env) eval(x core.Expr) (scalar.Value, bool) {
	switch x := x.(type) {
	case core.VarExpr:
		return e[x.Var], true
	case core.Const:
		return x.Value, true
	}
	call := x.(*core.Call)
	args := make([]scalar.Value, len(call.Args))
	for i, a := range call.Args {
		v, ok := e.eval(a)
		if !ok {
			return scalar.OfBool(false), call.Func.Name == "holds"
		}
		args[i] = v
	}
	return call.Func.Eval(call.Result, args)
}

// sequence numbers the bindings of the body within each group.
func (m *machine) sequence(rule *core.Rule) (out []Tuple) {
	type row struct {
		group, order Tuple
		bindings     env
	}
	var rows []row
	bindings := env{}
	m.solve(rule.Body, bindings, func() {
		vars, groups := rule.Seq.Vars(), len(rule.Seq.Group)
		rows = append(rows, row{bindings.values(vars[:groups]), bindings.values(vars[groups:]),
			copyOf(bindings)})
	})
	sort.Slice(rows, func(i, j int) bool {
		if c := Compare(rows[i].group, rows[j].group); c != 0 {
			return c < 0
		}
		for k, key := range rule.Seq.Order {
			c := scalar.Compare(rows[i].order[k], rows[j].order[k])
			if key.Desc {
				c = -c
			}
			if c != 0 {
				return c < 0
			}
		}
		return false
	})
	index := int64(0)
	for i, r := range rows {
		index++
		if i == 0 || Compare(r.group, rows[i-1].group) != 0 {
			index = 0
		}
		r.bindings[rule.Seq.Index] = scalar.OfInt(rule.Seq.Index.Type, index)
		out = append(out, r.bindings.tuple(rule.Head.Args))
	}
	return out
}

func copyOf(e env) env {
	out := make(env, len(e))
	for k, v := range e {
		out[k] = v
	}
	return out
}

func (m *machine) violations(check *core.Check) []Tuple {
	seen := map[string]bool{}
	var out []Tuple
	bindings := env{}
	m.solve(check.Body, bindings, func() {
		t := bindings.values(check.Vars)
		if !seen[t.String()] {
			seen[t.String()] = true
			out = append(out, t)
		}
	})
	slices.SortFunc(out, Compare)
	return out
}

// present sorts tuples as the directives of the predicate say, ties by the
// columns from the left, and cuts the list.
func present(pred *core.Pred, tuples []Tuple) []Tuple {
	out := slices.Clone(tuples)
	slices.SortFunc(out, func(a, b Tuple) int {
		for _, key := range pred.OrderBy {
			c := scalar.Compare(a[key.Arg], b[key.Arg])
			if key.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return Compare(a, b)
	})
	if pred.Limit >= 0 && int64(len(out)) > pred.Limit {
		out = out[:pred.Limit]
	}
	return out
}
