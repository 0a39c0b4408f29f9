package core

import "fmt"

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
)

// String returns "all", "least" or "greatest".
func (k Keep) String() string { return [...]string{"all", "least", "greatest"}[k] }

// Improves reports whether the predicate keeps the best value for each key.
func (p *Pred) Improves() bool { return p.Keeps != KeepAll }

func (p *Pred) verifyKeep() error {
	if p.Improves() && (p.Keys != len(p.Args)-1 || p.KeysHold()) {
		return fmt.Errorf("%s keeps the %s of values that it does not have", p.Name, p.Keeps)
	}
	return nil
}
