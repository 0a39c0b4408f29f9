package desugar

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
)

// A conditional value is a variable that one of two alternatives binds:
//
//	(c, v = a ; !c, v = b)
//
// so only the chosen case needs a value. The condition binds nothing: c stands
// for !!c. A rule with many conditionals would have 2^n alternatives, so it
// gets its values one after the other, through predicates with all variables.
// The body of an aggregate becomes such a predicate as well, because it has no
// alternatives.

// maxConditionals is the number of conditionals that one rule multiplies out.
const maxConditionals = 3

// conditionals returns the clauses without conditional values that a clause
// becomes.
func (g *generator) conditionals(c *ast.Clause) []*ast.Clause {
	if !hasConditional(c.Left) && !hasConditional(c.Right) && !specifiesConditional(c.P2P) ||
		c.P2P != nil && c.P2P.Name != "agg" || isDirective(c) {
		return []*ast.Clause{c}
	}
	out := *c
	if out.PartOf == nil {
		out.PartOf = c
	}
	switch {
	case c.Arrow == ast.Constraint:
		out.Left, out.Right = g.chosen(c.Left), g.chosen(c.Right)
	case c.Arrow == ast.Fact && c.Update == "" && isDenial(c.Left):
		out.Left = g.chosen(c.Left)
	default:
		return g.conditionalRule(&out)
	}
	return []*ast.Clause{&out}
}

// isDirective reports whether a clause says something to the compiler.
func isDirective(c *ast.Clause) bool {
	found := false
	ast.EachName(c, func(_ source.Span, name string) {
		found = found || strings.HasPrefix(name, "lang:")
	})
	return found
}

func isDenial(left ast.Node) bool {
	_, ok := ast.Unparen(left).(*ast.Not)
	return ok
}

func hasConditional(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		_, ok := n.(*ast.If)
		found = found || ok
		return !found
	})
	return found
}

func specifiesConditional(p *ast.P2P) bool {
	return p != nil && slices.ContainsFunc(p.Specs, func(s *ast.Spec) bool {
		return hasConditional(s.In)
	})
}

// conditionalRule rewrites a rule, and returns it behind the rules of the
// predicates that it needs.
func (g *generator) conditionalRule(c *ast.Clause) []*ast.Clause {
	if c.Update != "" {
		c = g.totalled(c)
	}
	x := &extraction{g: g, direct: c.P2P == nil && conditionalsOf(c) <= maxConditionals}
	at := c.Left.Pos()
	if c.P2P == nil {
		c.Left = x.expression(c.Left)
	}
	if c.Right != nil {
		at = c.Right.Pos()
		body := c.Right
		if c.P2P != nil {
			body = g.named(body)
		}
		x.formula(body)
	}
	if c.P2P != nil {
		c.P2P = x.specifiers(c.P2P)
	}
	most := maxConditionals
	if c.P2P != nil {
		most = 0
	}
	var out []*ast.Clause
	for len(x.choices) > most {
		s := newStage(x.items, x.choices)
		next := s.next(x.choices)
		step := &ast.Clause{Span: c.Span, Arrow: ast.Rule, PartOf: c.PartOf,
			Right: conjunction(s.with(x.choices[next], len(x.choices) == 1), at)}
		g.places++
		helper := apply(fmt.Sprintf("%s#%d", owner(c), g.places), otherVariables(step.Right, nil),
			x.choices[next].of.Span)
		step.Left = helper
		out = append(out, step)
		x.items = append([]ast.Node{helper}, s.left...)
		x.choices = slices.Delete(x.choices, next, next+1)
	}
	c.Right = conjunction(x.all(), at)
	if c.Arrow == ast.Fact {
		c.Arrow = ast.Rule
	}
	return append(out, c)
}

// owner returns the name of the first predicate of a head.
func owner(c *ast.Clause) string {
	name := ""
	ast.EachName(&ast.Clause{Left: c.Left}, func(_ source.Span, x string) {
		if name == "" {
			name = x
		}
	})
	return name
}

