// Package portable is the go engine: it runs query plans in pure Go, columnar,
// vector at a time and on all cores, and is the oracle that the other engines
// are compared with.
//
// In: a queryplan.Plan and the relations of a store.Database. Out: a
// runtime.Answer. It must not import the front end, other than source, nor a
// compiler pass. `redfox run --engine go` selects it; `redfox explain --run`
// shows the times it reports for each command.
//
// A run has three steps. Package columns looks at the whole plan: strings that
// can meet get one dictionary, and every column gets bounds. Package pipeline
// makes push pipelines of each command. run.go walks the control-flow graph and
// runs them; output.go makes stored columns of the results, and rounds.go of
// what a loop has derived so far, if the caller asks for it.
//
// The pipelines work on tables (sets, indexes, groups), tries (multijoins) and
// expr (functions over vectors). Package work is the ground that all of them
// stand on. Orderings and violations are package order's, as for every engine.
package portable
