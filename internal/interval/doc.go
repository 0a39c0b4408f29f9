// Package interval bounds words: what is known of a column or a register before
// it is computed. It has the arithmetic over such bounds for the functions of
// package scalar, and the layouts that pack tuples of bounded columns into few
// words.
//
// In: scalar functions and the bounds of their arguments. Out: bounds of
// results, and layouts. The analysis of programs (internal/bounds), the go
// engine and the code generator use it. Of redfox it imports scalar and nothing
// else. No flag prints it.
package interval
