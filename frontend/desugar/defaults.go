package desugar

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// A function with a default has that value for each key that a body asks for
// and the function lacks. A body asks for the keys that its other atoms bind.
// If none binds them, it asks for those of all its functions with defaults that
// have the same keys, so that net[k] = sales[k] - returns[k] has a value where
// one of both has.

// defaultsOf reads the directives lang:defaultValue[`f] = v.
func defaultsOf(files []*ast.File) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, f := range files {
		for _, c := range f.Clauses {
			eq, ok := ast.Unparen(c.Left).(*ast.Compare)
			if !ok || c.Right != nil || len(eq.Operands) != 2 || eq.Ops[0] != "=" {
				continue
			}
			a, ok := ast.Unparen(eq.Operands[0]).(*ast.Apply)
			if !ok || len(a.Args) != 1 ||
				a.Name.Text != "lang:defaultValue" && a.Name.Text != "lang:default" {
				continue
			}
			if ref, ok := ast.Unparen(a.Args[0]).(*ast.PredRef); ok && isLiteral(eq.Operands[1]) {
				out[ref.Name] = eq.Operands[1]
			}
		}
	}
	return out
}

// defaults gives a value to the first application of a function with a default
// that is not rewritten yet.
func (c *conj) defaults() bool {
	if len(c.g.defaults) == 0 {
		return false
	}
	var uses []*ast.Apply
	for _, item := range c.items {
		uses = append(uses, c.uses(item)...)
	}
	if len(uses) == 0 {
		return false
	}
	c.bindOthers()
	for _, a := range uses {
		keys := c.keys(a)
		if slices.ContainsFunc(keys, func(x ast.Node) bool { return len(c.uses(x)) > 0 }) {
			continue // the functions in its keys come first
		}
		if slices.ContainsFunc(keys, func(x ast.Node) bool { return !valued(x, c.bound) }) {
			c.unite(a, uses)
			c.bindOthers()
		}
		if slices.ContainsFunc(keys, func(x ast.Node) bool { return !valued(x, c.bound) }) {
			c.leave(a)
		} else {
			c.complete(a)
		}
		return true
	}
	return false
}

// leave marks an application that stands for the stored tuples alone.
func (c *conj) leave(a *ast.Apply) { c.g.left = append(c.g.left, a) }

