package answer

import "slices"

// Shape says where a predicate has entities.
type Shape struct {
	Pred string
	// Families has the family of each column whose numbers stand for entities,
	// "" for the others. It is nil if there are only others.
	Families []string
	Maker    *Maker // if the predicate makes entities
}

// NewShape returns the shape of a predicate with the families of its columns,
// and what it makes, or nil.
func NewShape(pred string, families []string, makes *Maker) Shape {
	s := Shape{Pred: pred}
	if slices.ContainsFunc(families, func(f string) bool { return f != "" }) {
		s.Families = families
	}
	if makes != nil && len(families) > 0 {
		m := *makes
		m.Pred, m.Keys = pred, families[:len(families)-1]
		s.Maker = &m
	}
	return s
}

// WithMakers adds to names of predicates those that make the entities in them,
// as far as they are other ones.
func WithMakers(shapes []Shape, names []string) []string {
	families := map[string]bool{"": true}
	for changed := true; changed; {
		changed = false
		for _, s := range shapes {
			named := slices.Contains(names, s.Pred)
			for _, f := range s.Families {
				if named && !families[f] {
					families[f], changed = true, true
				}
			}
			if s.Maker != nil && families[s.Maker.Family] && !named {
				names, changed = append(names, s.Pred), true
			}
		}
	}
	return names
}

// Show replaces the relations that have entities by ones that show them as
// terms. An error says that makers do not fit each other.
func Show(shapes []Shape, relations map[string]*Relation) (map[string]*Relation, error) {
	var makers []Maker
	for _, s := range shapes {
		if s.Maker != nil && relations[s.Pred] != nil {
			makers = append(makers, *s.Maker)
		}
	}
	terms, err := newTerms(makers, relations)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*Relation, len(relations))
	for name, x := range relations {
		out[name] = x
	}
	for _, s := range shapes {
		if x := relations[s.Pred]; x != nil && s.Families != nil {
			out[s.Pred] = terms.shown(x, s.Families)
		}
	}
	return out, nil
}
