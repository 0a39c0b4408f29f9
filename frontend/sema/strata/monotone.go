package strata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// requireMonotone refuses a recursion through a predicate that keeps the best
// value of a key if a better value could undo what a worse one has derived. The
// answer would depend on which value the recursion finds first.
//
// The condition is PreM of Zaniolo et al., Fixpoint semantics and optimization
// of recursive Datalog programs with aggregates (TPLP 2017), checked by syntax:
// a value may only be copied, go through monotone functions, bound by
// comparisons that a better one passes as well, and become the value of a
// predicate that keeps values of the same end.
func (c *strata) requireMonotone(s *core.Stratum) {
	members := map[*core.Pred]bool{}
	for _, p := range s.Preds {
		members[p] = true
	}
	if !slices.ContainsFunc(s.Preds, (*core.Pred).Improves) {
		return
	}
	for _, r := range s.Rules {
		t := &trends{strata: c, rule: r, members: members, moves: map[*core.Var]direction{},
			lets: map[*core.Var]*core.Let{}, of: map[*core.Var]*core.Pred{}}
		if t.check() && !s.Unbounded.IsValid() {
			s.Unbounded = t.endless()
		}
	}
}

// keeping maps what a predicate keeps to how its values move while a recursion
// goes on.
var keeping = map[core.Keep]direction{core.KeepLeast: down, core.KeepGreatest: up}

// trends says how the values of the variables of one rule move.
type trends struct {
	*strata
	rule    *core.Rule
	members map[*core.Pred]bool
	moves   map[*core.Var]direction
	lets    map[*core.Var]*core.Let
	of      map[*core.Var]*core.Pred // whose value it is
	failed  bool
	said    *diag.Diagnostic
}

// help adds advice to what was refused.
func (t *trends) help(text string, args ...any) { t.said.Help(text, args...) }

// refuse reports the step of the rule that is not monotone.
func (t *trends) refuse(at source.Span, step, why string, args ...any) {
	if t.failed {
		return
	}
	t.failed = true
	if !at.IsValid() {
		at = t.rule.Span
	}
	var keep *core.Pred
	for _, l := range t.rule.Body {
		if a, ok := l.(*core.Atom); ok && t.members[a.Pred] && a.Pred.Improves() {
			keep = a.Pred
			break
		}
	}
	if keep == nil {
		keep = t.rule.Head.Pred
	}
	t.said = t.Errorf(diag.NotMonotone, at, "a better value of %s could undo what this rule derives",
		shownName(keep))
	e := t.said
	e.At = step
	e.Note(why, args...)
	e.Note("in its recursion, a value of %s may be copied, added to, go through min, max and a "+
		"product with a constant, and be bounded by %s", shownName(keep), boundWord(keep.Keeps))
	e.Help("leave lang:recursive%s out, bound the recursion, and aggregate its result in a "+
		"predicate of its own", map[core.Keep]string{core.KeepLeast: "Min",
		core.KeepGreatest: "Max"}[keep.Keeps])
}

func boundWord(k core.Keep) string {
	if k == core.KeepLeast {
		return "< and <="
	}
	return "> and >="
}

// shownName is the name of a predicate without what the compiler adds to it.
func shownName(p *core.Pred) string {
	if end := strings.IndexAny(p.Name, "$#"); p.Hidden && end > 0 {
		return p.Name[:end]
	}
	return p.Name
}

// check reports whether the rule is monotone.
func (t *trends) check() bool {
	for _, l := range t.rule.Body {
		if a, ok := l.(*core.Atom); ok && t.members[a.Pred] && a.Pred.Improves() {
			t.values(a)
		}
	}
	for _, l := range t.rule.Body {
		switch l := l.(type) {
		case *core.Atom:
			t.atom(l)
		case *core.Let:
			if t.of[l.Var] != nil {
				t.refuse(l.Span, "compared with "+t.of[l.Var].Name+" by =",
					"a better value is another one, so that it equals nothing that the old one did")
			}
			t.moves[l.Var] = t.expr(l.Expr, l.Span)
			t.lets[l.Var] = l
		case *core.Test:
			t.test(l)
		case *core.Not:
			t.not(l)
		}
	}
	for i := range t.rule.Agg {
		t.aggregate(&t.rule.Agg[i])
	}
	t.head()
	return !t.failed
}

