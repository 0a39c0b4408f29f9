package generate

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// rewrite takes the generators of a conjunction one after the other, because
// each gives a variable a value that others may need.
func (c *conj) rewrite() {
	c.name()
	for {
		c.bind()
		if !c.ranges() && !c.strings() && !c.interval() {
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
			if open && (IsRange(n) && i == 3 || n.Name.Text == split && i == 2 ||
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

// ranges rewrites the first int:range whose bounds have values. If its variable
// has a value too and the step is 1, it is a test.
func (c *conj) ranges() bool {
	for i, item := range c.items {
		a, ok := ast.Unparen(item).(*ast.Apply)
		if !ok || !IsRange(a) || a.Square || len(a.Args) != 4 ||
			slices.ContainsFunc(a.Args[:3], func(x ast.Node) bool { return !valued(x, c.bound) }) {
			continue
		}
		lo, hi, step, x := a.Args[0], a.Args[1], a.Args[2], a.Args[3]
		by, literal := integer(step)
		if valued(x, c.bound) && literal && by == 1 {
			c.items[i] = &ast.Compare{Span: a.Span, Operands: []ast.Node{lo, x, hi},
				Ops: []string{"<=", "<="}, OpSpans: []source.Span{a.Span, a.Span}}
			return true
		}
		c.items = slices.Delete(c.items, i, i+1)
		c.count(a.Span, lo, hi, step, x)
		return true
	}
	return false
}

// integer returns the value of a literal of type int, with or without a sign.
func integer(n ast.Node) (int64, bool) {
	switch n := ast.Unparen(n).(type) {
	case *ast.Literal:
		if n.Value.Type.Kind == scalar.Int {
			return n.Value.Int(), true
		}
	case *ast.Unary:
		v, ok := integer(n.X)
		if n.Op == "-" {
			v = -v
		}
		return v, ok
	}
	return 0, false
}

// count adds the items that give x the values lo, lo + step and so on to hi.
func (c *conj) count(at source.Span, lo, hi, step, x ast.Node) {
	e := c.enumeration(at, lo, hi, step)
	lo, hi, step = e.params[0], e.params[1], e.params[2]
	by, literal := integer(step)
	for _, way := range []struct {
		sign     int64
		at, than string
	}{{1, "<=", ">"}, {-1, ">=", "<"}} {
		from, fixed := integer(lo)
		to, alsoFixed := integer(hi)
		conditions := []ast.Node{compare(lo, way.at, hi, at)}
		if fixed && alsoFixed {
			if from*way.sign > to*way.sign {
				continue
			}
			conditions = nil
		}
		if !literal {
			conditions = append(conditions, compare(step, way.than, number(0, at), at))
		} else if by*way.sign <= 0 {
			continue
		}
		e.first(conditions...)
	}
	last := binary("-", hi, lo, at)
	if !literal || by != 1 {
		last = binary("/", last, step, at)
	}
	if !literal || by != 0 {
		e.next(func(k ast.Node) ast.Node { return compare(k, "<=", last, at) })
	}
	if from, fixed := integer(lo); fixed && from == 0 && literal && by == 1 && c.isFree(x) {
		c.items = append(c.items, e.atom(x))
		return
	}
	k := c.g.fresh(at)
	offset := ast.Node(k)
	if !literal || by != 1 {
		offset = binary("*", k, e.given[2], at)
	}
	c.items = append(c.items, e.atom(k))
	c.items = append(c.items, compare(x, "=", binary("+", e.given[0], offset, at), at))
}

// interval enumerates the first variable without a value that comparisons bound
// from both sides. They stay as tests.
func (c *conj) interval() bool {
	type bounds struct {
		lo, hi ast.Node
		at     source.Span
	}
	found := map[string]*bounds{}
	var order []string
	for _, item := range c.items {
		cmp, ok := ast.Unparen(item).(*ast.Compare)
		if !ok {
			continue
		}
		for i, op := range cmp.Ops {
			x, y := cmp.Operands[i], cmp.Operands[i+1]
			if op[0] == '>' {
				x, y = y, x
			} else if op[0] != '<' {
				continue
			}
			// x is at most y.
			for _, side := range []struct {
				v, other ast.Node
				isHi     bool
			}{{x, y, true}, {y, x, false}} {
				v, isVar := ast.Unparen(side.v).(*ast.Var)
				if !isVar || c.bound[v.Name] || !valued(side.other, c.bound) ||
					!mayBeInteger(side.other) {
					continue
				}
				b := found[v.Name]
				if b == nil {
					b = &bounds{at: v.Span}
					found[v.Name] = b
					order = append(order, v.Name)
				}
				if side.isHi && b.hi == nil {
					b.hi = side.other
				} else if !side.isHi && b.lo == nil {
					b.lo = side.other
				}
			}
		}
	}
	for _, name := range order {
		if b := found[name]; b.lo != nil && b.hi != nil {
			c.count(b.at, b.lo, b.hi, number(1, b.at), &ast.Var{Span: b.at, Name: name})
			return true
		}
	}
	return false
}

// mayBeInteger reports whether no literal shows that an expression is of
// another type.
func mayBeInteger(n ast.Node) bool {
	if lit, ok := ast.Unparen(n).(*ast.Literal); ok {
		return lit.Value.Type.Kind == scalar.Int
	}
	b, ok := ast.Unparen(n).(*ast.Binary)
	return !ok || mayBeInteger(b.X) && mayBeInteger(b.Y)
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
