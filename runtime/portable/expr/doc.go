// Package expr evaluates scalar functions over vectors.
//
// In: expressions of a plan and the columns that they read. Out: a Program,
// which is a list of steps over registers, and for each worker a Machine that
// runs it. A function without a vector form (kernel.go) is evaluated row by row
// and remembered by word (row.go); one of a single string is looked up in a
// table over the dictionary once many of its entries were asked for (table.go).
// Package scalar defines the functions; a row that exceeds 64 bits is evaluated
// again by it. It must not import tables or pipelines. No flag prints it.
package expr
