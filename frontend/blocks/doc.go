// Package blocks resolves the names of predicates that belong to blocks.
//
// In: the syntax trees of a program's files. Out: syntax trees without block
// clauses, in which each predicate has one name. A file is a block named after
// its path, and its predicates are those of the program, except that the ones
// whose names begin with an underscore belong to the file. block(`name) {...}
// makes a block whose predicates all belong to it:
//
//	export     the predicates that other blocks may use, as block:p
//	sealed     exported ones that only the block itself may change
//	alias_all  the exported predicates of another block, by their own names
//	alias      another block, or one of its predicates, by a new name
//
// $block:p names what is not exported. A predicate keeps its own name where no
// other has it, and else has that of its block before it: rules:_p. It imports
// the syntax tree and diagnostics.
package blocks
