package desugar

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// unfold returns a clause without hierarchical syntax: x is the first key of
// each atom within q(x) { ... }.
func (g *generator) unfold(c *ast.Clause) *ast.Clause {
	left, right := g.unfolded(c.Left), g.unfolded(c.Right)
	if left == c.Left && right == c.Right {
		return c
	}
	out := *c
	out.Left, out.Right = left, right
	return &out
}

func (g *generator) unfolded(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Block:
		head, ok := ast.Unparen(n.Head).(*ast.Apply)
		if !ok || len(head.Args) != 1 || head.Square {
			return n // semantic analysis refuses it
		}
		items := []ast.Node{head}
		for _, x := range n.Items {
			for _, item := range conjuncts(x) {
				inner, ok := keyed(item, head.Args[0])
				if !ok {
					return n
				}
				items = append(items, g.unfolded(inner))
			}
		}
		return &ast.Conj{Span: n.Span, Items: items}
	case *ast.Conj:
		var items []ast.Node
		changed := false
		for _, x := range n.Items {
			y := g.unfolded(x)
			changed = changed || y != x
			items = append(items, y)
		}
		if changed {
			return &ast.Conj{Span: n.Span, Items: items}
		}
	}
	return n
}

// keyed returns an atom with a key before the others.
func keyed(n, key ast.Node) (ast.Node, bool) {
	switch n := ast.Unparen(n).(type) {
	case *ast.Apply:
		out := *n
		out.Args = slices.Concat([]ast.Node{key}, n.Args)
		if n.Split >= 0 {
			out.Split++
		}
		return &out, true
	case *ast.Compare:
		f, ok := ast.Unparen(n.Operands[0]).(*ast.Apply)
		if !ok || !f.Square || len(n.Operands) != 2 {
			return nil, false
		}
		of, _ := keyed(f, key)
		out := *n
		out.Operands = []ast.Node{of, n.Operands[1]}
		return &out, true
	case *ast.Block:
		head, ok := keyed(n.Head, key)
		out := *n
		out.Head = head
		return &out, ok
	}
	return nil, false
}
