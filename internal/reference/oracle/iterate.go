package oracle

import (
	"math"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

func newRelation() *relation {
	return &relation{seen: map[string]bool{}, values: map[string]Tuple{}}
}

// iterate evaluates a stratum of lang:iterate round by round.
func (m *machine) iterate(s *core.Stratum) error {
	var first, next []*core.Rule
	for _, r := range s.Rules {
		switch {
		case s.Starts(r):
			first = append(first, r)
		case r.Head.Pred.Iterates != nil:
			next = append(next, r)
		}
	}
	if err := m.replace(s, first); err != nil {
		return err
	}
	for round := int64(0); s.Iteration().Most < 0 || round < s.Iteration().Most; round++ {
		before := map[*core.Pred]*relation{}
		for _, p := range s.Preds {
			before[p] = m.relations[p]
		}
		if err := m.onTheWay(s); err != nil {
			return err
		}
		if err := m.replace(s, next); err != nil {
			return err
		}
		converges, moves := false, false
		for _, p := range s.Preds {
			if p.Iterates != nil && p.Iterates.Converges() {
				converges = true
				moves = moves || moved(p, before[p], m.relations[p])
			}
		}
		if converges && !moves {
			break
		}
	}
	return m.onTheWay(s)
}

// replace gives the predicates that iterate what rules derive from the contents
// that they have.
func (m *machine) replace(s *core.Stratum, rules []*core.Rule) error {
	derived := make([][]Tuple, len(rules))
	for i, r := range rules {
		var err error
		if derived[i], err = m.derive(r); err != nil {
			return err
		}
		if m.steps <= 0 {
			return ErrTooLarge
		}
	}
	for _, p := range s.Preds {
		if p.Iterates != nil {
			m.relations[p] = newRelation()
		}
	}
	for i, r := range rules {
		for _, t := range derived[i] {
			if _, err := m.insert(r.Head.Pred, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// onTheWay derives the other predicates of the stratum.
func (m *machine) onTheWay(s *core.Stratum) error {
	for _, p := range s.Preds {
		if p.Iterates != nil {
			continue
		}
		m.relations[p] = newRelation()
		for _, r := range s.Rules {
			if r.Head.Pred != p {
				continue
			}
			derived, err := m.derive(r)
			if err != nil {
				return err
			}
			for _, t := range derived {
				if _, err := m.insert(p, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// moved reports whether a round has moved a predicate by more than it may.
func moved(p *core.Pred, before, after *relation) bool {
	if len(before.tuples) != len(after.tuples) {
		return true
	}
	for _, t := range after.tuples {
		old, ok := before.values[t[:p.Keys].String()]
		if !ok || p.Functional() && !near(old[p.Keys], t[p.Keys], p.Iterates) {
			return true
		}
	}
	return false
}

// near reports whether two values are no further apart than an iteration lets
// them be when it ends.
func near(a, b scalar.Value, i *core.Iteration) bool {
	if a == b || i.Still {
		return a == b
	}
	if a.Type.Kind == scalar.Decimal {
		d, ok := scalar.Lookup("sub").Eval(a.Type, []scalar.Value{a, b})
		if !ok || !d.Fits() {
			return false
		}
		d, ok = scalar.Lookup("abs").Eval(a.Type, []scalar.Value{d})
		return ok && scalar.Compare(d, i.Until) <= 0
	}
	return math.Abs(asFloat(a)-asFloat(b)) <= asFloat(i.Until)
}

func asFloat(v scalar.Value) float64 {
	f, _ := scalar.Lookup("convert").Eval(scalar.FloatType, []scalar.Value{v})
	return f.Float()
}
