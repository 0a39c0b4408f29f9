// Package columns finds what is known of the columns of a plan before it runs:
// the stored columns, one dictionary for all strings that can meet, and bounds
// of the words, which decide how tuples are packed.
//
// In: a queryplan.Plan and the facts. Out: Columns, and a Column for each
// column of a vector. It describes the plan to package bounds: follow.go is the
// one walk over operators. It must not import a compiler pass or the rooms
// beside it, other than work. No flag prints it.
package columns
