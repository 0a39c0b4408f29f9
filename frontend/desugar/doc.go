// Package desugar rewrites constructs that are short for rules.
//
// In: syntax trees. Out: syntax trees without
//
//	f[k] with lang:defaultValue        defaults.go
//	q(x) { a[] = v, b[] = w }          blocks.go
//	list<<>>, list_to_seq<<>>          lists.go
//	series<<>>                         series.go
//	first, last, next of lang:ordered  order.go
//	free positions in string:split     places.go, enumeration.go
//	and string:substring
//
// The predicates that it makes have a # and the number of their place in their
// names. For a place that enumerates these are
//
//	demand#n   what the place is asked: the values of its bound arguments, for
//	           the atoms of the body that they come from
//	each#n     these, with the numbers 0, 1, 2 and so on that belong to them
//
// A number k leads to 2k+1 and 2k+2, as in a heap, so that n numbers take log n
// rounds. It imports the syntax tree, the parser and the table of functions;
// types come later.
package desugar
