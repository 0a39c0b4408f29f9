// Package ast is the syntax tree of LogiQL: what was written, with a span on
// every node and the comments kept for the formatter. It knows no meaning:
// package sema resolves names and tells formulas from expressions.
//
// In: nodes that package parse makes. Out: Dump, the tree as text (--emit ast),
// and Format, the canonical program (redfox fmt). A formatted program parses to
// the same tree, with the same comments, and formats to itself.
//
// It imports source and the scalar values of literals, and must never import
// core or sema.
package ast
