package lsp

import (
	"slices"
	"sort"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/blocks"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// symbol is what a name means.
type symbol struct {
	kind   symbolKind
	name   string // of a predicate or a block, as the front end has it
	places []place
	pred   *core.Pred   // of a predicate, or nil where the front end has none
	typ    *scalar.Type // of a variable, or nil
}

type symbolKind uint8

const (
	predicate symbolKind = iota
	variable
	function  // built in
	typeName  // built in
	aggregate // built in
	directive // lang:...
	blockName
)

// place is an occurrence of a symbol.
type place struct {
	span   source.Span
	role   role
	clause *ast.Clause
}

// role is the part that a name has in its clause.
type role uint8

const (
	used role = iota
	derived
	stated // by a fact
	declared
	directed // named in a directive
)

// defines reports whether the clause says what the predicate is or holds.
func (r role) defines() bool { return r != used && r != directed }

// index finds the symbols of a file by their places.
type index struct {
	entries []entry // by place, which do not overlap
}

type entry struct {
	place
	*symbol
}

// at returns the entry at a byte offset or directly before it, or nil.
func (x *index) at(offset int) *entry {
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].span.End >= offset })
	for ; i < len(x.entries) && x.entries[i].span.Start <= offset; i++ {
		// The later one of two names that touch counts.
		if i+1 == len(x.entries) || x.entries[i+1].span.Start > offset {
			return &x.entries[i]
		}
	}
	return nil
}

// enter indexes trees, by the same ones with one name for each predicate, and
// what the parts of blocks mention, which is in none of those.
func (s *snapshot) enter(trees, resolved []*ast.File, mentions []blocks.Mention) {
	for i, tree := range trees {
		f := s.files[tree.Source.Name]
		f.tree = tree
		// A name and what separates it from the next take about eight bytes.
		b := &indexer{snapshot: s, builtins: map[string]*symbol{},
			index: &index{entries: make([]entry, 0, len(f.Text)/8)}}
		for _, c := range resolved[i].Clauses {
			b.enter(c)
		}
		b.clause = nil
		for _, m := range mentions {
			if m.Span.File == f.File {
				b.add(b.predicate(m.Name), unquoted(m.Span), used)
			}
		}
		if !isImport(f.Name) {
			b.enterBroken(tree)
		}
		slices.SortFunc(b.entries, func(x, y entry) int { return x.span.Start - y.span.Start })
		f.index = b.index
	}
}

// link adds what the checker has found out about the names.
func (s *snapshot) link() {
	if s.names.Program != nil {
		for _, p := range s.names.Program.Preds {
			if sym := s.preds[p.Name]; sym != nil {
				sym.pred = p
			}
		}
	}
	for i := range s.names.Variables {
		v := &s.names.Variables[i]
		if !v.Span.IsValid() {
			continue // made by the compiler
		}
		if e := s.files[v.Span.File.Name].index.at(v.Span.Start); e != nil && e.kind == variable {
			e.symbol.typ = &v.Type
		}
	}
}

// predicate returns the symbol of a predicate.
func (s *snapshot) predicate(name string) *symbol {
	sym := s.preds[name]
	if sym == nil {
		sym = &symbol{kind: predicate, name: name}
		s.preds[name] = sym
	}
	return sym
}

// indexer enters the clauses of one file.
type indexer struct {
	*snapshot
	*index
	builtins map[string]*symbol
	clause   *ast.Clause
}

// scope has the variables of one conjunction. As in sema, a name belongs to the
// outermost conjunction in which it occurs outside of further negations.
type scope struct {
	parent *scope
	vars   map[string]*symbol
}

func (x *scope) owner(name string) *scope {
	owner := x
	for at := x; at != nil; at = at.parent {
		if _, ok := at.vars[name]; ok {
			owner = at
		}
	}
	return owner
}

// enter indexes a clause.
func (b *indexer) enter(c *ast.Clause) {
	b.clause = c
	s := &scope{vars: map[string]*symbol{}}
	b.note(s, c.Left)
	b.note(s, c.Right)
	if c.P2P != nil {
		for _, spec := range c.P2P.Specs {
			b.variable(spec.Out.Span, spec.Out.Text, s)
			b.builtin(spec.Fn.Span, spec.Fn.Text, aggregate)
			b.note(s, spec.In)
			b.node(spec.In, s)
			for _, n := range spec.Args {
				b.note(s, n)
				ast.Inspect(n, func(n ast.Node) bool {
					if v, ok := n.(*ast.Var); ok {
						b.variable(v.Span, v.Name, s)
					}
					return true
				})
			}
		}
	}
	switch {
	case c.Arrow == ast.Constraint && declares(c):
		b.heads(c.Left, declared, s)
	case c.Arrow == ast.Fact && c.Update == "":
		b.heads(c.Left, stated, s)
	case c.Arrow == ast.Fact, c.Arrow == ast.Rule:
		b.heads(c.Left, derived, s)
	default:
		b.node(c.Left, s)
	}
	b.node(c.Right, s)
}

