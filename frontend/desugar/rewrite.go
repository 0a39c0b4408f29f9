package desugar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// IsName reports whether a predicate is one of this package. No program can
// write such a name.
func IsName(name string) bool { return strings.Contains(name, "#") }

// IsVariable reports whether a variable is one of this package.
func IsVariable(name string) bool {
	return strings.HasPrefix(name, "_made") && strings.HasSuffix(name, "$")
}

// demand names the predicates of keys that are asked for, without their number.
const demand = "demand#"

// Rewrite returns the files without shorthand. A file that has none is returned
// as it is.
func Rewrite(files []*ast.File) []*ast.File {
	g := &generator{defaults: defaultsOf(files)}
	out := slices.Clone(files)
	for i, f := range files {
		var clauses []*ast.Clause
		changed := false
		for _, c := range f.Clauses {
			g.made, g.of = nil, c
			node := g.unfold(c)
			for _, part := range g.parts(node) {
				node := g.clause(part)
				changed = changed || node != c
				clauses = append(clauses, node)
			}
			clauses = append(clauses, g.made...)
		}
		if changed {
			out[i] = &ast.File{Source: f.Source, Comments: f.Comments, Clauses: clauses}
		}
	}
	return out
}

// parts returns the clauses that a clause becomes, apart from defaults.
func (g *generator) parts(c *ast.Clause) []*ast.Clause {
	var out []*ast.Clause
	for _, c := range g.specified(c) {
		for _, c := range g.results(c) {
			out = append(out, g.conditionals(c)...)
		}
	}
	return out
}

// generator rewrites clauses one after the other. Each rewriting is at a place
// of its own, whose number is in the names of its predicates.
type generator struct {
	defaults map[string]ast.Node // by function
	left     []*ast.Apply        // applications of these that mean stored tuples alone
	places   int                 // that need predicates of their own, so far
	vars     int                 // made up so far
	of       *ast.Clause         // the clause that is rewritten
	made     []*ast.Clause       // its demands and enumerations
}

// clause returns a clause without generators.
func (g *generator) clause(c *ast.Clause) *ast.Clause {
	if !g.isShort(c.Left) && !g.isShort(c.Right) {
		return c
	}
	out := *c
	left, right := c.Left, c.Right
	not, isDenial := ast.Unparen(left).(*ast.Not)
	switch {
	case c.Arrow == ast.Constraint:
		around := g.formula(&left, context{})
		if right != nil {
			g.formula(&right, around)
		}
	case isDenial && right == nil:
		x := not.X
		g.formula(&x, context{})
		if x != not.X {
			left = &ast.Not{Span: not.Span, X: x}
		}
	case c.Update == "":
		head, equations := g.emptied(left)
		if len(equations) > 0 {
			if right != nil {
				equations = append(conjuncts(right), equations...)
			}
			left, right = head, conjunction(equations, left.Pos())
			if c.Arrow == ast.Fact {
				out.Arrow = ast.Rule
			}
		}
		if right != nil {
			g.formula(&right, context{})
		}
	}
	if left == c.Left && right == c.Right {
		return c
	}
	out.Left, out.Right, out.PartOf = left, right, c
	if c.PartOf != nil {
		out.PartOf = c.PartOf
	}
	return &out
}

// emptied returns a head with variables for the expressions among its arguments
// that are rewritten, and the equations that give these variables their values.
func (g *generator) emptied(head ast.Node) (ast.Node, []ast.Node) {
	var equations []ast.Node
	argument := func(x ast.Node) ast.Node {
		if _, ok := ast.Unparen(x).(*ast.Var); ok || !g.isShort(x) {
			return x
		}
		v := g.fresh(x.Pos())
		equations = append(equations, compare(v, "=", x, x.Pos()))
		return v
	}
	var items []ast.Node
	for _, h := range conjuncts(head) {
		a, isApply := ast.Unparen(h).(*ast.Apply)
		f, v, isFunction := function(h)
		if isFunction {
			a = f
		}
		if !isApply && !isFunction {
			items = append(items, h)
			continue
		}
		atom := *a
		atom.Args = nil
		for _, x := range a.Args {
			atom.Args = append(atom.Args, argument(x))
		}
		if isFunction {
			items = append(items, compare(&atom, "=", argument(v), h.Pos()))
		} else {
			items = append(items, &atom)
		}
	}
	if len(equations) == 0 {
		return head, nil
	}
	return conjunction(items, head.Pos()), equations
}

// isShort reports whether a formula has a function with a default.
func (g *generator) isShort(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		a, ok := n.(*ast.Apply)
		found = found || ok && g.defaults[a.Name.Text] != nil
		return !found
	})
	return found
}

// context is what holds around a formula.
type context struct {
	items []ast.Node
	bound vars
}

