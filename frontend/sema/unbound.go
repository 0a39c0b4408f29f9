package sema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// unbound collects the variables of a clause that nothing binds, over all of
// its alternatives.
type unbound struct {
	clause       *clause
	alternatives int
	vars         []*normal.Var // one for each name, in order of discovery
	seen         map[*normal.Var]bool
	count        map[string]int // alternatives in which a name is unbound
	// why is the note if the variables would have values were they integers.
	why string
}

func (r *unbound) add(v *normal.Var) {
	if r.seen == nil {
		r.seen, r.count = map[*normal.Var]bool{}, map[string]int{}
	}
	if r.seen[v] {
		return
	}
	r.seen[v] = true
	if r.count[v.Base]++; r.count[v.Base] == 1 || v.Made {
		r.vars = append(r.vars, v)
	}
}

// reportUnbound keeps a report until types are known, because a good suggestion
// needs them.
func (c *checker) reportUnbound(r *unbound, alternatives int) {
	if len(r.vars) == 0 {
		return
	}
	r.alternatives = alternatives
	c.unbound = append(c.unbound, r)
}

// explainUnbound reports the unbound variables of all clauses.
func (c *checker) explainUnbound() {
	for _, r := range c.unbound {
		r.clause.Broken = true
		c.poisonHeads(r.clause)
	}
	for _, r := range c.unbound {
		r.vars = r.causes()
		named := slices.ContainsFunc(r.vars, isNamed)
		for _, v := range r.vars {
			switch {
			case isNamed(v):
				c.explainVariable(r, v)
			case strings.HasPrefix(v.Name, "_"):
				d := c.Errorf(diag.UnboundVariable, v.Span, "_ has no value here")
				d.Note("_ stands for any value only as a plain argument of an atom")
				d.Help("name a variable and bind it with an atom")
			case !named && len(r.vars) == 1:
				c.Errorf(diag.UnboundVariable, v.Span, "%s has no value", v.Span.Text())
			}
		}
	}
}

// isNamed reports whether the program has the name of a variable.
func isNamed(v *normal.Var) bool { return !v.Made && !v.Short }

// causes drops the variables that would have a value if another one of the
// report had.
func (r *unbound) causes() []*normal.Var {
	missing := map[string]bool{}
	for _, v := range r.vars {
		missing[v.Base] = true
	}
	follows := map[string]bool{}
	var look func(body []normal.Literal)
	look = func(body []normal.Literal) {
		for _, l := range body {
			switch l := l.(type) {
			case *normal.Negation:
				look(l.Body)
			case *normal.Test:
				k, ok := l.Expr.(*normal.Call)
				if !ok || k.Name != "eq" {
					continue
				}
				for i, side := range k.Args {
					v, ok := side.(normal.Ref)
					if !ok {
						continue
					}
					normal.EachVar(k.Args[1-i], func(other normal.Ref) {
						if other.Var != v.Var && missing[other.Var.Base] {
							follows[v.Var.Base] = true
						}
					})
				}
			}
		}
	}
	for _, u := range r.clause.Units {
		look(u.Body)
	}
	var out []*normal.Var
	for _, v := range r.vars {
		if !follows[v.Base] {
			out = append(out, v)
		}
	}
	if len(out) > 0 {
		return out
	}
	return r.vars[max(0, slices.IndexFunc(r.vars, isNamed)):][:1]
}

// place is an occurrence that does not bind its variable, and why.
type place struct {
	span   source.Span
	kind   placeKind
	detail string
}

type placeKind uint8

const (
	placeHead placeKind = iota
	placeNegation
	placeCondition // of a conditional value
	placeComparison
	placeEquation
	placeExpression
	placeInverse // inside + or - on one side of an equality
	placeKey     // inside + or - as an argument of an atom
	placeFunction
	placeAggregate
	placeOrder
	placeAtom
)

var placeNames = [...]string{
	placeHead:       "in the head",
	placeNegation:   "under negation",
	placeCondition:  "in a condition",
	placeComparison: "in a comparison",
	placeEquation:   "in an equality whose other side has no value either",
	placeExpression: "inside an expression",
	placeInverse:    "inside an expression",
	placeKey:        "inside an expression",
	placeFunction:   "as an argument of a function",
	placeAggregate:  "in an aggregate",
	placeOrder:      "in an order",
	placeAtom:       "in some alternatives",
}

