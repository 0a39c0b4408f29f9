// Package bitset is a set of small numbers, one bit each.
//
// In: numbers from 0 on. Out: sets for the data flow of plans and kernel graphs
// and for the search for join orders. It imports nothing of redfox.
package bitset
