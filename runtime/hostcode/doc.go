// Package hostcode has the primitives of whole tiles as machine code of this
// process, for code that calls them under primitives.CallPrefix.
//
// In: libLLVM, and a cache of objects. Out: addresses by symbol. It imports
// internal/llvm and primitives, and no other package of redfox.
package hostcode
