// Package order is what engines do with rows in an order: sort them, number
// them within groups, keep the first ones, find two that share a key.
//
// In: Rows, columns of words wherever an engine keeps them, and the numbers of
// the columns to order by. Out: row numbers; the engine moves the rows itself.
// All of it is deterministic: ties are broken by the columns that an ordering
// does not name, and between equal rows by their numbers. It must not import
// queryplan, harmony, package store or any engine.
//
// Rows are sorted as words of 64 bits that hold as many leading bits of the key
// as fit above the row's number (key.go), by radix (radix.go). Runs of rows
// that agree on those bits are sorted by the next bits, and so on (sort.go).
//
// Memory comes from the engine's Allocator, so that it is accounted for, and
// may lie outside of Go's heap. All functions stop soon after their context is
// done and return its cause.
package order
