package bounds

import "github.com/redfoxdb/redfox/internal/list"

// Strings partitions the places of a program that hold strings, such as
// columns, registers and constants, into sets that share a dictionary: two
// places are in one set if a copy, a join, a union or a comparison brings their
// strings together.
type Strings struct{ places []*Place }

// Place is an element of a forest of sets (union-find: Tarjan, JACM 1975).
type Place struct {
	number int // of creation
	parent *Place
}

// New returns a place in a set of its own.
func (s *Strings) New() *Place {
	p := &Place{number: len(s.places)}
	s.places = append(s.places, p)
	return p
}

// Sets returns the root of each set, in the order of creation.
func (s *Strings) Sets() []*Place {
	return list.Filter(s.places, func(p *Place) bool { return p.parent == nil })
}

// Set returns the root of the place's set.
func (p *Place) Set() *Place {
	for p.parent != nil {
		if p.parent.parent != nil {
			p.parent = p.parent.parent
		}
		p = p.parent
	}
	return p
}

// Meet makes one set of those of two places. The older root stays the root.
func (p *Place) Meet(q *Place) {
	p, q = p.Set(), q.Set()
	switch {
	case p.number < q.number:
		q.parent = p
	case q.number < p.number:
		p.parent = q
	}
}
