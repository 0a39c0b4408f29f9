// Package parallel runs numbered pieces of work on several goroutines.
//
// In: a number of threads, a number of pieces, a function. It imports no other
// package of redfox.
package parallel
