// Package infer finds the type of every column and variable.
//
// In: units in normal form, and declared types. Out: Types, and diagnostics for
// what has two types or none. A variable has the type of each column in which
// it stands, expressions are typed from their operands, and literals decide
// where nothing else does. Where that leads to two types, columns without
// declaration become wider (relax.go). It may import the packages of the front
// end except sema, emit and strata.
package infer
