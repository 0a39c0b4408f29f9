// Package portable is the go engine: it runs query plans in pure Go, columnar,
// vector at a time and on all cores, and is the oracle that the other engines
// are compared with.
//
// In: a queryplan.Plan and the relations of a store.Database. Out: a
// runtime.Answer. It must not import the front end, other than source, nor a
// compiler pass. `redfox run --engine go` selects it; `redfox explain --run`
// shows the times it reports for each command.
//
// A run has three steps. Prepare looks at the whole plan (columns.go): strings
// that can meet get one dictionary and every column of a derived variable gets
// bounds (package bounds), which decide how tuples are packed into words (package
// interval). Compile turns the tree of each command into push pipelines
// (pipeline.go): a source, stages over vectors of about two thousand rows, and a
// sink. Run walks the control-flow graph (run.go).
//
// Expressions are steps over vectors (expr.go). A function of one string is looked up in
// a table over the dictionary once many of its entries were asked for (expr_table.go);
// what has no step of its own is evaluated row by row (expr_row.go).
//
// A multijoin (multijoin.go) is a source: its inputs end in tries (trie.go), which
// workers walk variable by variable (multijoin_walk.go), each under its share of
// the rows of one input.
//
// A derived variable is append-only rows and a set that knows which tuples are
// there (table.go, set.go); its versions old, delta and new are ranges of the
// rows. Indexes of joins (index.go, index_growing.go) are built once and kept as
// long as what they were built from does not change; those on a variable that
// is still growing are extended at each Merge.
//
// Numbers, first tuples and violations in order (sortops.go, check.go) are package
// order's, as for every engine.
package portable