func (p place) remark(name string) string {
	switch p.kind {
	case placeHead:
		return "the head needs a value of " + name
	case placeNegation:
		return "a negated formula tests " + name + ", it does not bind it"
	case placeCondition:
		return "a condition tests " + name + ", it does not bind it"
	case placeComparison:
		return "a comparison tests " + name + ", it does not bind it"
	case placeEquation:
		return "this would bind " + name + " if the other side had a value"
	case placeExpression, placeInverse, placeKey:
		return name + " is needed to compute this"
	case placeFunction:
		return p.detail + " needs a value of " + name
	case placeAggregate:
		return "the aggregate needs a value of " + name
	case placeOrder:
		return "the order needs a value of " + name
	}
	return "bound here, but only in this alternative"
}

func (c *checker) explainVariable(r *unbound, v *normal.Var) {
	cl := r.clause
	places := occurrences(cl, v.Base)
	if len(places) == 0 {
		places = []place{{span: v.Span}}
	}
	if c.explainInvention(cl, v, places) ||
		c.explainNull(cl, v) || c.explainName(cl, v) {
		return
	}
	code := diag.UnboundVariable
	message := fmt.Sprintf("variable %s is not bound by a positive atom", v.Base)
	some := slices.ContainsFunc(places, func(p place) bool { return p.kind == placeAtom })
	if some && r.alternatives > 1 && r.count[v.Base] < r.alternatives {
		code = diag.UnboundInAlternative
		message = fmt.Sprintf("variable %s is bound in only %d of %d alternatives", v.Base,
			r.alternatives-r.count[v.Base], r.alternatives)
	}
	d := c.Errorf(code, places[0].span, "%s", message)
	d.At = places[0].remark(v.Base)
	for _, p := range places[1:] {
		d.Label(p.span, "%s", p.remark(v.Base))
	}
	if code == diag.UnboundVariable {
		var kinds []string
		for _, p := range places {
			if name := placeNames[p.kind]; !slices.Contains(kinds, name) {
				kinds = append(kinds, name)
			}
		}
		d.Note("%s occurs only %s", v.Base, joinAnd(kinds))
		if r.why != "" {
			c.explainNonInteger(r, d, v, places)
			return
		}
		for _, p := range places {
			if p.kind == placeInverse {
				d.Note("an equality binds a variable if all others in it have values")
				break
			}
		}
		d.Help("bind it first, for example with %s", c.binder(cl, v))
		return
	}
	d.Help("bind %s in every alternative, for example with %s, or write the alternatives as rules "+
		"of their own", v.Base, c.binder(cl, v))
}

// explainNonInteger says why a variable that is no integer has no value.
func (c *checker) explainNonInteger(r *unbound, d *diag.Diagnostic, v *normal.Var, places []place) {
	d.Note("%s", r.why)
	for _, p := range places {
		if (p.kind == placeKey || p.kind == placeInverse) && v.NotInteger.IsNumeric() {
			d.Help("%s", p.detail)
			return
		}
	}
	d.Help("bind %s with an atom of its own", v.Base)
}

