// Package ssbgen generates the data of the Star Schema Benchmark (O'Neil,
// O'Neil and Chen, "Star Schema Benchmark", revision 3, 2009): four dimensions
// and the fact table lineorder.
//
// In: a scale factor, a seed, a folder. Out: one Parquet file a table. Every
// order and every row of a dimension has random numbers of its own, which
// follow from the seed and its number, so that any part of a table can be made
// by itself: the files are the same bytes for any number of threads, and no
// more than a few row groups are in memory.
//
// Columns, domains and distributions are those of the specification, and where
// it is silent those of its authors' generator, ssb-dbgen. These are worth
// knowing:
//
//   - Amounts are whole cents: lo_extendedprice goes up to 10,495,000, lo_revenue is
//     lo_extendedprice*(100-lo_discount)/100, rounded down, and lo_supplycost is six
//     tenths of the part's price.
//   - Order keys are sparse, the first 8 of each 32 numbers, an order has 1 to 7 lines,
//     and no customer orders whose key is a multiple of three, as in TPC-H.
//   - Orders are of 1992-01-01 to 1998-08-02. The dimension date has 2,556 days, of which
//     1998-12-30 is the last.
//   - A city is the first nine characters of its nation, filled with blanks, and a digit.
//   - Below scale factor 1, where the specification has none, part shrinks linearly like
//     the other tables.
//
// The random numbers are not ssb-dbgen's, so that single values differ. It
// imports internal/parquet and internal/atomicfile and no other package of
// redfox.
package ssbgen
