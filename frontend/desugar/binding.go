package desugar

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// This file finds out which variables a conjunction binds. It looks at the form
// alone; semantic analysis decides with types, and reports what has no value.

// conj is a conjunction that is rewritten.
type conj struct {
	g      *generator
	around context
	items  []ast.Node
	bound  vars
}

// bind computes what the items bind, other than those that enumerate.
func (c *conj) bind() {
	c.bound = maps.Clone(c.around.bound)
	if c.bound == nil {
		c.bound = vars{}
	}
	for again := true; again; {
		n := len(c.bound)
		for _, item := range c.items {
			binds(item, c.bound)
		}
		again = len(c.bound) > n
	}
}

// binds adds the variables that an item binds, if those in bound have values.
func binds(item ast.Node, bound vars) {
	switch item := ast.Unparen(item).(type) {
	case *ast.Not:
	case *ast.Conj:
		for _, x := range item.Items {
			binds(x, bound)
		}
	case *ast.Disj:
		bindsAll(item, bound)
	case *ast.Apply:
		atomBinds(item, bound)
	case *ast.In:
		atomsBind(item.X, bound)
		solves(item.X, bound)
	case *ast.Compare:
		for _, x := range item.Operands {
			atomsBind(x, bound)
		}
		if len(item.Ops) != 1 || item.Ops[0] != "=" {
			return
		}
		for i, x := range item.Operands {
			y := item.Operands[1-i]
			v, isVar := ast.Unparen(x).(*ast.Var)
			f, isApply := ast.Unparen(y).(*ast.Apply)
			if isVar && (isApply && isAtom(f) || valued(y, bound)) {
				bound[v.Name] = true
			}
		}
	}
}

// bindsAll adds what each alternative of a disjunction binds.
func bindsAll(d *ast.Disj, bound vars) {
	var all vars
	for i, x := range d.Items {
		own := maps.Clone(bound)
		for n := -1; n < len(own); {
			n = len(own)
			binds(x, own)
		}
		if i == 0 {
			all = own
		}
		maps.DeleteFunc(all, func(v string, _ bool) bool { return !own[v] })
	}
	maps.Copy(bound, all)
}

// isAtom reports whether an application is one of a predicate.
func isAtom(a *ast.Apply) bool {
	name := a.Name.Text
	return !scalar.IsBuiltin(name) && (a.Square || !scalar.IsPrimitive(name))
}

// atomBinds adds the variables of an atom.
func atomBinds(a *ast.Apply, bound vars) {
	for i, x := range a.Args {
		if isAtom(a) || enumerates(a.Name.Text, i) {
			if m, ok := ast.Unparen(x).(*ast.RefMode); ok {
				solves(m.X, bound)
				x = m.V
			}
			solves(x, bound)
		}
		atomsBind(x, bound)
	}
}

// enumerates reports whether a function gives values to an argument.
func enumerates(function string, i int) bool {
	switch function {
	case "string:split", "string:captures":
		return i == 2
	case "string:substring":
		return i == 1 || i == 2
	}
	return i == 3 && scalar.IsRange(function)
}

// atomsBind adds the variables of the atoms in an expression.
func atomsBind(n ast.Node, bound vars) {
	switch n := n.(type) {
	case *ast.Apply:
		atomBinds(n, bound)
	case *ast.Not, *ast.Disj:
	default:
		for _, x := range ast.Children(n) {
			atomsBind(x, bound)
		}
	}
}

// solves adds the variable that has a value if an argument of an atom has one:
// itself, or the one that is open in a sum or difference.
func solves(n ast.Node, bound vars) {
	switch n := ast.Unparen(n).(type) {
	case *ast.Var:
		bound[n.Name] = true
	case *ast.Binary:
		switch {
		case n.Op != "+" && n.Op != "-":
		case valued(n.Y, bound):
			solves(n.X, bound)
		case valued(n.X, bound):
			solves(n.Y, bound)
		}
	}
}

// valued reports whether an expression has a value when the variables in bound
// have: it has no other, and no _ outside of atoms.
func valued(n ast.Node, bound vars) bool {
	switch n := ast.Unparen(n).(type) {
	case *ast.Var:
		return bound[n.Name]
	case *ast.Wildcard:
		return false
	case *ast.Apply:
		return !slices.ContainsFunc(n.Args, func(x ast.Node) bool {
			_, any := ast.Unparen(x).(*ast.Wildcard)
			return !valued(x, bound) && !(any && isAtom(n))
		})
	default:
		return !slices.ContainsFunc(ast.Children(n),
			func(x ast.Node) bool { return !valued(x, bound) })
	}
}

// names adds the variables of a node.
func names(n ast.Node, out vars) {
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok {
			out[v.Name] = true
		}
		return true
	})
}

// sources returns the items from which expressions have their values, those of
// the context among them, with the items that give these their values.
func (c *conj) sources(of []ast.Node) []ast.Node {
	needed := vars{}
	for _, x := range of {
		names(x, needed)
	}
	all := slices.Concat(c.around.items, c.items)
	taken := make([]bool, len(all))
	for again := true; again; {
		again = false
		for i, item := range all {
			if !taken[i] && c.gives(item, needed) {
				taken[i], again = true, true
				c.need(item, needed)
			}
		}
	}
	var out []ast.Node
	for i, item := range all {
		if taken[i] {
			out = append(out, item)
		}
	}
	return out
}

// gives reports whether an item binds one of the variables that are needed, and
// has a value itself.
func (c *conj) gives(item ast.Node, needed vars) bool {
	if _, ok := ast.Unparen(item).(*ast.Not); ok || !c.isKnown(item) {
		return false
	}
	own := vars{}
	names(item, own)
	with := maps.Clone(c.bound)
	for v := range own {
		delete(with, v)
	}
	// A test of variables that others bind gives nothing.
	binds(item, with)
	for v := range own {
		if needed[v] && (with[v] || isEquation(item)) {
			return true
		}
	}
	return false
}

func isEquation(n ast.Node) bool {
	eq, ok := ast.Unparen(n).(*ast.Compare)
	return ok && slices.Contains(eq.Ops, "=")
}

// isKnown reports whether all variables of an item have values, and it has no
// function whose position is free.
func (c *conj) isKnown(item ast.Node) bool {
	own := vars{}
	names(item, own)
	for v := range own {
		if !c.bound[v] {
			return false
		}
	}
	known := true
	ast.Inspect(item, func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok && !isAtom(a) && hasWildcard(a) {
			known = false
		}
		return known
	})
	return known
}

func hasWildcard(a *ast.Apply) bool {
	return slices.ContainsFunc(a.Args, func(x ast.Node) bool {
		_, ok := ast.Unparen(x).(*ast.Wildcard)
		return ok
	})
}

// need adds the variables that an item needs to give values: all of an
// equation, and those in expressions among the arguments of an atom.
func (c *conj) need(item ast.Node, needed vars) {
	a, ok := ast.Unparen(item).(*ast.Apply)
	if !ok {
		names(item, needed)
		return
	}
	for _, x := range a.Args {
		if _, plain := ast.Unparen(x).(*ast.Var); !plain {
			names(x, needed)
		}
	}
}
