// Package suite has what benchmarks of queries consist of: the queries of TPC-H
// and of the Star Schema Benchmark, in LogiQL and in SQL, what their data look
// like, DuckDB as a peer, figures that others have published, the comparison of
// answers, the memory bandwidth of the machine, and reports as JSON and as a
// chart.
//
// In: the name of a suite, times that were measured, answers. Out: texts of
// queries, answers and times of the peer, reports. It runs no query of redfox,
// and must not import any phase, engine or the root package: `redfox bench` and
// the command bench, which measure, are its users. `redfox bench list` prints
// the suites and their queries.
package suite
