// Package ir makes functions and modules of LLVM IR: blocks, loops and
// branches, parameters, arrays of a tile's items, columns, shared memory, calls
// of primitives, and the text of a module.
//
// In: shapes, for which package emit calls the methods of a Function. Out:
// Code. A Function knows the target and its parameters, but no stages, sinks or
// groups; those are for package emit. It must not import internal/llvm or an
// engine.
package ir
