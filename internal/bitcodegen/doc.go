// Package bitcodegen makes a large program in the manner of a points-to
// analysis of LLVM bitcode, and facts for it: 4,000 clauses over 400 file
// predicates, most of which have few rows or none.
//
// In: a number of kinds of instructions, and of instructions. Out: the files of
// the program, and the files that they name. Equal arguments give equal bytes.
// Package main of bench measures redfox on it; tests run a small one on each
// engine. This package must not import any phase.
package bitcodegen
