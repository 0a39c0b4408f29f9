// Package shape makes the decisions that come before code: the order of a
// kernel's stages, the shape of its tile, its registers, whether a queue cuts
// it in two, where groups are kept, and how much memory all of that takes.
//
// In: a kernel graph, as package fuse leaves it, the target, and what is known
// of the facts. Out: a Program, which has a Function for each kernel and each
// build of an index; it prints, and parses from its text. Package emit turns it
// into code and decides none of this again. It must not import an engine,
// weaver/emit, or anything that makes IR itself. `redfox compile --emit shape`
// prints the shapes; `redfox explain --kernels` prints the reasons for them.
//
// # A tile
//
// A kernel's source is cut into tiles of threads × items rows. On a GPU a
// thread has 4 or 8 items at a time, which LLVM unrolls into registers. On a
// CPU the one thread has 1,024 items in arrays, which stay in the first-level
// cache. A tile is as large as the estimate of package fuse, the block's shared
// memory or the stack allow; each further limit has a Reason.
//
// # Order of work
//
// Definitions without effects move down to their first use, past filters and
// probes that drop rows, but not past an expansion, which multiplies rows.
// Stages without a search form runs, which are one loop over the items. On a
// CPU, live rows move together (compaction) before random accesses and before
// they are stored. Rows stay in place before groups whose slots need no search:
// accumulating with a mask costs less than moving operands.
//
// # Queues
//
// A GPU's loop over items is unrolled and takes as many instructions for few
// rows as for all. A queue in shared memory cuts a kernel in two where most
// rows are expected to be dropped. The stages ahead of it work on whole tiles
// and push the numbers of rows; those behind it take one row a thread once
// there are enough. The decision rests on estimates: the bounds of columns, and
// the filters of the kernels that fill what is probed.
//
// # Groups
//
// Without a key, a GPU's threads keep accumulators in registers. For a few
// groups with numbers, each thread has cells of its own in shared memory, which
// need no atomics. Otherwise a block has a table in shared memory: with a place
// for each group if all fit, else with up to 2,048 places for groups with
// numbers or 1,024 that are found by search. If rows are read in order only,
// the table may take all shared memory of a multiprocessor; up to eight blocks
// then share the groups.
package shape
