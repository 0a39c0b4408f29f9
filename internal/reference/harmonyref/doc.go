// Package harmonyref runs kernel graphs the obvious way, a row at a time. It is
// the meaning of a kernel graph in one place, for tests that compare lowering,
// fusion and engines with it and with package planref, whose pieces it uses.
//
// In: a program of harmony and facts as values. Out: the answer in the form of
// planref, or the error that ends the run. Run frees variables as Lifetimes
// says, and fails if one is read later. Disagreement compares two programs over
// the same facts. Only tests may import it; it imports harmony, planref,
// queryplan and scalar. No flag prints it.
package harmonyref
