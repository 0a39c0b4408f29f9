package sema

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
)

// conj is a conjunction under construction.
type conj struct {
	scope    *normal.Scope
	literals []normal.Literal
}

func (k *conj) add(l normal.Literal) { k.literals = append(k.literals, l) }

// variable returns the variable that a name means in a scope.
func (lo *lowering) variable(n *ast.Var, s *normal.Scope) *normal.Var {
	s = s.Owner(n.Name)
	v := s.Vars[n.Name]
	if v == nil {
		v = lo.newVariable(n.Name, n.Span, s)
		v.Short = desugar.IsVariable(n.Name)
		s.Vars[n.Name] = v
	}
	lo.c.recordVariable(n, v)
	return v
}

func (lo *lowering) newVariable(name string, span source.Span, s *normal.Scope) *normal.Var {
	u, base := lo.u, name
	for lo.names[name] > 0 {
		lo.names[base]++
		name = fmt.Sprintf("%s$%d", base, lo.names[base])
	}
	lo.names[name] = 1
	v := &normal.Var{Name: name, Base: base, Span: span, Scope: s, Index: len(u.Vars)}
	v.Node = lo.c.types.Variable(v)
	u.Vars = append(u.Vars, v)
	return v
}

// fresh makes up a variable for a nested expression.
func (lo *lowering) fresh(span source.Span, s *normal.Scope) normal.Ref {
	lo.made++
	v := lo.newVariable(fmt.Sprintf("$%d", lo.made), span, s)
	v.Made = true
	return normal.Ref{Var: v, Span: span}
}

// wildcard makes up a variable for `_`.
func (lo *lowering) wildcard(span source.Span, s *normal.Scope) normal.Ref {
	lo.made++
	v := lo.newVariable(fmt.Sprintf("_$%d", lo.made), span, s)
	v.Made = true
	return normal.Ref{Var: v, Span: span}
}
