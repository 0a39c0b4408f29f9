// Package blocks resolves the names of predicates that belong to one file.
//
// In: the syntax trees of a program's files. Out: syntax trees in which each
// predicate has one name. Each file is a block. A predicate whose name begins
// with an underscore is private to its file, and $block:_name names it from
// outside. It may import ast only.
package blocks
