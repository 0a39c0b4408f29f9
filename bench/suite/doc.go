// Package suite holds the questions of the query benchmarks: the queries of
// TPC-H and of the Star Schema Benchmark in LogiQL and in SQL, the shape of
// their data, DuckDB as a peer that answers them, published figures of other
// systems, and the comparison of answers.
//
// In: the name of a suite. Out: texts of queries; answers and times of the
// peer; mismatches. Package measure times redfox on them. This package must not
// import any phase, any engine or internal/driver, because tests of all of
// these use it. `redfox bench list` prints the suites and their queries.
package suite
