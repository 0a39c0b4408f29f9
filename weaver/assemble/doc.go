// Package assemble turns an optimised plan into code for a target. It runs the
// phases in their order: lowering, partition, fusion ([Graph]), emission
// ([IR]), and libLLVM ([Assembler], [Objects]).
//
// In: a plan or a kernel graph, a [Target], what is known of the facts, and
// [Tools]. Out: kernel graphs, IR, PTX, assembly, objects. Code that was made
// before comes from the cache on disk, before any IR is generated. [Shelf]
// holds the code of compiled programs. Engines and compiled programs get their
// code from here alone. The package must not import any runtime or the front
// end's phases. `redfox compile --emit harmony|llvm|ptx|asm` prints what it
// makes.
package assemble
