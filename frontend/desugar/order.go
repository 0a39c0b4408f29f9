package desugar

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// orderedType returns the type of a directive lang:ordered(`e), or "".
func orderedType(c *ast.Clause) string {
	a, ok := ast.Unparen(c.Left).(*ast.Apply)
	if !ok || c.Right != nil || a.Name.Text != "lang:ordered" || len(a.Args) != 1 {
		return ""
	}
	ref, ok := ast.Unparen(a.Args[0]).(*ast.PredRef)
	if !ok {
		return ""
	}
	return ref.Name
}

// order returns the rules of first, last and next of an entity type in place of
// its directive.
func (g *generator) order(c *ast.Clause, e string) []*ast.Clause {
	g.places++
	at := c.Span
	rank := fmt.Sprintf("rank#%d", g.places)
	x, y := &ast.Var{Span: at, Name: "x"}, &ast.Var{Span: at, Name: "y"}
	i := g.fresh(at)
	numbered := g.clauseOf(valueIs(rank, x, at, i), apply(e, []ast.Node{x}, at))
	numbered.P2P = &ast.P2P{Span: at, Name: "seq"}
	name := func(part string) string { return e + ":" + part }
	return []*ast.Clause{
		numbered,
		g.clauseOf(valueIs(name("first"), x, at), valueIs(rank, x, at, number(0, at))),
		g.clauseOf(valueIs(name("next"), y, at, x), valueIs(rank, x, at, i),
			valueIs(rank, y, at, binary("+", i, number(1, at), at))),
		g.clauseOf(valueIs(name("last"), x, at), valueIs(rank, x, at, i), &ast.Not{Span: at,
			X: valueIs(rank, &ast.Wildcard{Span: at}, at, binary("+", i, number(1, at), at))}),
	}
}