func joinAnd(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// explainInvention recognises value invention, `E(e), E:cons[k] = e <- body.`:
// a variable that several heads share and the body does not have.
func (c *checker) explainInvention(cl *clause, v *normal.Var, places []place) bool {
	heads := 0
	for _, h := range cl.heads {
		if cl.kind == ruleClause && occurrence(h, v.Base) != nil {
			heads++
		}
	}
	for _, p := range places {
		if p.kind != placeHead {
			return false
		}
	}
	if heads < 2 {
		return false
	}
	c.refuse(places[0].span,
		fmt.Sprintf("creating new values (%s occurs in several heads and not in the body)", v.Base),
		fmt.Sprintf("bind %s in the body, for example to the key that identifies it", v.Base))
	return true
}

// occurrences returns the places where a clause has the variable, in text
// order.
func occurrences(cl *clause, name string) []place {
	w := &placeWalk{name: name}
	if cl.kind == constraintClause {
		w.formula(cl.heads[0], false)
		w.formula(cl.body, true)
	} else {
		for _, h := range cl.heads {
			a, value := headAtom(h)
			if a == nil {
				continue
			}
			for _, arg := range append(a.Args[:len(a.Args):len(a.Args)], value) {
				if v, ok := ast.Unparen(arg).(*ast.Var); ok {
					if v.Name == name {
						w.places = append(w.places, place{span: v.Span, kind: placeHead})
					}
				} else {
					w.expression(arg, placeHead, "")
				}
			}
		}
		if p2p := cl.Node.P2P; p2p != nil {
			for _, s := range p2p.Specs {
				w.expression(s.In, placeAggregate, "")
				w.orders(s)
			}
		}
		if cl.Node.Update != "" {
			w.expression(cl.Node.Right, placeExpression, "")
		} else {
			w.formula(cl.body, false)
		}
	}
	slices.SortStableFunc(w.places, func(a, b place) int { return a.span.Start - b.span.Start })
	// The condition of a conditional value stands in both alternatives.
	return slices.Compact(w.places)
}

type placeWalk struct {
	name      string
	places    []place
	condition bool // inside of the condition of a conditional value
}

func (w *placeWalk) add(span source.Span, kind placeKind, detail string) {
	if kind == placeNegation && w.condition {
		kind = placeCondition
	}
	w.places = append(w.places, place{span, kind, detail})
}

func (w *placeWalk) formula(n ast.Node, negated bool) {
	switch n := n.(type) {
	case *ast.Conj:
		for _, x := range n.Items {
			w.formula(x, negated)
		}
	case *ast.Disj:
		for _, x := range n.Items {
			w.formula(x, negated)
		}
	case *ast.Paren:
		w.formula(n.X, negated)
	case *ast.Not:
		outer := w.condition
		// A negation that nobody has written begins where its formula does.
		w.condition = outer || n.Span.Start == n.X.Pos().Start
		w.formula(n.X, true)
		w.condition = outer
	case *ast.In:
		kind := placeComparison
		if negated {
			kind = placeNegation
		}
		w.expression(n.X, kind, "")
	case *ast.Compare:
		kind := placeComparison
		if len(n.Ops) == 1 && n.Ops[0] == "=" {
			kind = placeEquation
			if isMadeUp(n.Operands[0]) || isMadeUp(n.Operands[1]) {
				kind = placeExpression
			}
			// f[k] = x is an atom, and binds x.
			if isFunctionAtom(ast.Unparen(n.Operands[0])) ||
				isFunctionAtom(ast.Unparen(n.Operands[1])) {
				kind = placeAtom
			}
		}
		if negated {
			kind = placeNegation
		}
		for i, x := range n.Operands {
			if b, ok := ast.Unparen(x).(*ast.Binary); ok && kind == placeEquation &&
				(b.Op == "+" || b.Op == "-") {
				if other := n.Operands[1-i]; occurrence(other, w.name) == nil {
					if inverse, ok := solve(b, w.name, other.Pos().Text()); ok {
						w.expression(x, placeInverse, fmt.Sprintf("write %s = %s", w.name, inverse))
						continue
					}
				}
			}
			w.expression(x, kind, "")
		}
	case *ast.Apply:
		kind, detail := placeAtom, ""
		switch {
		case negated:
			kind = placeNegation
		case scalar.IsBuiltin(n.Name.Text):
			kind, detail = placeFunction, n.Name.Text
		case isTypeName(n.Name.Text):
			kind = placeComparison
		}
		for _, x := range n.Args {
			w.argument(x, kind, detail)
		}
	}
}

// isMadeUp reports whether an expression is a variable that stands for another
// expression.
func isMadeUp(n ast.Node) bool {
	v, ok := ast.Unparen(n).(*ast.Var)
	return ok && desugar.IsVariable(v.Name)
}

// argument walks an argument of an atom, where arithmetic could be inverted.
func (w *placeWalk) argument(n ast.Node, kind placeKind, detail string) {
	if b, ok := ast.Unparen(n).(*ast.Binary); ok && kind == placeAtom &&
		(b.Op == "+" || b.Op == "-") {
		w.expression(n, placeKey, inverted(b, w.name))
		return
	}
	w.expression(n, kind, detail)
}

// inverted returns how to write the argument of an atom so that it binds the
// variable.
func inverted(b *ast.Binary, name string) string {
	if e, ok := solve(b, name, "k"); ok {
		return fmt.Sprintf("write k for %s in the atom, and %s = %s after it", b.Span.Text(), name,
			e)
	}
	return fmt.Sprintf("bind %s with an atom of its own", name)
}

// solve returns the expression of a variable, an operand of a sum or
// difference, for which that has the given result.
func solve(b *ast.Binary, name, result string) (string, bool) {
	x, y := b.X.Pos().Text(), b.Y.Pos().Text()
	switch {
	case x == name && b.Op == "+":
		return result + " - " + y, true
	case x == name && b.Op == "-":
		return result + " + " + y, true
	case y == name && b.Op == "+":
		return result + " - " + x, true
	case y == name && b.Op == "-":
		return x + " - " + result, true
	}
	return "", false
}

// orders finds the variable in the order and the partition of a specifier.
func (w *placeWalk) orders(s *ast.Spec) {
	for _, arg := range s.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if v, ok := n.(*ast.Var); ok && v.Name == w.name {
				w.add(v.Span, placeOrder, "")
			}
			return true
		})
	}
}

