package delta

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// entities is what a program says of entity types, as far as transactions have
// to know: what changes with what.
type entities struct {
	types map[string]bool
	// parts has, for each type, its refmodes and the types below and above it.
	// A change of one may change all of them.
	parts map[string][]string
	// columns has the entity types of the columns of a predicate. A tuple may
	// create entities.
	columns map[string][]string
	makers  map[string]bool // constructors
	// makes has the type of a constructor's entities, supers the types directly
	// above one.
	makes  map[string]string
	supers map[string][]string
}

// readEntities finds the entity types that the clauses declare.
func (m *model) readEntities() {
	e := &entities{types: map[string]bool{}, parts: map[string][]string{},
		columns: map[string][]string{}, makers: map[string]bool{}, makes: map[string]string{},
		supers: map[string][]string{}}
	m.entities = e
	plain := map[string]bool{} // of lang:isEntity[`p] = false
	for _, c := range m.clauses {
		if c.kind != directive {
			continue
		}
		for _, item := range items(c.node.Left) {
			a, ok := atomOf(item)
			if !ok {
				continue // refused by semantic analysis
			}
			switch name := a.apply.Name.Text; {
			case name == "lang:entity", name == "lang:isEntity" && !isFalse(a.value):
				e.types[c.about[0]] = true
			case name == "lang:isEntity":
				plain[c.about[0]] = true
			case name == "lang:constructor", name == "lang:skolem":
				e.makers[c.about[0]] = true
			}
		}
	}
	for _, c := range m.clauses {
		if c.kind == constraint && c.node.Arrow == ast.Constraint {
			e.readDeclaration(c)
		}
	}
	for again := len(e.types) > 0; again; {
		again = false
		for _, c := range m.clauses {
			sub, super, ok := c.subtype()
			if ok && e.types[super] && !plain[sub] && !slices.Contains(e.parts[sub], super) {
				e.types[sub], again = true, true
				e.connect(sub, super)
				e.supers[sub] = append(e.supers[sub], super)
			}
		}
	}
	if len(e.types) == 0 {
		return
	}
	for _, c := range m.clauses {
		if c.kind == constraint && len(c.reads) > 1 {
			name := c.reads[0].name()
			for _, r := range c.reads[1:] {
				if e.types[r.name()] {
					e.columns[name] = append(e.columns[name], r.name())
				}
			}
			e.readConstructor(c)
		}
	}
	m.completeHeads()
}

// readConstructor reads the type of the entities from c[k] = e -> ..., E(e).
func (e *entities) readConstructor(c *clause) {
	left, ok := atomOf(c.node.Left)
	if !ok || !e.makers[left.apply.Name.Text] || len(left.args()) == 0 {
		return
	}
	args := left.args()
	value, ok := ast.Unparen(args[len(args)-1]).(*ast.Var)
	for _, item := range items(c.node.Right) {
		if of, v := unary(item); ok && of != nil && e.types[of.Name.Text] && v.Name == value.Name {
			e.makes[left.apply.Name.Text] = of.Name.Text
		}
	}
}

// unary returns the application p(x) of a variable, or nil.
func unary(n ast.Node) (*ast.Apply, *ast.Var) {
	a, ok := ast.Unparen(n).(*ast.Apply)
	if !ok || a.Square || len(a.Args) != 1 {
		return nil, nil
	}
	v, _ := ast.Unparen(a.Args[0]).(*ast.Var)
	if v == nil {
		return nil, nil
	}
	return a, v
}

// completeHeads adds the types of the entities that a head creates to the head,
// so that what a constructor changes is plain to see.
func (m *model) completeHeads() {
	for _, c := range m.clauses {
		if c.kind != rule {
			continue
		}
		var missing []ast.Node
		for _, h := range c.heads {
			of, args := m.makes[h.apply.Name.Text], h.args()
			if of == "" || h.apply.Delta != "" && h.apply.Delta != "+" || len(args) == 0 {
				continue
			}
			if e, ok := ast.Unparen(args[len(args)-1]).(*ast.Var); ok {
				missing = append(missing, m.typesMissing(c, h.apply, of, e)...)
			}
		}
		if missing == nil {
			continue
		}
		node := *c.node
		node.Left = conjunction(append(items(c.node.Left), missing...))
		c.node = &node
		for _, x := range missing {
			a := atom{apply: x.(*ast.Apply)}
			m.enterHead(c, a)
			m.derive(c, a)
		}
	}
}

// typesMissing returns the atoms of entity types that a head lacks which
// creates an entity of a type.
func (m *model) typesMissing(c *clause, maker *ast.Apply, of string, e *ast.Var) []ast.Node {
	has := map[string]bool{}
	types := []string{of}
	for _, h := range c.heads {
		if a, v := unary(h.apply); a != nil && m.types[a.Name.Text] && v.Name == e.Name {
			has[a.Name.Text] = true
			types = append(types, a.Name.Text)
		}
	}
	var out []ast.Node
	for i := 0; i < len(types); i++ {
		if name := types[i]; !has[name] {
			has[name] = true
			a := apply(name, []ast.Node{e}, maker.Span)
			a.Delta = maker.Delta
			out = append(out, a)
		}
		for _, s := range m.supers[types[i]] {
			if !slices.Contains(types, s) {
				types = append(types, s)
			}
		}
	}
	return out
}

func isFalse(n ast.Node) bool {
	lit, ok := ast.Unparen(n).(*ast.Literal)
	return ok && lit.Raw == "false"
}

// readDeclaration reads E(x) -> . and E(x), E:id(x:v) -> T(v).
func (e *entities) readDeclaration(c *clause) {
	left := items(c.node.Left)
	first, ok := atomOf(left[0])
	if !ok || len(first.apply.Args) != 1 {
		return
	}
	name := first.apply.Name.Text
	if len(left) == 1 && c.node.Right == nil {
		e.types[name] = true
	}
	for _, item := range left[1:] {
		a, ok := atomOf(item)
		if ok && len(a.apply.Args) == 1 {
			if _, ok := ast.Unparen(a.apply.Args[0]).(*ast.RefMode); ok {
				e.types[name] = true
				e.connect(name, a.apply.Name.Text)
			}
		}
	}
}

// subtype returns the predicates of sub(x) -> super(x).
func (c *clause) subtype() (sub, super string, ok bool) {
	if c.kind != constraint || c.node.Arrow != ast.Constraint || len(c.reads) != 2 {
		return "", "", false
	}
	a, b := c.reads[0].apply, c.reads[1].apply
	ok = !a.Square && !b.Square && len(a.Args) == 1 && len(b.Args) == 1 && a != b
	return a.Name.Text, b.Name.Text, ok
}

func (e *entities) connect(a, b string) {
	e.parts[a] = append(e.parts[a], b)
	e.parts[b] = append(e.parts[b], a)
}

// changedWith calls f for the predicates that a change of another may change:
// the types of its columns, and what belongs to these.
func (e *entities) changedWith(name string, f func(string)) {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(part string) {
		if seen[part] {
			return
		}
		seen[part] = true
		f(part)
		for _, other := range e.parts[part] {
			visit(other)
		}
	}
	if e.types[name] || len(e.parts[name]) > 0 {
		visit(name)
	}
	for _, t := range e.columns[name] {
		visit(t)
	}
}
