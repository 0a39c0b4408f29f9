// Package strata orders the rules of a core program.
//
// In: a program without strata, and its rules. Out: the strata, in evaluation
// order, and diagnostics for cycles through negation or aggregation and for
// recursions that may never end. It may import core, diag and source. `redfox
// compile --emit core` prints the strata.
package strata
