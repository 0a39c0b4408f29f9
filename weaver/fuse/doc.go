// Package fuse makes few kernels of many: it finds producers and consumers
// between which rows can pass through registers or a block's scratch memory
// instead of through a temp in device memory, as Kernel Weaver does (Wu,
// Diamos, Cadambi, Yalamanchili, MICRO 2012), and replaces them by one kernel.
//
// In: a kernel graph, a budget of registers, scratch memory and parameters, and
// the pairs to leave apart. Out: a kernel graph of the same meaning, and a
// Report of what was fused, what each kernel is expected to take, and every
// fusion that was refused, with one of the Reasons. `redfox compile --emit
// harmony` prints the fused graph, with --no-fuse the one before, and `redfox
// explain --kernels` and `redfox explain --why-not-fused` print the report. It
// imports harmony and the packages of its vocabulary, and must never import an
// engine, package lower or what generates code.
//
// # What becomes one
//
// A consumer of a temp takes its rows from the producer when nothing else can
// be in the temp, and no command between the two forbids to move one of them to
// the other. Its loads become the registers that the producer stores; what only
// the store needed goes. Several producers of a temp, a union, each get the
// consumer's stages. Of several consumers, those that keep all rows become
// further sinks of the producer; each other one gets a copy of the producer, if
// an estimate of the memory traffic says that repeating its work costs no more
// than storing the rows once and reading them back for each. At last, kernels
// of a block that keep the same rows of the same source become one with all
// their sinks. In a large program, those outside of loops get few inserts,
// because the largest kernel bounds the time until the first answer.
//
// An operation that needs all of its input does not fuse: indexes, groups that
// are read, numbering, checks, rounds of recursion. A numbering or ranking does
// take over the work of kernels that only copy rows to a temp for it, or move
// its rows from a temp to another one or to a derived relation that gets no
// tuple twice: it reads any columns of a relation, and fills any of another.
//
// When kernels are final, an index over old and one over full rows of the same
// columns become one, if the kernels of a round can be put into an order in
// which those that probe old rows come before the build of the others.
//
// Compaction of tiles after selective filters is not decided here, nor is the
// order of loads; the budgets are estimates, as no code is generated yet.
package fuse
