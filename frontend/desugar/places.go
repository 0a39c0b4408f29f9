package desugar

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// rewrite takes the generators of a conjunction one after the other, because
// each gives a variable a value that others may need.
func (c *conj) rewrite() {
	c.name()
	for {
		c.bind()
		if !c.strings() && !c.defaults() {
			return
		}
	}
}

// name gives a name to each _ that is a free position.
func (c *conj) name() {
	for i, item := range c.items {
		c.items[i] = c.g.named(item)
	}
}

// named returns a node with a variable for each _ that is a free position.
func (g *generator) named(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Not, *ast.Disj:
		return n
	case *ast.Apply:
		out := *n
		changed := false
		out.Args = slices.Clone(n.Args)
		for i, x := range n.Args {
			w, open := ast.Unparen(x).(*ast.Wildcard)
			if open && (n.Name.Text == split && i == 2 ||
				n.Name.Text == substring && (i == 1 || i == 2)) {
				out.Args[i] = g.fresh(w.Span)
			} else {
				out.Args[i] = g.named(x)
			}
			changed = changed || out.Args[i] != x
		}
		if changed {
			return &out
		}
		return n
	}
	return mapped(n, g.named)
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

// strings gives a value to the first free position of a string function whose
// other arguments have values.
func (c *conj) strings() bool {
	for _, item := range c.items {
		var found *ast.Apply
		ast.Inspect(item, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Not, *ast.Disj:
				return false
			case *ast.Apply:
				if found == nil && (n.Name.Text == split || n.Name.Text == substring) &&
					c.isOpen(n) {
					found = n
				}
			}
			return found == nil
		})
		switch {
		case found == nil:
		case found.Name.Text == split:
			c.parts(found)
			return true
		default:
			c.positions(found, item)
			return true
		}
	}
	return false
}

// isOpen reports whether the string has a value, and a position is a variable
// that has none.
func (c *conj) isOpen(a *ast.Apply) bool {
	if len(a.Args) < 3 || !valued(a.Args[0], c.bound) {
		return false
	}
	if a.Name.Text == split {
		return valued(a.Args[1], c.bound) && c.isFree(a.Args[2])
	}
	first, second := c.isFree(a.Args[1]), c.isFree(a.Args[2])
	return first && (second || valued(a.Args[2], c.bound)) || second && valued(a.Args[1], c.bound)
}

func (c *conj) isFree(n ast.Node) bool {
	v, ok := ast.Unparen(n).(*ast.Var)
	return ok && !c.bound[v.Name]
}

// parts enumerates the parts into which a string splits.
func (c *conj) parts(a *ast.Apply) {
	at := a.Span
	e := c.enumeration(at, a.Args[0], a.Args[1])
	exists := func(k ast.Node) ast.Node {
		return compare(value(split, at, e.params[0], e.params[1], k), "=",
			&ast.Wildcard{Span: at}, at)
	}
	e.first(exists(number(0, at)))
	e.next(exists)
	c.items = append(c.items, e.atom(a.Args[2]))
}

// positions enumerates the starts of substrings, or their lengths if the start
// has a value. The length of a text that has a value is its own.
func (c *conj) positions(a *ast.Apply, item ast.Node) {
	at := a.Span
	s, start, length := a.Args[0], a.Args[1], a.Args[2]
	if c.isFree(start) {
		e := c.enumeration(at, s)
		e.first()
		e.next(func(k ast.Node) ast.Node {
			return compare(k, "<=", value("string:length", at, e.params[0]), at)
		})
		c.items = append(c.items, e.atom(start))
		return
	}
	if text := equal(a, item); text != nil && valued(text, c.bound) {
		c.items = append(c.items, compare(length, "=", value("string:length", at, text), at))
		return
	}
	e := c.enumeration(at, s, start)
	last := func() ast.Node {
		return binary("-", value("string:length", at, e.params[0]), e.params[1], at)
	}
	e.first(compare(number(0, at), "<=", last(), at))
	e.next(func(k ast.Node) ast.Node { return compare(k, "<=", last(), at) })
	c.items = append(c.items, e.atom(length))
}

// equal returns what an item says that an application is equal to, or nil.
func equal(a *ast.Apply, item ast.Node) ast.Node {
	if !a.Square {
		if a == ast.Unparen(item) && len(a.Args) == 4 {
			return a.Args[3]
		}
		return nil
	}
	eq, ok := ast.Unparen(item).(*ast.Compare)
	if !ok || len(eq.Ops) != 1 || eq.Ops[0] != "=" {
		return nil
	}
	for i, x := range eq.Operands {
		if ast.Unparen(x) == ast.Node(a) {
			return eq.Operands[1-i]
		}
	}
	return nil
}
