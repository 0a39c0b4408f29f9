package delta

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
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
}

// readEntities finds the entity types that the clauses declare.
func (m *model) readEntities() {
	e := &entities{types: map[string]bool{}, parts: map[string][]string{},
		columns: map[string][]string{}, makers: map[string]bool{}}
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
		}
	}
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

// checkMakers refuses events of constructors: what they make exists within one
// transaction.
func (t *transaction) checkMakers() {
	for _, c := range t.clauses {
		if !c.live {
			continue
		}
		for _, h := range c.heads {
			name := h.apply.Name.Text
			if h.apply.Delta == "" || !t.makers[name] || !t.framed[name] {
				continue
			}
			d := t.Errorf(diag.NumberedEntities, h.apply.Span,
				"%s is a constructor, and the entities that it makes exist within one transaction",
				name)
			d.Help("create the entities by a rule without +, or identify them by a refmode")
			c.live = false
		}
	}
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
