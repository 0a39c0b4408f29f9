// Package pipeline compiles the commands of a plan to push pipelines and runs
// them: a source, stages over vectors of about two thousand rows, and a sink.
// Workers run a pipeline on different morsels of its source (Leis et al.,
// SIGMOD 2014).
//
// In: a queryplan.Plan and its columns. Out: a function for each command
// (command.go). compile.go has a method for each operator; the results of those
// that need all of their input, such as an aggregate, are kept while what they
// were computed from does not change (collect.go). It must not import a
// compiler pass. `redfox explain --run` shows the times of commands.
package pipeline
