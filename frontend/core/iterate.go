package core

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Iteration makes a predicate the last of a sequence of rounds: lang:iterate
// and lang:iterateUntil. The rules that read no predicate of its stratum give
// its first contents, and every round replaces them by what its other rules
// derive from the contents before. At least one of the two bounds is there.
type Iteration struct {
	Span source.Span
	// Most is the number of rounds, or -1 if only Until ends them.
	Most int64
	// Until is set if the rounds end when no value moves by more than it. It
	// has the type of the value, and is Invalid otherwise.
	Until scalar.Value
	// Still says that the rounds end when nothing moves at all. Until is then
	// not set.
	Still bool
}

// Converges reports whether the rounds can end before the last one.
func (i *Iteration) Converges() bool { return i.Still || i.Until.Type.Kind != scalar.Invalid }

// String writes the bounds, as in `iterates 50 until 0.001`.
func (i *Iteration) String() string {
	text := "iterates"
	if i.Most >= 0 {
		text += fmt.Sprintf(" %d", i.Most)
	}
	switch {
	case i.Still:
		text += " until still"
	case i.Converges():
		text += " until " + scalar.Literal(i.Until)
	}
	return text
}

// Iterates reports whether the stratum is evaluated in rounds of lang:iterate.
// Its predicates are then in the order in which a round derives them: first
// those that the round computes on its way, then those that iterate.
func (s *Stratum) Iterates() bool { return s.Iteration() != nil }

// Iteration returns how the rounds of the stratum end, or nil. All predicates
// that iterate in it have the same number of rounds.
func (s *Stratum) Iteration() *Iteration {
	for _, p := range s.Preds {
		if p.Iterates != nil {
			return p.Iterates
		}
	}
	return nil
}

// Starts reports whether a rule gives first contents to a predicate that
// iterates: it reads no predicate of the stratum.
func (s *Stratum) Starts(r *Rule) bool {
	return r.Head.Pred.Iterates != nil && !readsAny(r.Body, s.Preds)
}

func readsAny(body []Literal, preds []*Pred) bool {
	for _, l := range body {
		switch l := l.(type) {
		case *Atom:
			for _, p := range preds {
				if p == l.Pred {
					return true
				}
			}
		case *Not:
			if readsAny(l.Body, preds) {
				return true
			}
		}
	}
	return false
}

// iteration verifies the rules of a stratum that iterates. A round reads what
// iterates as the round before has left it.
func (v *verifier) iteration(s *Stratum) error {
	if s.Recursive {
		return fmt.Errorf("the iteration of %s is a recursion too", s.Preds[0].Name)
	}
	most := s.Iteration().Most
	for _, p := range s.Preds {
		if i := p.Iterates; i != nil {
			v.complete[p] = true
			if i.Most != most || i.Most < 0 && !i.Converges() {
				return fmt.Errorf("%s %s, but not like its stratum", p.Name, i)
			}
		}
	}
	for _, p := range s.Preds {
		for _, r := range s.Rules {
			if r.Head.Pred != p {
				continue
			}
			if err := v.rule(r, nil); err != nil {
				return fmt.Errorf("rule %s: %w", r, err)
			}
		}
		v.complete[p] = true
	}
	return nil
}

func (p *Pred) verifyIteration() error {
	if i := p.Iterates; i != nil {
		if p.KeepsOne() || p.KeysHold() || p.Keys < len(p.Args)-1 {
			return fmt.Errorf("%s cannot iterate", p.Name)
		}
		if i.Until.Type.Kind != scalar.Invalid &&
			(!p.Functional() || i.Until.Type != p.Args[p.Keys].Type) {
			return fmt.Errorf("%s iterates until a value of type %s", p.Name, i.Until.Type)
		}
	}
	return nil
}
