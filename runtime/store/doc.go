// Package store holds relations as typed columns: narrow physical widths,
// sorted dictionaries for strings, loaders and writers.
//
// In: TSV, CSV and Parquet files, Arrow records, Go slices. Out: a Database of
// relations that are sets, with statistics per column; and result files. It
// imports scalar and no other package of redfox, knows no plan and no engine.
//
// A column entry is handled as a word, an int64: an Int, a Datetime (µs) and a
// Decimal (unscaled) as themselves, a Uint as its bit pattern, a Float as IEEE
// bits of the float64, a Boolean as 0 or 1, a String as its code in the column's
// dictionary. Words of one column are equal exactly when the values are.
package store
