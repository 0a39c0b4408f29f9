// Package read loads facts into relations: from TSV, CSV, JSON, Parquet and
// Arrow files, compressed or not, from Arrow records and from Go slices.
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
// # Keys
//
// A key is proven on the first load: no two rows of the file agree in it. If
// the file is Parquet, Options.Proofs keep the proof for later processes, for
// as long as the file system and the footer show the same file. Then the key is
// not proven again, and its columns that no plan reads (Binding.Leave) are not
// read. A file whose keys repeat has no proof. It is read in full each time:
// equal rows become one, and two values for a key are a KeyError.
//
// # Texts
//
// Fields are strict: no blanks around them, digits and a point for numbers, ISO
// 8601 for datetimes, true and false (scalar.ParseText). Lines end in "\n" or
// "\r\n", and the last one may lack its end. A byte order mark is skipped.
// Empty lines are skipped, except in a file of one column of strings, where
// they are empty strings. TSV has no quotes and four escapes in strings: \t,
// \n, \r and \\. Before any other character, a backslash stands for itself. CSV
// is RFC 4180; an empty field without quotes has no value. Gzip and Zstandard
// are recognised by their first bytes. Load reads back what runtime/store/write
// writes, unchanged.
//
// # Rows
//
// Rows that fail the tests of every scan of a plan (Binding.Ask) are not loaded
// if the keys are proven. The tested columns are decoded first, and the others
// only for the rows that pass. Row groups that statistics or Bloom filters
// exclude are not read, nor are pages that a page index excludes; if these are
// wrong, rows are lost. What is not read is not checked: a value that its type
// cannot hold is no error in a row that is left out. If Load meets a missing or
// refused value, it reads the whole file.
//
// Strings that a plan only outputs (Binding.Show) are read after it has run,
// for the rows of the answer: see Column.Late.
//
// # JSON
//
// A text of JSON is an array of objects, or objects that follow each other,
// whose members are columns. A reader finds the ends of objects by their
// brackets, and threads decode blocks of them. A member that is null or absent
// has no value. A JSON string can be a string, a datetime or a float. Numbers
// are read exactly: 1.0 and 1e0 are the integer 1, and 1.5 is not an integer. A
// member of an object within an object is the column a.b.
//
// # Arrow
//
// Arrow files and streams are read by the Arrow library, a record at a time.
// The library trusts the lengths in a file and panics if they are wrong.
// Therefore arrowMessages verifies the metadata first, arrowMemory bounds the
// allocations, and a panic becomes the error of a damaged file.
//
// # Flags
//
// `redfox run --facts DIR --fact PRED=FILE` binds.
package read
