// Package emit turns units in normal form, whose types are known, into the
// rules and checks of a core program. Constants are folded, and what can never
// hold is left out or reported.
//
// In: predicates, units and their types. Out: a core.Program without strata,
// and its rules. It may import the packages of the front end except sema and
// strata. `redfox compile --emit core` prints the program.
package emit
