package core

import (
	"fmt"
	"slices"
)

// Keep says which of the values that rules derive for one key of a functional
// predicate it has.
type Keep uint8

// The ways to keep values.
const (
	// KeepAll keeps each value; two for one key end the run.
	KeepAll Keep = iota
	// KeepLeast and KeepGreatest keep one value for each key. In a recursion
	// the predicate is a map to values that only improve, and the program means
	// the least fixpoint of these maps.
	KeepLeast
	KeepGreatest
	// KeepAny keeps the first value of each key: the least of those that rules
	// derive in the first round in which they derive one. A round of a
	// recursion applies all rules to what the rounds before have left. The
	// first one has the facts and what the rules without a recursive atom
	// derive.
	KeepAny
)

// String returns "all", "least", "greatest" or "any".
func (k Keep) String() string { return [...]string{"all", "least", "greatest", "any"}[k] }

// Phrase is what is kept, as in a sentence: "the least", for example.
func (k Keep) Phrase() string {
	if k == KeepLeast || k == KeepGreatest {
		return "the " + k.String()
	}
	return k.String()
}

// KeepsOne reports whether the predicate keeps one value for each key, of those
// that rules derive.
func (p *Pred) KeepsOne() bool { return p.Keeps != KeepAll }

// Improves reports whether the predicate keeps the best value for each key.
func (p *Pred) Improves() bool { return p.Keeps == KeepLeast || p.Keeps == KeepGreatest }

// Chooses reports whether a stratum has a predicate that keeps the first value
// of each key, so that what it derives depends on its rounds.
func (s *Stratum) Chooses() bool {
	return slices.ContainsFunc(s.Preds, func(p *Pred) bool { return p.Keeps == KeepAny })
}

func (p *Pred) verifyKeep() error {
	if p.KeepsOne() && (p.Keys != len(p.Args)-1 || p.KeysHold()) {
		return fmt.Errorf("%s keeps %s of values that it does not have", p.Name,
			p.Keeps.Phrase())
	}
	return nil
}
