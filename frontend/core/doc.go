// Package core is the checked program: predicates with types, safe rules in
// normal form, grouped into strata in evaluation order. It is what the front
// end hands over.
//
// In: nothing; sema builds it. Out: the input of queryplan/build. Every rule
// has one head atom and a disjunction-free body; every argument of an atom is a
// variable or a constant; every expression is typed. `redfox compile --emit
// core` prints it. It imports source and scalar only.
package core
