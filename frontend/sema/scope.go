package sema

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
)

// scope holds the variables of one conjunction: of a body, or of the inside of
// a negation. A name belongs to the outermost conjunction in which it occurs
// outside further negations.
type scope struct {
	parent *scope
	// vars has the names that are written in the conjunction, with nil until a
	// variable is made.
	vars map[string]*variable
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, vars: map[string]*variable{}}
}

// note enters the names that occur in n outside negation.
func (s *scope) note(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not:
			return false
		case *ast.Var:
			s.write(n.Name)
		}
		return true
	})
}

func (s *scope) write(name string) {
	if _, ok := s.vars[name]; !ok {
		s.vars[name] = nil
	}
}

// owner returns the scope to which a name belongs.
func (s *scope) owner(name string) *scope {
	owner := s
	for at := s; at != nil; at = at.parent {
		if _, ok := at.vars[name]; ok {
			owner = at
		}
	}
	return owner
}

// conj is a conjunction under construction.
type conj struct {
	scope    *scope
	literals []literal
}

func (k *conj) add(l literal) { k.literals = append(k.literals, l) }

// variable returns the variable that a name means in a scope.
func (lo *lowering) variable(n *ast.Var, s *scope) *variable {
	s = s.owner(n.Name)
	v := s.vars[n.Name]
	if v == nil {
		v = lo.newVariable(n.Name, n.Span, s)
		s.vars[n.Name] = v
	}
	return v
}

func (lo *lowering) newVariable(name string, span source.Span, s *scope) *variable {
	u, base := lo.u, name
	for u.names[name] > 0 {
		u.names[base]++
		name = fmt.Sprintf("%s$%d", base, u.names[base])
	}
	u.names[name] = 1
	v := &variable{name: name, base: base, span: span, scope: s, index: len(u.vars)}
	v.node = lo.c.types.variable(v)
	u.vars = append(u.vars, v)
	return v
}

// fresh makes up a variable for a nested expression.
func (lo *lowering) fresh(span source.Span, s *scope) ref {
	lo.u.made++
	v := lo.newVariable(fmt.Sprintf("$%d", lo.u.made), span, s)
	v.made = true
	return ref{v, span}
}

// wildcard makes up a variable for `_`.
func (lo *lowering) wildcard(span source.Span, s *scope) ref {
	lo.u.made++
	v := lo.newVariable(fmt.Sprintf("_$%d", lo.u.made), span, s)
	v.made = true
	return ref{v, span}
}
