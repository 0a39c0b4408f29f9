// Package pointergen makes facts for two pointer analyses whose rules find most
// tuples many times: CSPA, the one of Graspan, and Andersen's.
//
// In: a number of variables and a seed. Out: the files that cspa.logic and
// andersen.logic in testdata/graphs read. Equal arguments give equal bytes.
// Package main of bench measures redfox on them. This package must not import
// any phase.
package pointergen
