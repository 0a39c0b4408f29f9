// Package fuse fuses kernels: it replaces a producer and a consumer by one
// kernel if rows can pass between them through registers or a block's scratch
// memory instead of a temp in device memory. The idea is that of Kernel Weaver
// (Wu, Diamos, Cadambi, Yalamanchili, MICRO 2012).
//
// In: a kernel graph, a budget of registers, scratch memory and parameters, and
// the pairs not to fuse. Out: a kernel graph with the same meaning, and a
// Report of the fusions, the estimated resources of each kernel, and every
// refused fusion with one of the Reasons. `redfox compile --emit harmony`
// prints the fused graph, with --no-fuse the one before, and `redfox explain
// --kernels` and `redfox explain --why-not-fused` print the report. It imports
// harmony and the packages of its vocabulary, and must never import an engine,
// package lower or what generates code.
//
// # What becomes one
//
// A consumer of a temp is fused with the producer if the temp has no other
// rows, and no command between the two prevents moving one of them to the
// other. The consumer's loads become the registers that the producer stores,
// and what only the store needs is removed. Several producers of a temp, a
// union, each get the consumer's stages. Of several consumers, those that keep
// all rows become further sinks of the producer. Each other one gets a copy of
// the producer, if the estimated memory traffic of repeating its work is no
// higher than that of storing the rows once and reading them for each. Finally,
// kernels of a block that keep the same rows of the same source become one
// kernel with all their sinks. In a large program, those outside of loops get
// few inserts, because the largest kernel bounds the time until the first
// answer.
//
// Operations that need all of their input are not fused: indexes, groups that
// are read, numbering, checks, rounds of recursion. But a numbering or ranking
// can take over the work of kernels that only copy rows to a temp for it, or
// only move its rows from a temp to another one or to a derived relation that
// gets no tuple twice, because it can read any columns of a relation and fill
// any columns of another.
//
// Once the kernels are final, an index over old rows and one over all rows,
// with the same columns, become one, if the kernels of a round can be ordered
// such that those that probe old rows come before the build that adds the
// delta.
//
// Compaction of tiles after selective filters is not decided here, nor is the
// order of loads; the budgets are estimates, as no code is generated yet.
package fuse
