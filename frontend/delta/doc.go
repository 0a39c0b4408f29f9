// Package delta rewrites transactions into programs without delta logic.
//
// In: the syntax trees of the program that earlier transactions installed, and
// those of one transaction. Out: syntax trees that semantic analysis knows, in
// which each event and each stage of a predicate is a predicate of its own, the
// contents of the changed predicates follow by rules, and clauses that the
// transaction cannot affect are missing.
//
//	+R        what the transaction inserts into R
//	-R        what it deletes
//	^R        the values that it sets; each is an insertion, and a deletion of
//	          the value before
//	R@start   what R held before the transaction
//	R         (R@start minus -R) with +R, the frame rule
//	+D, -D    for a derived D: D minus D@start, and D@start minus D
//
// A constructor is a predicate like any other here. Semantic analysis numbers
// its entities so that each keeps its number.
//
// It imports the syntax tree and diagnostics; types come later.
package delta
