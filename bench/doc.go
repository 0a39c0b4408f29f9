// Command bench measures redfox beside DuckDB, in one run, on the same machine
// with the same number of threads, and prints one table a suite.
//
//	go run ./bench [flags] [tc|triangles|tpch|ssb|cpu|fusion|latency|gpu|load|check|memory]...
//	go run ./bench [-sf SCALE] [-out DIR] [-seed N] ssbgen
//
// The peer is the `duckdb` Python package, called by package bench/suite; an
// answer that differs from the peer's fails the run. Times are medians over
// repetitions of a query on loaded data, after one that is not counted, unless
// a column says otherwise. The suites fusion and latency measure redfox alone.
// bench/history.md holds what was learned from the tables. It imports
// redfox as any program does and must not import any phase or engine.
package main
