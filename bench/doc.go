// Command bench measures redfox beside DuckDB, on the same machine with the
// same number of threads, and prints one table a suite.
//
//	go run ./bench [flags] [tc|sg|triangles|cliques|tpch|ssb|cpu|fusion|latency|gpu|load|
//		check|memory|large|first|cspa|andersen|pointsto|growing|doop|crdt|iterate|spill|
//		asks|mixed|recursion]...
//	go run ./bench [-sf SCALE] [-out DIR] [-seed N] ssbgen
//	go run ./bench docs
//
// A suite is a comparison: a list of works, and one function that measures each
// of them on several systems. The suites gpu and latency have tables of their
// own, as has mixed. Package measure times queries, and package suite has their
// texts and calls the peer, which is the Python package duckdb. An answer that
// differs from the peer's fails the run. Times are medians over repetitions on
// loaded data, after a run that is not counted, unless a column says otherwise.
// The suites fusion, latency, large, first and spill measure redfox alone;
// pointsto has a solver of its own as the peer, and iterate loops over arrays.
// The suites sg, cspa and andersen, and with -peer also tc, triangles and
// cliques, run processes beside the commands of -peer, such as the Rust
// programs of bench/peers. The suite recursion runs each program in processes
// of its own, which are calls of this command with the argument once.
// bench/history.md holds what was learned from the tables. The command imports
// redfox as any program does and must not import any phase or engine.
package main
