// Package store holds relations as typed columns: narrow physical widths,
// sorted dictionaries for strings, statistics, and the order of rows. It is
// what engines see of stored data; runtime/store/read makes it of files, Arrow
// records and Go slices, runtime/store/write makes files of it.
//
// In: chunks of words, interned strings, columns. Out: a Database of relations.
// It imports runtime/order to sort, and knows no format, no plan and no engine.
//
// An entry of a column is handled as a word, an int64: an Int, a Datetime (µs)
// and a Decimal (unscaled) as themselves, a Uint as its bit pattern, a Float as
// the IEEE bits of the float64, a Boolean as 0 or 1, a String as its code in
// the column's dictionary. Two words of a column are equal exactly when the
// values are. A decimal of 38 digits is two columns, its words as scalar.Word
// has them.
//
// A loader narrows what it reads to a Chunk at once, and numbers strings with
// an Interner for each goroutine. Join makes a column of chunks, once the range
// of all is known; MergeInterners makes the sorted dictionary. A Ledger
// accounts for the memory of a load.
package store