func (w *placeWalk) expression(n ast.Node, kind placeKind, detail string) {
	switch n := n.(type) {
	case *ast.Var:
		if n.Name == w.name {
			w.add(n.Span, kind, detail)
		}
	case *ast.Paren:
		w.expression(n.X, kind, detail)
	case *ast.Binary:
		if kind == placeAtom || kind == placeHead || kind == placeEquation ||
			kind == placeComparison {
			kind = placeExpression
		}
		w.expression(n.X, kind, detail)
		w.expression(n.Y, kind, detail)
	case *ast.Unary:
		w.expression(n.X, kind, detail)
	case *ast.Apply:
		inner := kind
		if scalar.IsBuiltin(n.Name.Text) {
			if kind != placeNegation {
				inner, detail = placeFunction, n.Name.Text
			}
		} else if kind != placeNegation {
			inner = placeAtom
		}
		for _, x := range n.Args {
			w.argument(x, inner, detail)
		}
	}
}

// maxSuggestions bounds the searches for a binding atom, each of which looks at
// all predicates.
const maxSuggestions = 200

// binder returns an atom that would bind the variable: of a predicate with an
// argument of its type, best a unary one, then the one whose negation it is in,
// then one that names an argument like the variable.
func (c *checker) binder(cl *clause, v *normal.Var) string {
	typ, typed := c.types.TypeOf(v.Node)
	var best *pred
	bestColumn, bestScore := 0, -1
	heads := map[*normal.Pred]bool{}
	negated, denied := map[*normal.Pred]int{}, map[*normal.Pred]int{} // by column + 1
	positive := map[*normal.Pred]bool{}
	for _, u := range cl.Units {
		for _, h := range u.Heads {
			heads[h.Pred] = true
		}
		for _, l := range u.Body {
			if a, ok := l.(*normal.Atom); ok {
				positive[a.Pred] = true
			}
			n, ok := l.(*normal.Negation)
			if !ok {
				continue
			}
			for _, inner := range n.Body {
				a, ok := inner.(*normal.Atom)
				if !ok {
					continue
				}
				others := 0
				for i, t := range a.Args {
					if r, ok := t.(normal.Ref); ok && r.Var.Base == v.Base {
						negated[a.Pred] = i + 1
					} else if !ok || !r.Var.Made {
						others++
					}
				}
				if others == 0 && len(a.Args) > 1 && cl.kind == ruleClause {
					denied[a.Pred] = negated[a.Pred]
				}
			}
		}
	}
	c.suggested++
	for _, p := range c.order {
		if c.suggested > maxSuggestions {
			break
		}
		if heads[&p.Pred] || p.Query || p.Hidden || p.Poisoned || !p.exists() {
			continue
		}
		for i, node := range p.Columns {
			score := 0
			if denied[&p.Pred] == i+1 {
				continue // what binds contradicts the negation
			}
			if t, ok := c.types.TypeOf(node); typed && (!ok || t != typ) {
				continue
			} else if typed {
				score += 2
			} else if positive[&p.Pred] {
				score++
			}
			if p.Arity == 1 && negated[&p.Pred] == 0 && typed {
				score += 4
			}
			if negated[&p.Pred] == i+1 && p.Arity > 1 {
				score += 3
			}
			if i < len(p.ArgNames) && p.ArgNames[i] == v.Base {
				score += 2
			}
			if score > bestScore && score > 0 {
				best, bestColumn, bestScore = p, i, score
			}
		}
	}
	if best == nil {
		return "an atom that has it as an argument"
	}
	args := make([]string, best.Arity)
	for i := range args {
		args[i] = "_"
	}
	args[bestColumn] = v.Base
	return core.AtomText(best.Name, best.Keys, args)
}

// drop takes a variable out of the report.
func (r *unbound) drop(v *normal.Var) {
	if !r.seen[v] {
		return
	}
	delete(r.seen, v)
	if r.count[v.Base]--; r.count[v.Base] == 0 || v.Made {
		r.vars = slices.DeleteFunc(r.vars, func(x *normal.Var) bool {
			return x == v || x.Base == v.Base
		})
	}
}