// aggregate notes how the result of an aggregation moves while the recursion
// finds more bindings. A count and a total only grow if no binding is
// replaced by another one, and a total if it is of what is not negative.
func (t *trends) aggregate(a *core.AggSpec) {
	switch a.Fn {
	case core.Min:
		t.moves[a.Out] = t.moves[a.In] | down
		return
	case core.Max:
		t.moves[a.Out] = t.moves[a.In] | up
		return
	case core.Count, core.CountDistinct:
	case core.Total:
		if !t.isPositive(a.In) {
			t.refuse(a.Span, a.In.Name+" may be negative",
				"a total grows with each binding only if none is below 0")
			t.help("test it in the body: %s >= 0", a.In.Name)
		}
	default:
		t.refuse(a.Span, a.Fn.String()+" can grow and shrink with more bindings",
			"the recursion finds bindings one after the other")
	}
	for _, l := range t.rule.Body {
		if atom, ok := l.(*core.Atom); ok && t.members[atom.Pred] && atom.Pred.Improves() {
			t.refuse(atom.Span, "a better value of "+shownName(atom.Pred)+" replaces this binding",
				"%s is over all bindings, and each may have a value at a time", a.Fn)
		}
	}
	if t.rule.Head.Pred.Keeps == core.KeepLeast {
		t.refuse(a.Span, "it grows while the recursion goes on", "%s keeps the least value",
			shownName(t.rule.Head.Pred))
	}
	t.moves[a.Out] = up
}

// isPositive reports whether a variable is known not to be negative.
func (t *trends) isPositive(x *core.Var) bool {
	if x.Type.Kind == scalar.Uint {
		return true
	}
	for _, l := range t.rule.Body {
		test, ok := l.(*core.Test)
		if !ok {
			continue
		}
		k, ok := test.Expr.(*core.Call)
		if !ok || len(k.Args) != 2 {
			continue
		}
		low, high := k.Args[1], k.Args[0] // of x > 0
		switch k.Func.Name {
		case "lt", "le":
			low, high = high, low
		case "gt", "ge":
		default:
			continue
		}
		v, isVar := high.(core.VarExpr)
		c, isConst := low.(core.Const)
		if isVar && v.Var == x && isConst && c.Value.Type.IsNumeric() && signOf(c.Value) != down {
			return true
		}
	}
	return false
}

// values notes the variable that has the value of an atom of the recursion.
func (t *trends) values(a *core.Atom) {
	p := a.Pred
	switch x := a.Args[p.Keys].(type) {
	case core.Const:
		t.refuse(a.Span, "a value of "+shownName(p)+" has to be this constant",
			"a better value of %s is another one", shownName(p))
	case *core.Var:
		if t.of[x] != nil {
			t.refuse(a.Span, "two values of the recursion have to be equal",
				"a better value of one of them equals the other no longer")
		}
		t.moves[x], t.of[x] = keeping[p.Keeps], p
	}
}

// atom requires that no value of the recursion is looked up.
func (t *trends) atom(a *core.Atom) {
	keys := a.Args
	if t.members[a.Pred] && a.Pred.Improves() {
		keys = a.Args[:a.Pred.Keys]
	}
	for _, arg := range keys {
		x, ok := arg.(*core.Var)
		if !ok || t.moves[x] == 0 {
			continue
		}
		if a.Pred.Hidden && strings.Contains(a.Pred.Name, "$range") {
			t.refuse(a.Span, t.text(x)+" is an end of this range",
				"a better %s gives another range, and the values of the old one stay", t.text(x))
		} else {
			t.refuse(a.Span, t.text(x)+" is looked up in "+shownName(a.Pred),
				"a better %s finds other tuples of %s", t.text(x), shownName(a.Pred))
		}
	}
}

// text is a variable as the user knows it.
func (t *trends) text(x *core.Var) string {
	if let := t.lets[x]; let != nil && strings.HasPrefix(x.Name, "$") {
		return let.Span.Text()
	}
	if p := t.of[x]; p != nil && strings.ContainsAny(x.Name, "$") {
		return "the value of " + shownName(p)
	}
	return x.Name
}

// test requires a comparison that stays true for better values.
func (t *trends) test(l *core.Test) {
	k, ok := l.Expr.(*core.Call)
	if !ok {
		return
	}
	if sign := sides[k.Func.Name]; sign != [2]direction{} && k.Func.Name != "eq" {
		left, right := t.expr(k.Args[0], l.Span), t.expr(k.Args[1], l.Span)
		// A side with a bound from above may shrink.
		if left&sign[0] == 0 && right&sign[1] == 0 {
			return
		}
		t.refuse(l.Span, "a better value can fail this comparison",
			"%s holds for some values and fails for better ones", l.Span.Text())
		return
	}
	if x := t.moving(l.Expr); x != nil {
		t.refuse(l.Span, "a better value can fail this condition",
			"of conditions on %s, only comparisons by %s hold for better values too", t.text(x),
			boundWord(t.keep(x)))
	}
}

// keep says which end of its values a moving variable comes from.
func (t *trends) keep(x *core.Var) core.Keep {
	if t.moves[x] == down {
		return core.KeepLeast
	}
	return core.KeepGreatest
}

// moving returns a variable of an expression that moves, or nil.
func (t *trends) moving(e core.Expr) *core.Var {
	for _, x := range core.ExprVars(e) {
		if t.moves[x] != 0 {
			return x
		}
	}
	return nil
}