// vars is a set of variables.
type vars map[string]bool

// formula rewrites a conjunction, and returns it as the context of what is
// under it.
func (g *generator) formula(n *ast.Node, around context) context {
	items := conjuncts(*n)
	c := &conj{g: g, around: around, items: slices.Clone(items)}
	for c.defaults() {
	}
	c.bindOthers()
	inside := context{slices.Concat(around.items, c.certain(c.items)), c.bound}
	for i, item := range c.items {
		c.items[i] = g.nested(item, inside)
	}
	if !slices.Equal(items, c.items) {
		*n = conjunction(c.items, (*n).Pos())
	}
	return inside
}

// nested rewrites the formulas in an item that are no part of its conjunction.
func (g *generator) nested(n ast.Node, around context) ast.Node {
	switch n := n.(type) {
	case *ast.Paren:
		if x := g.nested(n.X, around); x != n.X {
			return &ast.Paren{Span: n.Span, X: x}
		}
	case *ast.Not:
		x := n.X
		g.formula(&x, around)
		if x != n.X {
			return &ast.Not{Span: n.Span, X: x}
		}
	case *ast.Disj:
		items := slices.Clone(n.Items)
		for i := range items {
			g.formula(&items[i], around)
		}
		if !slices.Equal(items, n.Items) {
			return &ast.Disj{Span: n.Span, Items: items}
		}
	}
	return n
}

// conjuncts returns the items of a conjunction, without parentheses around
// conjunctions.
func conjuncts(n ast.Node) []ast.Node {
	if inner, ok := ast.Unparen(n).(*ast.Conj); ok {
		var out []ast.Node
		for _, x := range inner.Items {
			out = append(out, conjuncts(x)...)
		}
		return out
	}
	return []ast.Node{n}
}

func conjunction(items []ast.Node, span source.Span) ast.Node {
	if len(items) == 1 {
		return items[0]
	}
	return &ast.Conj{Span: span, Items: items}
}

// rule adds a clause of this package.
func (g *generator) rule(head ast.Node, body ...ast.Node) {
	c := &ast.Clause{Span: g.of.Span, Arrow: ast.Rule, Left: head, PartOf: g.of}
	if len(body) > 0 {
		c.Right = conjunction(body, head.Pos())
	}
	g.made = append(g.made, c)
}

// fresh makes up a variable.
func (g *generator) fresh(at source.Span) *ast.Var {
	g.vars++
	return &ast.Var{Span: at, Name: fmt.Sprintf("_made%d$", g.vars)}
}

// The trees of expressions and formulas.

func number(n int64, at source.Span) ast.Node {
	return &ast.Literal{Span: at, Value: scalar.OfInt(scalar.IntType, n), Raw: fmt.Sprint(n)}
}

func binary(op string, x, y ast.Node, at source.Span) ast.Node {
	return &ast.Binary{Span: at, Op: op, OpSpan: at, X: x, Y: y}
}

func compare(x ast.Node, op string, y ast.Node, at source.Span) ast.Node {
	return &ast.Compare{Span: at, Operands: []ast.Node{x, y}, Ops: []string{op},
		OpSpans: []source.Span{at}}
}

func apply(name string, args []ast.Node, at source.Span) *ast.Apply {
	return &ast.Apply{Span: at, Name: &ast.Name{Span: at, Text: name}, Args: args, Split: -1}
}

// value returns the application of a function.
func value(name string, at source.Span, args ...ast.Node) ast.Node {
	a := apply(name, args, at)
	a.Square = true
	return a
}

// mapped returns a node with its operands replaced.
func mapped(n ast.Node, f func(ast.Node) ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Paren:
		if x := f(n.X); x != n.X {
			return &ast.Paren{Span: n.Span, X: x}
		}
	case *ast.Unary:
		if x := f(n.X); x != n.X {
			return &ast.Unary{Span: n.Span, Op: n.Op, X: x}
		}
	case *ast.Binary:
		if x, y := f(n.X), f(n.Y); x != n.X || y != n.Y {
			return &ast.Binary{Span: n.Span, Op: n.Op, OpSpan: n.OpSpan, X: x, Y: y}
		}
	case *ast.In:
		if x := f(n.X); x != n.X {
			out := *n
			out.X = x
			return &out
		}
	case *ast.Compare:
		out := *n
		out.Operands = nil
		for _, x := range n.Operands {
			out.Operands = append(out.Operands, f(x))
		}
		if !slices.Equal(out.Operands, n.Operands) {
			return &out
		}
	}
	return n
}

// isLiteral reports whether a node is a literal, perhaps with a sign.
func isLiteral(n ast.Node) bool {
	switch n := ast.Unparen(n).(type) {
	case *ast.Literal:
		return true
	case *ast.Unary:
		return isLiteral(n.X)
	}
	return false
}
