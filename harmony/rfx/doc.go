// Package rfx is the file of a compiled program, program.rfx: what has to be
// there to run it on a machine without the front end's sources and, for the
// targets that it has code for, without a compiler.
//
// In: the texts of a program's stages and the code of its kernels. Out: a file
// of the same bytes for the same program, and back. Reading refuses what is not
// whole with an error that names the section; no file makes it panic, or take
// memory that does not follow from the file's length. `redfox compile -o p.rfx`
// writes one and `redfox inspect p.rfx` shows it. The package imports
// harmony/abi and must not import what makes or runs code: plans and kernel
// graphs are text here.
//
// # Layout
//
// All numbers are little-endian.
//
//	magic     8 bytes    0x89 R F X \r \n 0x1A \n, which text transfers damage
//	version   4 bytes    of the format
//	length    4 bytes    of the table
//	table     for each section: the length of its name (2 bytes), its name, its
//	          length (8 bytes), its SHA-256 (32 bytes)
//	checksum  32 bytes   the SHA-256 of all before it
//	sections  in the table's order, nothing between them and nothing after
//
// The checksum covers the sections through their own, so it stands for the
// whole file.
//
// # Sections
//
//	manifest.json      who wrote it, the program's name and options, its predicates,
//	                   the places in the sources, targets and kernels, and what their
//	                   code takes for granted of the facts
//	source/N:NAME      file N of the program, from 1
//	plan               the plan before it is optimised: what is optimised for the
//	                   facts when the go engine runs it
//	TARGET/graph       the fused kernel graph that the target's code is of
//	TARGET/abi         its functions and their parameters, as harmony/abi writes them
//	TARGET/code        PTX of a gpu target; for the cpu LLVM IR, which is specialised
//	                   to the facts when it runs
package rfx