// not requires that a negation reads no value of the recursion.
func (t *trends) not(l *core.Not) {
	var look func(body []core.Literal)
	found := func(xs []*core.Var) {
		for _, x := range xs {
			if t.moves[x] != 0 {
				t.refuse(l.Span, t.text(x)+" is looked up under this negation",
					"a better %s can be one for which the negated formula holds", t.text(x))
			}
		}
	}
	look = func(body []core.Literal) {
		for _, l := range body {
			switch l := l.(type) {
			case *core.Atom:
				found(l.Vars())
			case *core.Let:
				found(core.ExprVars(l.Expr))
			case *core.Test:
				found(core.ExprVars(l.Expr))
			case *core.Not:
				look(l.Body)
			}
		}
	}
	look(l.Body)
}

// head requires that values of the recursion become values that are kept alike.
func (t *trends) head() {
	p := t.rule.Head.Pred
	for i, arg := range t.rule.Head.Args {
		x, ok := arg.(*core.Var)
		if !ok || t.moves[x] == 0 {
			continue
		}
		name := shownName(p)
		at := t.rule.Head.Span
		if let := t.lets[x]; let != nil {
			at = let.Span
		}
		switch {
		case i < p.Keys && p.Functional():
			t.refuse(at, t.text(x)+" becomes a key of "+name,
				"a better %s makes another key, and the old one stays", t.text(x))
		case !p.Improves():
			t.refuse(at, t.text(x)+" becomes a column of "+name,
				"%s keeps each value that it gets, also those of which better ones are found later",
				name)
		case t.moves[x]&^keeping[p.Keeps] != 0:
			t.refuse(at, "this value can get worse while the one that it is computed from gets better",
				"%s keeps the %s value", name, p.Keeps)
		}
	}
}

// expr returns how an expression moves, and refuses a function that is not
// monotone. The place is that of the expression.
func (t *trends) expr(e core.Expr, at source.Span) direction {
	switch e := e.(type) {
	case core.VarExpr:
		return t.moves[e.Var]
	case *core.Call:
		if e.Span.IsValid() {
			at = e.Span
		}
		x := t.moving(e)
		if x == nil {
			return 0
		}
		d, ok := t.call(e, at)
		if !ok {
			t.refuse(at, fmt.Sprintf("%s is not known to grow with %s", at.Text(), t.text(x)),
				"a better %s can give a worse %s", t.text(x), at.Text())
		}
		return d
	}
	return 0
}

// call returns how the result of a function moves, if the function is monotone
// in each argument that moves.
func (t *trends) call(k *core.Call, at source.Span) (direction, bool) {
	args := make([]direction, len(k.Args))
	for i, a := range k.Args {
		args[i] = t.expr(a, at)
	}
	switch k.Func.Name {
	case "convert":
		return args[0], widens(k)
	case "add", "min", "max":
		if k.Result.IsNumeric() || k.Func.Name != "add" {
			return args[0] | args[1], true
		}
	case "sub":
		return args[0] | args[1].reversed(), true
	case "neg":
		return args[0].reversed(), true
	case "datetime:add":
		return args[0], !slices.ContainsFunc(args[1:], func(d direction) bool { return d != 0 })
	case "mul", "div":
		moving, by := args[0], k.Args[1]
		if moving == 0 && k.Func.Name == "mul" {
			moving, by = args[1], k.Args[0]
		}
		c, ok := constant(by)
		switch {
		case !ok || moving == 0:
			return both, false
		case c == down:
			return moving.reversed(), true
		case c == up:
			return moving, true
		}
		return 0, true
	}
	return both, false
}

// constant returns the sign of a constant number, perhaps converted.
func constant(e core.Expr) (direction, bool) {
	if k, ok := e.(*core.Call); ok && k.Func.Name == "convert" {
		return constant(k.Args[0])
	}
	c, ok := e.(core.Const)
	if !ok || !c.Value.Type.IsNumeric() {
		return 0, false
	}
	return signOf(c.Value), true
}

// endless returns the place of the value of the head if each round may improve
// it further: least values that become less, for example over edges whose
// length can be negative.
func (t *trends) endless() source.Span {
	p := t.rule.Head.Pred
	if !p.Improves() {
		return source.Span{}
	}
	x, ok := t.rule.Head.Args[p.Keys].(*core.Var)
	if !ok || t.lets[x] == nil || t.moves[x] == 0 {
		return source.Span{}
	}
	if t.shift(t.lets[x].Expr)&keeping[p.Keeps] == 0 {
		return source.Span{}
	}
	return t.lets[x].Span
}

// shift returns the directions in which an expression may differ from the
// moving variables that it is computed from.
func (t *trends) shift(e core.Expr) direction {
	switch e := e.(type) {
	case core.VarExpr:
		if let := t.lets[e.Var]; let != nil {
			return t.shift(let.Expr)
		}
	case *core.Call:
		switch e.Func.Name {
		case "min", "max", "convert":
			d := direction(0)
			for _, a := range e.Args {
				d |= t.shift(a)
			}
			return d
		}
		return movement(e)
	}
	return 0
}
