// Package oracle evaluates checked programs by brute force, to say what the
// answer is when engines are tested: every rule is tried on all tuples, by
// nested loops in the order of its body, until nothing new comes out.
//
// In: a core program and facts. Out: the tuples of every predicate, violated
// constraints, or the refusal of the run. It must not import a plan, a rewrite
// or an engine: what it shares with them is the checked program and the
// single-value functions of internal/scalar. Only tests import it.
package oracle
