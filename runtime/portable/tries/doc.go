// Package tries evaluates multijoins: the rows of each input are a trie, sorted
// by the variables that the inputs share, and workers walk all tries together,
// a variable at a time (Leapfrog Triejoin: Veldhuizen, ICDT 2014).
//
// In: packed rows (trie.go) and a Join of tries (join.go). Out: batches of
// tuples (walk.go). It must not import plans or pipelines. No flag prints it.
package tries
