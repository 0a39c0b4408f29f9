// Package pointsto makes programs for the points-to analysis of
// testdata/pointsto, and solves the analysis with a worklist over a graph of
// variables.
//
// In: a size and a seed. Out: the facts of a made-up program, and the relations
// of the analysis. Tests hold the LogiQL against it, so it must not import
// anything of redfox.
package pointsto
