// Package graph has the textbook algorithms on graphs whose nodes are the
// numbers below n: strongly connected components, and disjoint sets.
//
// It imports nothing of redfox; no flag prints it.
package graph
