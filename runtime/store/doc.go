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
//
// # From files to relations
//
// Bind finds the file of each predicate and the file's column of each argument.
// Load reads each file once, only the columns that are wanted: texts in blocks of
// whole lines, Parquet by column chunks, both on all cores. A worker narrows what
// it reads to chunks at once, so that at most twice the columns is held; the
// chunks become columns when the range of all is known. Workers number strings
// for themselves; the dictionary of a column is then sorted on all cores, and
// the column has its codes. Predicates of one file
// become relations over one Table, a column group, as long as the table's rows
// are distinct in each one's key; one whose rows are not, or whose value is
// missing in some, gets a table of its own.
//
// # Texts
//
// Fields are strict: no blanks around, digits and a point for numbers, ISO 8601
// for datetimes, true and false, as scalar.ParseText says. Lines end in "\n" or
// "\r\n", the last may lack it; a byte order mark is skipped; empty lines are
// skipped, but for a single column of strings, where they are the empty string.
// TSV has no quotes and four escapes in strings: \t, \n, \r and \\; a backslash
// before anything else stands for itself. CSV is RFC 4180. Gzip and Zstandard are
// recognised by their first bytes. What Write writes, Load reads back equal.
//
// # Flags
//
// `redfox run --facts DIR --fact PRED=FILE` binds; `--out` and `--format` write.
package store
