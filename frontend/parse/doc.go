// Package parse turns the text of a program into its syntax tree.
//
// In: a source.File. Out: an ast.File that holds every clause without an error,
// and diagnostics RF0001 to RF0099 for the others. A clause with an error hides
// no other clause.
//
// A hand-written scanner makes tokens, with comments put aside. The tokens are
// split into clauses at full stops, and clauses into formulas at arrows
// (parse.go). Formulas are climbed by operator precedence (climb.go),
// specifiers such as agg<<>> parsed by a participle grammar (grammar.go). Slips
// that have one plain meaning, such as `:-`, are reported and read as what is
// meant.
//
// It knows no names and no types, and imports neither core nor sema. `redfox
// compile --emit ast` prints what it makes.
package parse
