// Package tables holds the rows of a run of the go engine and finds them again.
//
// A Table is append-only packed rows and a set that knows which tuples are
// there (set.go, exchange.go); its versions old, delta and new are ranges of
// the rows. The last join of a rule adds its matches straight from an index
// (extend.go), less those that it has added before (repeats.go). An Index finds
// rows by key: it is built once (index.go), or extended by each Merge
// (growing.go). Groups are the hash table of an aggregate: keys (groups.go,
// ordered.go) and accumulators (accumulator.go, sum.go).
//
// In: packed rows. Out: rows, places of rows, and numbers of groups. It must
// not import pipelines or expressions. No flag prints it.
package tables
