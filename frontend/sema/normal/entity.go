package normal

import (
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Family is a hierarchy of entity types: types that are connected by subtyping
// and share their entities. Inference gives all its columns one type.
type Family struct {
	Type   scalar.Type // of kind Entity, named after the most general type
	Types  []*Pred     // in the order of the text
	Makers []*Maker    // in the order of the text
	// Rep is the type of what stands for an entity in the checked program. If
	// the only maker is a refmode, it is the type of the refmode's value, and
	// the value itself stands for the entity. Else it is int: makers number
	// their entities.
	Rep scalar.Type
	// Lasting is set if the program is one of several transactions, or reads
	// events of makers. Constructors are then predicates like any other, and
	// hidden ones number the entities.
	Lasting bool
	// Named is set if facts from outside that the program reads may name
	// entities by their terms, NamedBefore if facts of an earlier transaction
	// did.
	Named, NamedBefore bool
}

// ByValue reports whether the value of a refmode stands for the entity.
func (f *Family) ByValue() bool { return len(f.Makers) == 1 && f.Makers[0].Refmode }

// Maker is a predicate that identifies entities by other values: a refmode
// E:id(e:v), or a constructor c[k...] = e. In a body it matches, in a head it
// creates.
type Maker struct {
	Pred    *Pred
	Of      *Pred // the type of its entities
	Family  *Family
	Refmode bool
	// Anonymous is set if the program does not name the maker.
	Anonymous bool
	Number    int // among the makers of the family, from 0
}

// Entity returns the argument of an atom of the maker that is the entity.
func (m *Maker) Entity(a *Atom) Term {
	if m.Refmode {
		return a.Args[0]
	}
	return a.Args[len(a.Args)-1]
}

// Keys returns the arguments of an atom of the maker that identify the entity.
func (m *Maker) Keys(a *Atom) []Term {
	if m.Refmode {
		return a.Args[1:]
	}
	return a.Args[:len(a.Args)-1]
}

// IsA reports whether every entity of type p is one of type q: whether q is p
// or above it.
func (p *Pred) IsA(q *Pred) bool {
	seen := map[*Pred]bool{}
	var up func(x *Pred) bool
	up = func(x *Pred) bool {
		if x == q {
			return true
		}
		seen[x] = true
		for _, s := range x.Supers {
			if !seen[s] && up(s) {
				return true
			}
		}
		return false
	}
	return up(p)
}
