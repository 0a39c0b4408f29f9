// Package emit turns kernels into LLVM IR: each kernel and each index build becomes
// one function that obeys harmony/abi, over tiles of rows, for CPUs and GPUs alike.
//
// In: a kernel graph, as package fuse leaves it, the target, and what is known of
// the words that functions take. Out: the IR as text, and the abi.Module that says
// which functions it has and what their parameters are. A graph for a GPU has been
// through package partition. The caller links the primitives' bitcode, optimises and
// generates code. It imports harmony, the analyses of kernel graphs, weaver/expr,
// weaver/fuse, weaver/partition and primitives; it must never import an engine or
// internal/llvm. `redfox compile --emit llvm` prints what it makes.
//
// # A tile
//
// A kernel's source is cut into tiles of threads × items rows. On a GPU a thread has
// 4 or 8 items at a time; what one thread holds of a register is an array that LLVM unrolls
// into registers. On a CPU the one thread has 1,024 items; arrays stand in the
// first-level cache and loops over them are vectorised. An array of bytes flags the
// items whose rows are still in the race.
//
// Runs of loads, functions and filters become one loop over the items with SSA
// values, so that only what is read after the run has an array. Everything that
// touches a table is a call of a primitive for the whole tile.
//
// # Order of work
//
// Definitions without effects move down to their first use, past filters and probes
// that drop rows, but not past an expansion: it multiplies rows. On a GPU the loads
// behind a filter are begun before it, all together, and so is the look at the gauges;
// a load behind a probe fetches only what is live.
//
// On a CPU the rows that filters and probes leave are moved together (compaction)
// before random accesses and before they are stored: loops then run over fewer
// items, and columns loaded later are fetched for those alone. Nothing moves if all
// rows are left. Before groups whose slots are found without a search rows stay
// where they are: accumulating with a mask costs less than moving its operands.
//
// On a GPU a loop over items is unrolled and takes as many instructions for few rows as
// for all. A kernel that is expected to drop most of its rows is cut in two there: what
// is ahead of the cut works on whole tiles and leaves the numbers of rows in a queue in
// shared memory, a warp's own where no sink needs the whole block; what is behind it takes
// a row a thread as soon as there are enough, and reads what it needs by their numbers.
// Estimates say whether and where: the bounds of columns, and the filters of the kernels
// that fill what is probed. Rows stay in place where most are left, where they multiply, and
// where their order matters.
//
// # Groups
//
// A GPU's block has groups of its own, in registers where there is no key, else in a
// table in shared memory with room for up to 2,048 groups with small numbers or 1,024
// others; they are added to those of all blocks when the block leaves. Where rows are
// read as they stand, not looked up, the table has a place for each of as many groups
// with small numbers as a multiprocessor's shared memory holds, 28,000 with a sum of 64
// bits, and the few blocks that fit have more threads. Of up to eight times as many, each
// of several blocks that work on the same rows has a share, if hundreds of rows come for each
// group. Rows that find no place go to the
// groups of all blocks at once, and a warp of which most rows do stops asking. A tile has
// four parts there, one after the other, so that a block looks at the gauges seldom. Of a
// few groups with small numbers each thread has cells of its own in shared memory, as
// many as leave room for enough threads: they take no atomics. Accumulators of one
// operand share its sum, and all that count share a number of rows.
//
// Rows that come in the order of their keys need no table (primitives/src/runs.h): a block
// adds up the runs of equal keys of a tile in registers and appends them to a list. Only the
// first and the last run of a tile, which others may go on with, are looked for by key.
// Tiles are taken in any order, and none waits for another one, as a scan of all tiles would
// have it.
//
// # Keys
//
// What looks for a key in a table without a hash works on 32 bits where the bounds of
// words, and so of keys, allow it. A key that is within the table by the bounds of its
// words is not compared with its size. On a GPU such a probe, and a gather, is a
// predicated load for each item: all items' loads are in flight together, and what an
// item that is not live gets does not depend on the tile before, which would keep
// registers for it through the loop.
//
// # Expansion
//
// A probe of a multi index makes the items of the tile into several tiles, one after
// the other, each a round: the rest of the kernel is a loop in the function. Values
// from before the expansion reach its rounds through shared memory on a GPU, and
// straight from the arrays on a CPU. The rounds' positions are part of the state
// that a function leaves when a gauge stops it.
package emit
