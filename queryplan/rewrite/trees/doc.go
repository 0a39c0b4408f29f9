// Package trees makes the operator trees that passes build: filters,
// projections, maps and conditions, each merged with what is there already.
//
// In: operators. Out: operators, and simple questions about them. It imports
// queryplan and scalar only; no flag prints it.
package trees