// conditionalsOf returns the number of conditionals of a clause.
func conditionalsOf(c *ast.Clause) int {
	n := 0
	count := func(x ast.Node) bool {
		if _, ok := x.(*ast.If); ok {
			n++
		}
		return true
	}
	ast.Inspect(c.Left, count)
	ast.Inspect(c.Right, count)
	return n
}

// totalled returns total[k] += e as an aggregate.
func (g *generator) totalled(c *ast.Clause) *ast.Clause {
	out, in := g.fresh(c.Left.Pos()), g.fresh(c.Right.Pos())
	name := func(v *ast.Var) *ast.Name { return &ast.Name{Span: v.Span, Text: v.Name} }
	rule := *c
	rule.Arrow, rule.Update = ast.Rule, ""
	rule.Left = compare(c.Left, "=", out, c.Left.Pos())
	rule.Right = compare(in, "=", c.Right, c.Right.Pos())
	rule.P2P = &ast.P2P{Span: c.Right.Pos(), Name: "agg", Specs: []*ast.Spec{{Span: c.Span,
		Out: name(out), Fn: &ast.Name{Span: c.Left.Pos(), Text: "total"}, In: in}}}
	return &rule
}

// stage is a part of a body that one choice is added to.
type stage struct {
	items, left []ast.Node
	open, bound vars // open are the variables of the choices that are still to make
}

func newStage(items []ast.Node, choices []*choice) *stage {
	s := &stage{items: items, open: vars{}, bound: vars{}}
	for _, choice := range choices {
		s.open[choice.v.Name] = true
	}
	for n := -1; n < len(s.bound); {
		n = len(s.bound)
		for _, item := range items {
			if !s.waits(item) {
				binds(item, s.bound)
			}
		}
	}
	return s
}

// next returns the first choice that needs no variable of items that wait for
// another one.
func (s *stage) next(choices []*choice) int {
	late := vars{}
	for _, item := range s.items {
		if !s.isKnown(item) {
			names(item, late)
		}
	}
	maps.DeleteFunc(late, func(v string, _ bool) bool { return s.bound[v] })
	return max(0, slices.IndexFunc(choices, func(choice *choice) bool {
		own := vars{}
		names(choice.of, own)
		delete(own, choice.v.Name)
		for v := range own {
			if late[v] {
				return false
			}
		}
		return true
	}))
}

// with returns a choice with the items that need no other choice. The others
// are left. If all is set, no item is.
func (s *stage) with(choice *choice, all bool) []ast.Node {
	var taken []ast.Node
	for _, item := range s.items {
		if all || s.isKnown(item) {
			taken = append(taken, item)
		} else {
			s.left = append(s.left, item)
		}
	}
	return append(taken, choice.of)
}

// isKnown reports whether all variables of an item have values.
func (s *stage) isKnown(item ast.Node) bool {
	c := &conj{bound: s.bound}
	return !s.waits(item) && c.isKnown(item)
}

// waits reports whether an item has the variable of a choice that is still to
// make.
func (s *stage) waits(item ast.Node) bool {
	own := vars{}
	names(item, own)
	for v := range own {
		if s.open[v] {
			return true
		}
	}
	return false
}

// chosen returns a formula without conditional values.
func (g *generator) chosen(n ast.Node) ast.Node {
	if n == nil || !hasConditional(n) {
		return n
	}
	x := &extraction{g: g, direct: true}
	x.formula(n)
	return conjunction(x.all(), n.Pos())
}

// choice is the alternatives that bind a variable to a conditional value.
type choice struct {
	v  *ast.Var
	of *ast.Disj
}

// extraction takes the conditional values out of a conjunction.
type extraction struct {
	g       *generator
	items   []ast.Node
	choices []*choice
	// direct is set if v = if ... needs no other variable than v.
	direct bool
}

func (x *extraction) all() []ast.Node {
	out := x.items
	for _, choice := range x.choices {
		out = append(out, choice.of)
	}
	return out
}

