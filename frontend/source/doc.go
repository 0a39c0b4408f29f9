// Package source holds program files and spans of text in them.
//
// In: the name and the text of a file. Out: spans, which every later stage
// carries, and the lines and columns that people read, which are computed only
// when a position is printed.
//
// It imports no other package of redfox.
package source
