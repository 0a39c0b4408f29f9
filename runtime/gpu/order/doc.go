// Package order puts tuples in order on a GPU: it numbers them, keeps the first
// ones, tests keys, and brings results into the order in which they are
// presented.
//
// In: tables of a run (runtime/gpu/tables) and the service kernels that sort.
// Out: rows in an order, written where they belong by the last pass of a sort,
// made of keys that tell all of a row, or moved by their numbers. Columns of 32
// or 64 bits are read where they lie. Few tuples, and strings whose dictionary
// is not sorted, are left to the host's package order. The package must not
// import the engine.
package order