// uses lists the applications of functions with defaults in an item, without
// those under negation or in alternatives.
func (c *conj) uses(n ast.Node) []*ast.Apply {
	var out []*ast.Apply
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not, *ast.Disj:
			return false
		case *ast.Apply:
			if c.g.defaults[n.Name.Text] != nil && n.Delta == "" && n.Stage == "" &&
				!slices.Contains(c.g.left, n) {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}

// certain returns items without the parts that functions with defaults decide,
// in alternatives as well. What is left holds for more keys, so that it can say
// which keys are asked for.
func (c *conj) certain(items []ast.Node) []ast.Node {
	var out []ast.Node
	for _, item := range items {
		switch n := ast.Unparen(item).(type) {
		case *ast.Not:
			if !c.g.isShort(n) {
				out = append(out, item)
			}
		case *ast.Disj:
			if rest := c.certainAlternatives(n); rest != nil {
				out = append(out, rest)
			}
		default:
			if len(c.uses(item)) == 0 {
				out = append(out, item)
			}
		}
	}
	return out
}

// certainAlternatives is certain for a disjunction: nil if an alternative has
// nothing that is certain.
func (c *conj) certainAlternatives(d *ast.Disj) ast.Node {
	if !c.g.isShort(d) {
		return d
	}
	out := &ast.Disj{Span: d.Span}
	for _, alternative := range d.Items {
		items := c.certain(conjuncts(alternative))
		if len(items) == 0 {
			return nil
		}
		out.Items = append(out.Items, conjunction(items, alternative.Pos()))
	}
	return out
}

// keys returns the keys of an application: f[k], or f(k, v).
func (c *conj) keys(a *ast.Apply) []ast.Node {
	if a.Square || len(a.Args) == 0 {
		return a.Args
	}
	return a.Args[:len(a.Args)-1]
}

// bindOthers computes what the items bind without the functions with defaults.
func (c *conj) bindOthers() {
	all := c.items
	c.items = c.certain(all)
	c.bind()
	c.items = all
}

// unite adds an atom of the keys that the functions of the body have, if there
// are several with the same keys.
func (c *conj) unite(a *ast.Apply, uses []*ast.Apply) {
	text := func(a *ast.Apply) string {
		out := ""
		for _, x := range c.keys(a) {
			out += x.Pos().Text() + ","
		}
		return out
	}
	var same []*ast.Apply
	for _, b := range uses {
		if text(b) == text(a) && !slices.ContainsFunc(same, func(x *ast.Apply) bool {
			return x.Name.Text == b.Name.Text
		}) {
			same = append(same, b)
		}
	}
	keys := c.keys(a)
	plain := !slices.ContainsFunc(keys, func(x ast.Node) bool {
		_, isVar := ast.Unparen(x).(*ast.Var)
		return !isVar
	})
	if len(same) < 2 || !plain {
		return
	}
	c.g.places++
	name := fmt.Sprintf("keys#%d", c.g.places)
	for _, b := range same {
		c.g.rule(apply(name, keys, a.Span), c.stored(b.Name.Text, keys, a))
	}
	c.items = append(c.items, apply(name, keys, a.Span))
}

// stored returns the formula that a function has a tuple for keys.
func (c *conj) stored(f string, keys []ast.Node, at *ast.Apply) ast.Node {
	of := apply(f, keys, at.Span)
	of.Square = true
	c.leave(of)
	return compare(of, "=", &ast.Wildcard{Span: at.Span}, at.Span)
}

// complete replaces an application by one of a function that has a value for
// each key that the other items give.
func (c *conj) complete(a *ast.Apply) {
	c.g.places++
	at := a.Span
	name := fmt.Sprintf("%s#%d", a.Name.Text, c.g.places)
	asked := fmt.Sprintf("%s%d", demand, c.g.places)
	keys := c.keys(a)
	var args, equations []ast.Node
	for _, x := range keys {
		v := c.g.fresh(x.Pos())
		args = append(args, v)
		equations = append(equations, compare(v, "=", x, x.Pos()))
	}
	others := &conj{g: c.g, around: c.around, bound: c.bound, items: c.certain(c.items)}
	c.g.rule(apply(asked, args, at), append(others.sources(keys), equations...)...)
	v := c.g.fresh(at)
	of := func(name string) *ast.Apply {
		f := apply(name, args, at)
		f.Square = true
		c.leave(f)
		return f
	}
	c.g.rule(compare(of(name), "=", v, at), apply(asked, args, at),
		compare(of(a.Name.Text), "=", v, at))
	c.g.rule(compare(of(name), "=", c.g.defaults[a.Name.Text], at), apply(asked, args, at),
		&ast.Not{Span: at, X: compare(of(a.Name.Text), "=", &ast.Wildcard{Span: at}, at)})
	for i, item := range c.items {
		c.items[i] = replaced(item, a, name)
	}
}

// replaced returns a node with another name for one application.
func replaced(n ast.Node, a *ast.Apply, name string) ast.Node {
	if n == ast.Node(a) {
		out := *a
		out.Name = &ast.Name{Span: a.Name.Span, Text: name}
		return &out
	}
	if f, ok := n.(*ast.Apply); ok {
		args := make([]ast.Node, len(f.Args))
		for i, x := range f.Args {
			args[i] = replaced(x, a, name)
		}
		if !slices.Equal(args, f.Args) {
			out := *f
			out.Args = args
			return &out
		}
		return n
	}
	return mapped(n, func(x ast.Node) ast.Node { return replaced(x, a, name) })
}
