// Package hostcode makes IR machine code of this process: functions that are
// made for a program, and the primitives of whole tiles, which these call under
// primitives.CallPrefix and which are compiled once.
//
// In: libLLVM, IR, and a cache of objects. Out: addresses by symbol. It imports
// internal/llvm, which compiles, internal/elfload, which links, and what these
// need. LLVM's JIT links what elfload does not know, so libLLVM stays closed if
// all objects are cached.
package hostcode
