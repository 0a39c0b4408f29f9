// Package build turns checked programs into query plans.
//
// In: a core program. Out: a verified plan, before any optimisation: joins in
// the order of the source, recursion as loops over the full, delta and old
// versions of variables (semi-naive evaluation; Bancilhon, 1986), aggregates
// over the bag of all bindings of a body, constraints as queries for
// violations. It must import core, queryplan, scalar and source only. `redfox
// compile --emit plan` with every pass disabled prints what it makes.
package build
