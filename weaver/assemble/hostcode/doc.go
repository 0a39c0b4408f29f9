// Package hostcode makes IR machine code of this process: functions that are
// made for a program, and the primitives of whole tiles, which these call under
// primitives.CallPrefix and which are compiled once.
//
// In: libLLVM, IR, and a cache of objects. Out: addresses by symbol. It imports
// internal/llvm and primitives, and no other package of redfox.
package hostcode
