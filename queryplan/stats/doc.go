// Package stats estimates the results of operators from statistics of stored
// data: cardinalities, distinct counts, ranges, uniqueness and clustering of
// columns, and which predicates are columns of one stored table.
//
// In: a catalogue that the driver fills from the loaded facts, and plans. Out:
// estimates of rows and distinct values, and bounds that certainly hold, for
// package rewrite and for the annotations of `redfox explain`. It imports
// queryplan and scalar only.
//
// An estimate uses the first of these that applies:
//
//   - a condition: the rows of a table's sample that pass it, with all
//     conditions on the table together; if fewer than fewRows pass, the
//     frequent values of the column, its range and its distinct values, within
//     the limits of the sample;
//   - a join on an ascending key: the rows to which those of the sample refer;
//   - a join on another ascending column: the number of rows with the values in
//     the other side's sample;
//   - any other join: the pairs of rows of both samples that agree; if fewer
//     than surePairs do, the distinct values within the common range, within
//     the limits of the samples;
//   - groups: the distinct values in the sample, or the product of those of the
//     columns.
package stats
