// Package primitives is the library of skeletons that woven kernels are made
// of: loads of tiles, scans, compaction, expansion, hash tables, sets,
// group-by, sorts and the like, as CUDA C++ for GPUs and CPUs from one source.
//
// In: nothing. Out: the catalogue of what there is (Catalogue, Lookup), and per
// target the LLVM bitcode of all of it (Bitcode), for a linker that inlines
// what a kernel calls. It knows no relational algebra and must not import any
// package of redfox.
//
// # Calling a primitive
//
// A primitive is a C function named rf_ and its subject, with plain numbers and
// generic pointers as parameters; it is inlined always. Code declares it with
// the catalogue's signature, links the target's bitcode, of which only what is
// called is taken, and optimises. Loops over items unroll if the parameters
// threads and items are constants, and arrays of items then become registers if
// they are allocas in the entry block.
//
//   - A tile is threads × items rows; tile.h has its layout. On a GPU threads is
//     a power of two from 32 to 1,024 and items a multiple of 4 up to 32; on a
//     CPU threads is 1 and items a multiple of 32, about 1,024.
//   - A selection of items is an array of bytes, 0 or 1.
//   - Scratch is memory that all threads of the block share, aligned to 16 bytes, of
//     Primitive.Scratch bytes. It is free for another use as soon as the primitive
//     returns.
//   - A primitive with a Barriers line is collective: all threads of the block call
//     it together. Words that must be equal in all of them say so.
//   - A primitive whose Barriers line says 0 passes none, but works by shuffles:
//     all threads of each warp call it together.
//   - Tables must be cleared, and their builds be complete, before a kernel that
//     reads them starts; within a kernel only the inserting primitives may meet.
//   - A table's form (src/keys.h, and abi.Form) is a parameter. As a constant it
//     folds; else it is one branch a tile, which all threads take alike.
//
// # Sources
//
// The headers in src are written against src/target.h, and compiled by make
// primitives with clang 15 to the folder bitcode, which LLVM 15 and later
// reads. A header's comment above a function is its contract: what it does, its
// phases, barriers, scratch bytes and cost. The catalogue is read from those
// comments. src/test has a kernel for each primitive, which the tests run on
// this machine's CPU and as emulated GPU blocks; src/test/check.sh runs them on
// a GPU.
//
// Not done: bit-packed columns, and a sort within one block.
package primitives