// formula adds the items of a conjunction.
func (x *extraction) formula(n ast.Node) {
	for _, item := range conjuncts(n) {
		if v, of, ok := conditionalEquation(item); ok && x.direct {
			x.choices = append(x.choices, x.g.choice(of, v))
			continue
		}
		item = x.g.inside(item)
		if _, isIf := ast.Unparen(item).(*ast.If); !isIf {
			item = x.expression(item) // semantic analysis refuses a value here
		}
		x.items = append(x.items, item)
	}
}

// conditionalEquation returns the parts of v = if c then a else b.
func conditionalEquation(n ast.Node) (v *ast.Var, of *ast.If, ok bool) {
	eq, ok := ast.Unparen(n).(*ast.Compare)
	if !ok || len(eq.Ops) != 1 || eq.Ops[0] != "=" {
		return nil, nil, false
	}
	for i, side := range eq.Operands {
		v, isVar := ast.Unparen(side).(*ast.Var)
		of, isIf := ast.Unparen(eq.Operands[1-i]).(*ast.If)
		if isVar && isIf {
			return v, of, true
		}
	}
	return nil, nil, false
}

// inside returns an item in which the formulas of negations and alternatives
// have no conditional values.
func (g *generator) inside(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Paren:
		if x := g.inside(n.X); x != n.X {
			return &ast.Paren{Span: n.Span, X: x}
		}
	case *ast.Not:
		if x := g.chosen(n.X); x != n.X {
			return &ast.Not{Span: n.Span, X: x}
		}
	case *ast.Disj:
		out := &ast.Disj{Span: n.Span}
		for _, x := range n.Items {
			out.Items = append(out.Items, g.chosen(x))
		}
		return out
	}
	return n
}

// expression returns an item or expression with variables for its conditional
// values.
func (x *extraction) expression(n ast.Node) ast.Node {
	if !hasConditional(n) {
		return n
	}
	each := func(nodes []ast.Node) []ast.Node {
		out := make([]ast.Node, len(nodes))
		for i, n := range nodes {
			out[i] = x.expression(n)
		}
		return out
	}
	switch n := n.(type) {
	case *ast.If:
		v := x.g.fresh(n.Span)
		x.choices = append(x.choices, x.g.choice(n, v))
		return v
	case *ast.Conj:
		return &ast.Conj{Span: n.Span, Items: each(n.Items)}
	case *ast.Apply:
		out := *n
		out.Args = each(n.Args)
		return &out
	case *ast.RefMode:
		return &ast.RefMode{Span: n.Span, X: x.expression(n.X), V: x.expression(n.V)}
	}
	return mapped(n, x.expression)
}

// specifiers returns a specifier whose arguments are without conditional
// values.
func (x *extraction) specifiers(p *ast.P2P) *ast.P2P {
	out := *p
	out.Specs = nil
	for _, s := range p.Specs {
		spec := *s
		if hasConditional(s.In) {
			spec.In = x.expression(s.In)
			if _, isVar := spec.In.(*ast.Var); !isVar {
				in := x.g.fresh(s.In.Pos())
				x.items = append(x.items, compare(in, "=", spec.In, s.In.Pos()))
				spec.In = in
			}
		}
		out.Specs = append(out.Specs, &spec)
	}
	return &out
}

// choice returns the alternatives that give a variable a conditional value.
func (g *generator) choice(n *ast.If, v *ast.Var) *choice {
	fails := &ast.Not{Span: n.Cond.Pos(), X: g.chosen(n.Cond)}
	holds := &ast.Not{Span: n.Cond.Pos(), X: fails}
	arm := func(cond, value ast.Node) ast.Node {
		at := value.Pos()
		x := &extraction{g: g, items: []ast.Node{cond}}
		if of, ok := ast.Unparen(value).(*ast.If); ok {
			return &ast.Conj{Span: at, Items: append(x.items, g.choice(of, v).of)}
		}
		x.items = append(x.items, compare(v, "=", x.expression(value), at))
		return &ast.Conj{Span: at, Items: x.all()}
	}
	return &choice{v, &ast.Disj{Span: n.Span,
		Items: []ast.Node{arm(holds, n.Then), arm(fails, n.Else)}}}
}
