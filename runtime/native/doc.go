// Package native is the cpu engine: it runs kernel graphs as machine code that
// is compiled for the plan and the layout of the facts.
//
// In: a plan and a database of facts. Out: a runtime.Answer, as of every
// engine. The engine lowers the plan, finds its string domains and ranges, and
// chooses the layout of each column, set, index and group table. Then the
// Generator of Options generates code in which all of that is constant, and
// libLLVM optimises and compiles it. A run of the same plan over facts of the
// same layout reuses the code and needs no LLVM.
//
// The package must not import the front end, other than source, nor a compiler
// pass: Options brings those. `redfox run --engine cpu` uses the package, and
// `redfox run --profile` shows what its kernels cost.
//
// # Running
//
// A kernel is a function over tiles (harmony/abi). Workers take morsels of
// tiles from a shared counter. Each relation or table that a kernel fills has a
// gauge. The limit of the gauge leaves room for the tiles that workers have
// begun. A worker that finds the limit passed saves its position and returns.
// When all have returned, the engine enlarges relations, sets and tables, and
// the workers continue where they were. So no tile is processed twice and
// nothing is written past its end, however wrong the estimates are. To cancel a
// run, the engine lowers all limits.
//
// Columns, sets and tables of a megabyte and more live outside of Go's heap,
// and count towards the memory bound of the request.
package native
