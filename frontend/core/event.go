package core

import "strings"

// StartSuffix ends the name of the predicate of what another one held before
// the transaction.
const StartSuffix = "@start"

// MadeSuffix ends the name of the predicate that has all entities of a maker,
// those of earlier transactions among them.
const MadeSuffix = "@made"

// NamedSuffix ends the name of the predicate that has the entities of a maker
// which facts from outside name by their terms. The name before it has the
// MadeSuffix.
const NamedSuffix = "@named"

// NewSuffix follows the NamedSuffix in the name of the predicate that has those
// among them which the facts name that the transaction loads.
const NewSuffix = "@new"

// Event returns the predicate of which another one is an event of the
// transaction, +p, -p or ^p, or the start, p@start. No name of a program looks
// like that.
func Event(name string) (base string, start, ok bool) {
	if base, ok = strings.CutSuffix(name, StartSuffix); ok {
		return base, true, true
	}
	if name != "" && strings.IndexByte("+-^", name[0]) >= 0 {
		return name[1:], false, true
	}
	return "", false, false
}
