// Package desugar rewrites constructs that are short for rules.
//
// In: syntax trees. Out: syntax trees without
//
//	f[k] with lang:defaultValue        defaults.go
//	q(x) { a[] = v, b[] = w }          blocks.go
//	list<<>>, list_to_seq<<>>          lists.go
//	series<<>>                         series.go
//	if c then a else b                 conditional.go
//	f[k] = s / t <- agg<<...>>         results.go
//	first, last, next of lang:ordered  order.go
//
// The predicates that it makes have a # and the number of their place in their
// names. It imports the syntax tree, the parser and the table of functions;
// types come later.
package desugar
