// Package sema gives a syntax tree its meaning. It finds out what every name
// is, reads declarations and directives, and brings clauses into normal form,
// in which every variable is bound before it is used. Its rooms do the rest:
// infer finds types, emit makes core rules, strata orders them.
//
// In: syntax trees of package ast. Out: a program of package core, and
// diagnostics. It must not import any later phase. `redfox compile --emit
// normal` and `--emit core` print what it makes.
//
// A variable that no atom binds may get its values from an inverted sum
// (invert.go), from a range (ranges.go) or from the parts of a text (parts.go).
// The latter are hidden rules, so later phases know nothing of them.
//
// The parts of LogiQL that redfox does not run are recognised and refused by
// name in unsupported.go.
package sema
