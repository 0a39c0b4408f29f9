package driver

import "github.com/redfoxdb/redfox/frontend/source"

// Combinations is a rule some of whose variables range over all entities of a
// type (RF0806), and the number of combinations that a run tried.
type Combinations struct {
	At    source.Position // of the head
	Count int64
	Types []string // of the variables
	Sizes []int64  // of the types
}

// Combinations returns how many combinations a run tried for each rule that
// ranges over entity types, of which the result has the entities.
func (p *Program) Combinations(res *Result) []Combinations {
	if p.core == nil {
		return nil
	}
	var out []Combinations
	for _, rule := range p.core.Combinations {
		c := Combinations{At: rule.Span.Position(), Count: 1, Types: rule.Types}
		for _, name := range rule.Types {
			if !res.Has(name) {
				break
			}
			n := res.Len(name)
			c.Count, c.Sizes = c.Count*n, append(c.Sizes, n)
		}
		if len(c.Sizes) == len(c.Types) {
			out = append(out, c)
		}
	}
	return out
}