// note enters the names that occur in n outside of negations.
func (b *indexer) note(s *scope, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not:
			return false
		case *ast.Var:
			if _, ok := s.vars[n.Name]; !ok {
				s.vars[n.Name] = nil
			}
		}
		return true
	})
}

// heads indexes the left side of a clause, whose atoms have a role.
func (b *indexer) heads(n ast.Node, r role, s *scope) {
	switch n := n.(type) {
	case *ast.Paren:
		b.heads(n.X, r, s)
	case *ast.Conj:
		for _, x := range n.Items {
			b.heads(x, r, s)
		}
	case *ast.Compare:
		for _, x := range n.Operands {
			if a, ok := ast.Unparen(x).(*ast.Apply); ok && a.Square {
				b.apply(a, r, s)
				r = used
				continue
			}
			b.node(x, s)
		}
	case *ast.Apply:
		b.apply(n, r, s)
	default:
		b.node(n, s)
	}
}

// node indexes a formula or an expression.
func (b *indexer) node(n ast.Node, s *scope) {
	switch n := n.(type) {
	case nil:
	case *ast.Not:
		inside := &scope{parent: s, vars: map[string]*symbol{}}
		b.note(inside, n.X)
		b.node(n.X, inside)
	case *ast.Var:
		b.variable(n.Span, n.Name, s)
	case *ast.Apply:
		b.apply(n, used, s)
	case *ast.PredRef:
		if n.Name != "" {
			b.add(b.predicate(n.Name), unquoted(n.Span), directed)
		}
		outer := b.clause
		for _, c := range n.Clauses {
			b.enter(c)
		}
		b.clause = outer
	default:
		for _, x := range ast.Children(n) {
			b.node(x, s)
		}
	}
}

// apply indexes an atom or a function application.
func (b *indexer) apply(a *ast.Apply, r role, s *scope) {
	name := a.Name.Text
	switch {
	case scalar.IsBuiltin(name):
		b.builtin(a.Name.Span, name, function)
	case scalar.IsPrimitive(name) && !a.Square:
		b.builtin(a.Name.Span, name, typeName)
	case strings.HasPrefix(name, "lang:"):
		b.builtin(a.Name.Span, name, directive)
	default:
		b.add(b.predicate(name), a.Name.Span, r)
	}
	for _, x := range a.Args {
		b.node(x, s)
	}
}

func (b *indexer) variable(at source.Span, name string, s *scope) {
	s = s.owner(name)
	sym := s.vars[name]
	if sym == nil {
		sym = &symbol{kind: variable, name: name}
		s.vars[name] = sym
	}
	b.add(sym, at, used)
}

func (b *indexer) builtin(at source.Span, name string, kind symbolKind) {
	sym := b.builtins[name]
	if sym == nil || sym.kind != kind {
		sym = &symbol{kind: kind, name: name}
		b.builtins[name] = sym
	}
	b.add(sym, at, used)
}

// unquoted returns the name in a predicate literal, which begins with a
// backquote in programs and not in import scripts.
func unquoted(at source.Span) source.Span {
	if strings.HasPrefix(at.Text(), "`") {
		at.Start++
	}
	return at
}

// add enters an occurrence that the text has. Import scripts have other words
// for some names.
func (b *indexer) add(sym *symbol, at source.Span, r role) {
	if !at.IsValid() || isImport(at.File.Name) && at.Text() != sym.name {
		return
	}
	p := place{at, r, b.clause}
	sym.places = append(sym.places, p)
	b.entries = append(b.entries, entry{p, sym})
}

// declares reports whether a constraint declares the predicate on its left: if
// the arguments are variables and the right side is empty or has a type of one
// of them.
func declares(c *ast.Clause) bool {
	var args []ast.Node
	switch n := ast.Unparen(c.Left).(type) {
	case *ast.Apply:
		args = n.Args
	case *ast.Compare:
		a, ok := ast.Unparen(n.Operands[0]).(*ast.Apply)
		if !ok || !a.Square || len(n.Ops) != 1 || n.Ops[0] != "=" {
			return false
		}
		args = append(slices.Clone(a.Args), n.Operands[1])
	case *ast.Conj:
		// An entity with its refmode: e(x), e:id(x:v) -> string(v).
		return slices.ContainsFunc(n.Items, func(x ast.Node) bool {
			a, ok := x.(*ast.Apply)
			return ok && len(a.Args) == 1 && isRefMode(a.Args[0])
		})
	default:
		return false
	}
	names := map[string]bool{}
	for _, x := range args {
		v, ok := ast.Unparen(x).(*ast.Var)
		if !ok && !isRefMode(x) {
			return false
		}
		if ok {
			names[v.Name] = true
		}
	}
	found := c.Right == nil
	ast.Inspect(c.Right, func(n ast.Node) bool {
		if a, ok := n.(*ast.Apply); ok && !a.Square && len(a.Args) == 1 {
			v, ok := ast.Unparen(a.Args[0]).(*ast.Var)
			found = found || ok && names[v.Name] || scalar.IsPrimitive(a.Name.Text)
		}
		return true
	})
	return found
}

func isRefMode(n ast.Node) bool {
	_, ok := n.(*ast.RefMode)
	return ok
}
