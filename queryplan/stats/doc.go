// Package stats is what the optimiser knows of stored data: cardinalities,
// distinct counts, ranges, uniqueness and clustering of columns, and which
// predicates are columns of one stored table; and what follows from it for the
// results of operators.
//
// In: a catalogue that the driver fills from the loaded facts, and plans. Out:
// estimates of rows and distinct values, and bounds that hold for certain, for
// package rewrite and for the annotations of `redfox explain`. It imports
// queryplan and scalar only.
package stats
