package runtime

import "math"

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
