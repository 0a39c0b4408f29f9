// Package harmonyref runs kernel graphs the obvious way, a row at a time. It is
// the meaning of a kernel graph in one place, for tests that compare lowering,
// fusion and engines with it and with package planref, whose pieces it uses.
//
// In: a program of harmony and facts as values. Out: the answer as planref
// gives it, or the error that ends the run. It frees what Lifetimes says, and
// fails where something is read after that. Only tests may import it; it
// imports harmony, planref, queryplan and scalar. No flag prints it.
package harmonyref
