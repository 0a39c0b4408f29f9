package infer

import (
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

// literalAs is normal.LiteralAs for a type that may be an entity type: a literal
// of its refmode's type stands for the entity.
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
