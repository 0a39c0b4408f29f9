// Package normal is the normal form of rules and constraints: one unit for each
// alternative of a clause, a flat conjunction of atoms over variables and
// constants, bindings, tests and negations, in an order in which each follows
// what it needs. Types are not known yet.
//
// In: nothing; package sema builds it. Out: the input of type inference and of
// package emit. It may import ast, core, source and scalar. `redfox compile
// --emit normal` prints it.
package normal
