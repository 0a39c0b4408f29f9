// Package emit turns shapes into LLVM IR: each kernel and each index build
// becomes one function that obeys harmony/abi, over tiles of rows, for CPUs and
// GPUs alike.
//
// In: the shapes of a kernel graph (weaver/shape). Out: the IR as text, and the
// abi.Module that lists its functions and their parameters. Each shape is
// emitted once; nothing is decided here that the shape can decide. The caller
// links the primitives' bitcode, optimises and generates code. Package emit
// must not import an engine or internal/llvm. `redfox compile --emit llvm`
// prints what it makes.
//
// # Tiles
//
// A register is an array in each thread, with an element for each item, which
// LLVM turns into registers on a GPU. An array of bytes flags the live items. A
// run becomes one loop over the items with SSA values, so that only what is
// read after the run has an array. Everything that touches a table is a call of
// a primitive for the whole tile.
//
// On a GPU, the loads behind a filter are begun before it, all together, and so
// is the look at the gauges; a load behind a probe fetches live rows only.
//
// # Groups
//
// A GPU's block keeps groups in registers, in cells of its threads, or in a
// table in shared memory, and adds them to the groups of all blocks when it
// leaves. Rows that find no place go to the groups of all blocks at once, and a
// warp with mostly such rows stops looking. A tile has four parts there, one
// after the other, so that a block looks at the gauges seldom. Accumulators of
// one operand share its sum, and all that count share a number of rows.
//
// Rows that come in the order of their keys need no table
// (primitives/src/runs.h): a block adds up the runs of equal keys of a tile in
// registers and appends them to a list. Only the first and the last run of a
// tile, which other tiles may continue, are searched by key. Tiles are taken in
// any order and none waits for another, as tiles would in a scan.
//
// # Keys
//
// A search in a table without a hash works on 32 bits if the bounds of the
// words allow it. A key that lies within the table by its bounds is not
// compared with the size. On a GPU such a probe, and a gather, is a predicated
// load for each item: all items' loads are in flight together.
//
// # Expansion
//
// A probe of a multi index turns the items of the tile into several tiles, one
// after the other, each a round: the rest of the kernel is a loop in the
// function. Values from before the expansion reach its rounds through shared
// memory on a GPU, and straight from the arrays on a CPU. The rounds' positions
// are part of the state that a function leaves when a gauge stops it.
package emit
