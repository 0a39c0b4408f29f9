package infer

import (
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// AddFamily makes a family of entity types known before inference runs.
func (in *Types) AddFamily(f *normal.Family) {
	if in.families == nil {
		in.families = map[scalar.Type]*normal.Family{}
	}
	in.families[f.Type] = f
}

// Family returns the family of an entity type; nil for another type.
func (in *Types) Family(t scalar.Type) *normal.Family { return in.families[t] }

// Represented returns the type of what stands for values of type t in the
// checked program.
func (in *Types) Represented(t scalar.Type) scalar.Type {
	if f := in.families[t]; f != nil {
		return f.Rep
	}
	return t
}

// literalAs is normal.LiteralAs for a type that may be an entity type: a
// literal of its refmode's type stands for the entity.
func (in *Types) literalAs(v scalar.Value, t scalar.Type) (scalar.Value, bool) {
	f := in.families[t]
	switch {
	case f == nil:
		return normal.LiteralAs(v, t)
	case f.ByValue():
		return normal.LiteralAs(v, f.Rep)
	}
	return v, false
}

// entityHelp adds how an entity is related to the value that identifies it, if
// one of two types is an entity type and the other is not.
func (s *solver) entityHelp(d *diag.Diagnostic, x, y scalar.Type) {
	if y.Kind == scalar.Entity {
		x, y = y, x
	}
	f := s.families[x]
	if f == nil || y.Kind == scalar.Entity {
		return
	}
	for _, m := range f.Makers {
		if m.Refmode && m.Pred.Declared[1].Kind == y.Kind {
			d.Help("%s(e:v) relates an entity e of %s to its %s v", m.Pred.Name, m.Of.Name, y)
			return
		}
	}
	for _, m := range f.Makers {
		if !m.Anonymous {
			d.Help("an entity of %s is identified by %s", x, m.Pred.Shape())
			return
		}
	}
}
