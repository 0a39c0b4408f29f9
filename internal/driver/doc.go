// Package driver joins the phases: it compiles programs, loads facts, chooses
// engines and runs plans, and prints what lies between.
//
// The command, the benchmarks and the API of the root package are built on it.
// It hands the work down: to frontend and queryplan, to runtime/machine for the
// choice of an engine, to runtime/pool for the engine, and to weaver/assemble
// for code. None of them imports it. compile.go is the column of calls to read
// first.
package driver
