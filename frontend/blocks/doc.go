// Package blocks resolves the names of predicates that belong to blocks.
//
// In: the syntax trees of a program's files. Out: syntax trees without block
// clauses, in which each predicate has one name. A file is a block named after
// its path. Its predicates belong to the program, except that those whose names
// begin with an underscore belong to the file. block(`name) {...} is a block
// that owns all of its predicates:
//
//	export     the predicates that other blocks may use, as block:p
//	sealed     exported ones that only the block itself may change
//	alias_all  the exported predicates of another block, by their own names
//	alias      another block, or one of its predicates, by a new name
//
// $block:p names a predicate that is not exported. A predicate keeps its own
// name if no other has it. Otherwise, it gets the name of its block as a
// prefix: rules:_p. The package imports the syntax tree and diagnostics.
package blocks
