// Package loops finds the loops of a plan: what each of them changes, and which
// block dominates which.
//
// In: a plan. Out: sets of variables and an order of blocks, for the passes
// that move work. It imports queryplan only; no flag prints it.
package loops
