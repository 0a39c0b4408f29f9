package desugar

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
)

// specified returns the clauses that a clause with list<<>>, list_to_seq<<>> or
// series<<>> becomes; itself if it has none of them, or has a form that
// semantic analysis refuses.
func (g *generator) specified(c *ast.Clause) []*ast.Clause {
	if e := orderedType(c); e != "" {
		return g.order(c, e)
	}
	if c.P2P == nil || c.Right == nil {
		return []*ast.Clause{c}
	}
	var out []*ast.Clause
	switch c.P2P.Name {
	case "list":
		out = g.list(c)
	case "list_to_seq":
		out = g.listToSeq(c)
	case "series":
		out = g.series(c)
	}
	if out == nil {
		return []*ast.Clause{c}
	}
	return out
}

// function returns the parts of f[k...] = v.
func function(n ast.Node) (f *ast.Apply, v ast.Node, ok bool) {
	eq, ok := ast.Unparen(n).(*ast.Compare)
	if !ok || len(eq.Operands) != 2 || eq.Ops[0] != "=" {
		return nil, nil, false
	}
	f, ok = ast.Unparen(eq.Operands[0]).(*ast.Apply)
	return f, eq.Operands[1], ok && f.Square
}

// clauseOf returns a rule that stands for the clause that is rewritten.
func (g *generator) clauseOf(head ast.Node, body ...ast.Node) *ast.Clause {
	return &ast.Clause{Span: g.of.Span, Arrow: ast.Rule, Left: head,
		Right: conjunction(body, head.Pos()), PartOf: g.of}
}

// list rewrites first[g...] = x, next[g..., x] = y <- list<<>> a(g..., x): the
// tuples of each group, in ascending order of x.
func (g *generator) list(c *ast.Clause) []*ast.Clause {
	heads := conjuncts(c.Left)
	if len(heads) != 2 {
		return nil
	}
	first, x, ok := function(heads[0])
	next, y, alsoOK := function(heads[1])
	atom, isAtom := ast.Unparen(c.Right).(*ast.Apply)
	if !ok || !alsoOK || !isAtom || atom.Square {
		return nil
	}
	if len(first.Args) > len(next.Args) {
		first, x, next, y = next, y, first, x
	}
	groups := len(atom.Args) - 1
	if len(first.Args) != groups || len(next.Args) != groups+1 {
		return nil
	}
	g.places++
	at := c.P2P.Span
	rank := func(i, x ast.Node, keys []ast.Node) ast.Node {
		return compare(value(fmt.Sprintf("rank#%d", g.places), at, append(keys, i)...), "=", x, at)
	}
	vars := func() (keys []ast.Node) {
		for range groups {
			keys = append(keys, g.fresh(at))
		}
		return keys
	}
	keys, i, v := vars(), g.fresh(at), g.fresh(at)
	numbered := g.clauseOf(rank(i, v, keys),
		apply(atom.Name.Text, append(keys[:groups:groups], v), at))
	numbered.P2P = &ast.P2P{Span: at, Name: "seq"}
	of := func(f *ast.Apply, v ast.Node) ast.Node { return compare(f, "=", v, f.Span) }
	before := next.Args[groups]
	return []*ast.Clause{
		numbered,
		g.clauseOf(of(first, x), rank(number(0, at), x, first.Args[:groups:groups])),
		g.clauseOf(of(next, y), rank(i, before, next.Args[:groups:groups]),
			rank(binary("+", i, number(1, at), at), y, next.Args[:groups:groups])),
	}
}

// listToSeq rewrites a[i] = x <- list_to_seq<<>> first(x), next(x, y). hop says
// how many steps lead from one element to another, for powers of 2, so that n
// elements take log n rounds.
func (g *generator) listToSeq(c *ast.Clause) []*ast.Clause {
	f, _, ok := function(c.Left)
	body := conjuncts(c.Right)
	if !ok || len(f.Args) != 1 || len(body) != 2 {
		return nil
	}
	var names [2]string
	for i, n := range body {
		if a, _, ok := function(n); ok {
			names[i] = a.Name.Text
		} else if a, ok := ast.Unparen(n).(*ast.Apply); ok {
			names[i] = a.Name.Text
		} else {
			return nil
		}
	}
	g.places++
	at := c.P2P.Span
	hop := func(x, y, d ast.Node) ast.Node {
		return apply(fmt.Sprintf("hop#%d", g.places), []ast.Node{x, y, d}, at)
	}
	place := func(x, i ast.Node) ast.Node {
		return apply(fmt.Sprintf("place#%d", g.places), []ast.Node{x, i}, at)
	}
	x, i := &ast.Var{Span: at, Name: "x"}, &ast.Var{Span: at, Name: "i"}
	y, z, d := g.fresh(at), g.fresh(at), g.fresh(at)
	out := *f
	out.Args = []ast.Node{i}
	return []*ast.Clause{
		g.clauseOf(hop(x, y, number(1, at)), valueIs(names[1], y, at, x)),
		g.clauseOf(hop(x, z, binary("*", number(2, at), d, at)), hop(x, y, d), hop(y, z, d)),
		g.clauseOf(place(x, number(0, at)), valueIs(names[0], x, at)),
		g.clauseOf(place(y, binary("+", i, d, at)), place(x, i), hop(x, y, d)),
		g.clauseOf(compare(&out, "=", x, at), place(x, i)),
	}
}

// valueIs returns f[keys] = v.
func valueIs(f string, v ast.Node, at source.Span, keys ...ast.Node) ast.Node {
	return compare(value(f, at, keys...), "=", v, at)
}
