package delta

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
)

// kind tells clauses apart.
type kind uint8

const (
	other kind = iota // what semantic analysis refuses, or a directive about no predicate
	directive
	constraint
	rule
)

// clause is a clause and what it says of predicates.
type clause struct {
	node  *ast.Clause
	file  int // index of its file
	isNew bool
	kind  kind
	heads []atom   // of a rule
	reads []read   // of a rule's body and head arguments, or of a constraint
	about []string // the predicates of a directive
	pulse bool     // it is lang:pulse and nothing else
	live  bool     // it belongs to this transaction
	seen  bool     // what it needs is included
}

// read is an occurrence of a predicate outside of heads.
type read struct {
	apply *ast.Apply
	sure  bool // the clause does nothing without a tuple of it
}

func (r read) name() string { return r.apply.Name.Text }

// before reports whether a stage is read that is before the transaction.
func (r read) before() bool { return stages[r.apply.Stage] }

// isFact reports whether the clause is a fact without delta.
func (c *clause) isFact() bool {
	return c.kind == rule && c.node.Right == nil && c.node.Update == "" && len(c.reads) == 0
}

// hasEvents reports whether the clause reads events or earlier states.
func (c *clause) hasEvents() bool {
	return slices.ContainsFunc(c.reads,
		func(r read) bool { return r.apply.Delta != "" || r.before() })
}

// pred is what the clauses say of a predicate.
type pred struct {
	name  string
	span  source.Span // of its first delta atom, or else of its first atom
	arity int
	keys  int // -1 if no form shows it
	// derived is set if a rule without delta has it as head. pulse is set if it
	// is empty again after each transaction.
	derived, pulse bool
	rules          []*clause // without delta, facts included
	// changes are the rules with it as head, by the delta.
	changes map[string][]*clause
	entity  bool // it has a reference mode among its arguments
}

// model is the clauses of a transaction.
type model struct {
	clauses []*clause
	preds   map[string]*pred
	order   []*pred // by first appearance
	pulses  map[string]bool
	*entities
}

// addPulses enters the pulse predicates that a file declares.
func (m *model) addPulses(f *ast.File) {
	for _, node := range f.Clauses {
		for _, item := range items(node.Left) {
			a, ok := atomOf(item)
			if !ok || a.apply.Name.Text != "lang:pulse" || len(a.apply.Args) != 1 {
				break
			}
			if ref, ok := ast.Unparen(a.apply.Args[0]).(*ast.PredRef); ok {
				m.pulses[ref.Name] = true
			}
		}
	}
}

func (m *model) pred(a *ast.Apply) *pred {
	p := m.preds[a.Name.Text]
	if p == nil {
		p = &pred{name: a.Name.Text, span: a.Span, keys: -1, changes: map[string][]*clause{},
			pulse: m.pulses[a.Name.Text]}
		p.arity, _ = atom{apply: a}.shape()
		m.preds[p.name] = p
		m.order = append(m.order, p)
	}
	if _, keys := (atom{apply: a}).shape(); keys >= 0 {
		p.keys = keys
	}
	for _, x := range a.Args {
		if _, ok := x.(*ast.RefMode); ok {
			p.entity = true
		}
	}
	return p
}

// add enters a clause.
func (m *model) add(node *ast.Clause, file int, isNew bool) {
	c := &clause{node: node, file: file, isNew: isNew}
	m.clauses = append(m.clauses, c)
	switch {
	case node.Left == nil || node.Arrow == ast.MetaRule || node.Arrow == ast.MetaConstraint:
		return
	case m.isDirective(c):
		return
	case node.Arrow == ast.Constraint:
		c.kind = constraint
		m.collect(c, node.Left, true)
		m.collect(c, node.Right, false)
		return
	}
	if _, denies := ast.Unparen(node.Left).(*ast.Not); denies && node.Arrow == ast.Fact {
		c.kind = constraint
		m.collect(c, node.Left, false)
		return
	}
	c.kind = rule
	for _, item := range items(node.Left) {
		a, ok := atomOf(item)
		if !ok {
			continue
		}
		m.enterHead(c, a)
	}
	if node.Update != "" && len(c.heads) == 1 {
		m.collect(c, node.Left, false)
	}
	m.collect(c, node.Right, true)
	if node.P2P != nil {
		for _, s := range node.P2P.Specs {
			m.collect(c, s.In, true)
		}
	}
	for _, a := range c.heads {
		m.derive(c, a)
	}
}

// enterHead enters an atom of the head of a rule.
func (m *model) enterHead(c *clause, a atom) {
	c.heads = append(c.heads, a)
	p := m.pred(a.apply)
	if p.pulse && a.apply.Delta == "" {
		inserted := *a.apply
		inserted.Delta = "+"
		a.apply = &inserted
		c.heads[len(c.heads)-1] = a
	}
	for _, x := range a.args() {
		m.collect(c, x, true)
	}
	if a.apply.Delta != "" {
		if len(p.changes) == 0 {
			p.span = a.apply.Span
		}
		p.changes[a.apply.Delta] = append(p.changes[a.apply.Delta], c)
	} else {
		p.rules = append(p.rules, c)
	}
}

// derive marks the predicate of a head as derived, unless a fact or a delta
// rule fills it.
func (m *model) derive(c *clause, a atom) {
	if a.apply.Delta == "" && !c.isFact() {
		m.preds[a.apply.Name.Text].derived = true
	}
}

// isDirective reads a `lang:` directive.
func (m *model) isDirective(c *clause) bool {
	list := items(c.node.Left)
	for i, item := range list {
		a, ok := atomOf(item)
		if !ok || !strings.HasPrefix(a.apply.Name.Text, "lang:") {
			return i > 0
		}
		c.pulse = a.apply.Name.Text == "lang:pulse" && len(list) == 1
		for _, x := range a.apply.Args {
			if ref, ok := ast.Unparen(x).(*ast.PredRef); ok {
				c.kind = directive
				c.about = append(c.about, ref.Name)
			}
		}
	}
	return len(list) > 0
}

// collect enters the predicates that a formula reads.
func (m *model) collect(c *clause, n ast.Node, sure bool) {
	switch n := n.(type) {
	case nil:
	case *ast.Apply:
		m.pred(n)
		c.reads = append(c.reads, read{n, sure})
		for _, x := range n.Args {
			m.collect(c, x, sure)
		}
	case *ast.Not, *ast.Disj:
		for _, x := range ast.Children(n) {
			m.collect(c, x, false)
		}
	default:
		for _, x := range ast.Children(n) {
			m.collect(c, x, sure)
		}
	}
}
