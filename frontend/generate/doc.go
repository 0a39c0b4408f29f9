// Package generate rewrites free positions in string:split and
// string:substring into recursions that enumerate them.
//
// In: syntax trees. Out: syntax trees in which every position of a string
// function has a value. For each place that enumerates there are two predicates
// that no program can name:
//
//	demand#n   what the place is asked: the values of its bound arguments, for
//	           the atoms of the body that they come from
//	each#n     these, with the numbers 0, 1, 2 and so on that belong to them
//
// A number k leads to 2k+1 and 2k+2, as in a heap, so that n numbers take log n
// rounds. It imports the syntax tree and the table of functions; types come
// later.
package generate
