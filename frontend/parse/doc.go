// Package parse turns the text of a program into its syntax tree.
//
// In: a source.File. Out: an ast.File that holds every clause without an error,
// and diagnostics RF0001 to RF0099 for the others. A clause with an error hides
// no other clause.
//
// A hand-written scanner makes tokens, with comments put aside. A participle
// grammar (grammar.go) recognises the shape of each clause; the formulas in it
// are climbed by operator precedence (climb.go). Slips that have one plain
// meaning, such as `:-`, are reported and read as what is meant.
//
// It knows no names and no types, and imports neither core nor sema. The flag
// --emit ast prints what it makes.
package parse
