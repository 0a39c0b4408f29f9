// Package fsst compresses text by a table of symbols: frequent strings of up to
// eight bytes, each of which a code of one byte stands for.
//
// In: a sample, from which the table is made, and texts. Out: codes, and the
// texts again. A text can be read without the texts before it, and at more than
// a gigabyte a second, which a stream of a general compressor does not allow.
// It imports nothing of the project.
//
// The method is that of Boncz, Neumann and Leis, "FSST: Fast Random Access
// String Compression" (PVLDB 13, 2020).
package fsst
