// Package vocabulary lists the words of LogiQL that the checker knows: types,
// aggregations, directives and the names of warnings, each with a sentence and
// an example. internal/scalar is the list of functions.
//
// In: nothing. Out: tables. The checker reads names with them, and the manual
// and `redfox help` print them. It imports the codes of diagnostics and the
// aggregations of the core program, and no phase.
package vocabulary
