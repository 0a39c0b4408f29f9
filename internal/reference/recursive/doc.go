// Package recursive makes facts for the programs of testdata/recursive, and
// solves these programs by hand-written loops.
//
// In: a size and a seed. Out: the facts of a made-up Java program or of an
// edited text, and the tuples that the rules derive from them. Tests and
// benchmarks hold the LogiQL against it, so it imports nothing of redfox.
package recursive
