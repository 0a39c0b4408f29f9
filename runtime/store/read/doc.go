// Package read makes relations of facts: of TSV, CSV and Parquet files,
// compressed or not, of Arrow records and of Go slices.
//
// In: files and the schemas of predicates. Out: a store.Database whose
// relations are sets, and a Report. It imports runtime/store and
// internal/parquet, and must not import an engine or runtime/store/write.
//
// Bind finds the file of each predicate and the column of each argument. Load
// reads each file once, and only the columns that are wanted: texts in blocks
// of whole lines, Parquet by column chunks, both on all cores. Predicates of
// one file are relations over one table, a column group, if the rows are
// distinct in the key of each one. A predicate whose key repeats, or whose
// value is missing in some rows, gets a table of its own.
//
// # Texts
//
// Fields are strict: no blanks around them, digits and a point for numbers, ISO
// 8601 for datetimes, true and false (scalar.ParseText). Lines end in "\n" or
// "\r\n", and the last one may lack its end. A byte order mark is skipped.
// Empty lines are skipped, except in a file of one column of strings, where
// they are empty strings. TSV has no quotes and four escapes in strings: \t,
// \n, \r and \\. Before any other character, a backslash stands for itself. CSV
// is RFC 4180. Gzip and Zstandard are recognised by their first bytes. What
// runtime/store/write writes, Load reads back equal.
//
// # Flags
//
// `redfox run --facts DIR --fact PRED=FILE` binds.
package read
