// Package stats is what the optimiser knows of stored data: cardinalities,
// distinct counts, ranges, uniqueness and clustering of columns, and which
// predicates are columns of one stored table; and what follows from it for the
// results of operators.
//
// In: a catalogue that the driver fills from the loaded facts, and plans. Out:
// estimates of rows and distinct values, and bounds that hold for certain, for
// package rewrite and for the annotations of `redfox explain`. It imports
// queryplan and scalar only.
//
// An estimate uses the first of these that applies:
//
//   - a condition: the rows of a table's sample that it leaves, all conditions on the
//     table together; where fewer than fewRows are left, the frequent values of the
//     column, its range and its distinct values, within what the sample allows;
//   - a join on a key that ascends: the rows that those of the sample refer to;
//   - a join on another column that ascends: the number of rows with the values in the
//     other side's sample;
//   - any other join: the pairs of rows of both samples that agree; where fewer than
//     surePairs do, the distinct values within the range that both sides have, within
//     what the samples allow;
//   - groups: the distinct values in the sample, or the product of those of the columns.
package stats
