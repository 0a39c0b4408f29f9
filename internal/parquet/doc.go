// Package parquet reads and writes the Apache Parquet file format: the footer,
// the pages of column chunks as they are stored, their compression and their
// encodings.
//
// In: a file, or values as PLAIN bytes and places in a dictionary. Out: pages
// whose values are PLAIN bytes or places in a dictionary, whatever the file's
// encoding is; and files. It imports no other package of redfox and knows none
// of its types: runtime/store turns values into words, and words into values.
//
// ReadFooter reads the footer. Pages yields the pages of one column chunk: Next
// a header and the bytes of the file, Unpack the levels and values in them.
// Both check every length against the bytes that are there, so damaged files
// give errors. PageIndex is what a file says of the data pages of a chunk, with
// which Next can pass over some. Writer writes files of required columns.
package parquet
