// Package measure times redfox on the queries of a suite: loading, the first
// run with nothing compiled, hot runs, kernels, and the effect of each pass of
// the optimiser. It compares every answer with the one of DuckDB.
//
// In: a Runner, that is a suite, its data and options of a run. Out: a Report,
// which is written as JSON and as a chart. `redfox bench` and the command bench
// are its callers. It imports redfox as any program does, and must not import
// any phase or engine.
package measure
