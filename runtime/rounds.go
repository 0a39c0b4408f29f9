package runtime

import (
	"math"
	"sort"
)

// DefaultMaxRounds bounds the rounds of an unbounded loop over few facts. At
// it, a program that only counts ends after about a second.
const DefaultMaxRounds = 1_000_000

// RoundsBound returns how many rounds an unbounded loop of the request may
// take. By default it may take as many as there are rows of facts, if these are
// more than DefaultMaxRounds: a walk over facts that comes to none of them
// twice, such as one that counts its steps along a list, ends by then. The
// bound does not depend on the engine, nor on the plan that the optimiser
// makes.
func (r *Request) RoundsBound() int64 {
	switch {
	case r.MaxRounds > 0:
		return r.MaxRounds
	case r.MaxRounds < 0:
		return math.MaxInt64
	case r.Facts == nil:
		return DefaultMaxRounds
	}
	return max(DefaultMaxRounds, int64(r.Facts.Rows()))
}

// Rounds are the ends of the rounds that found tuples of a relation, in order.
// The rounds of all relations of a run are numbered together.
type Rounds []RoundEnd

// RoundEnd says how many tuples a relation had at the end of a round.
type RoundEnd struct{ Round, Rows int64 }

// Of returns the round in which the tuple of a row was found.
func (r Rounds) Of(row int64) int64 {
	return r[sort.Search(len(r), func(i int) bool { return row < r[i].Rows })].Round
}

// Before returns how many tuples were found before a round.
func (r Rounds) Before(round int64) int64 {
	i := sort.Search(len(r), func(i int) bool { return round <= r[i].Round })
	if i == 0 {
		return 0
	}
	return r[i-1].Rows
}
