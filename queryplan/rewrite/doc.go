// Package rewrite makes plans cheaper without changing what they mean: a table
// of named passes, the order in which they run, and the runner that times,
// verifies and records them.
//
// In: a plan from package build and, if facts are known, a catalogue of
// statistics. Out: a plan of the same meaning for the engines, and a trace. A
// plan that was rewritten with a catalogue is right for that database only: the
// catalogue says which relations are columns of one stored table and what
// ranges the values keep.
//
// `redfox explain --steps` shows every pass as a diff, and `--disable PASS`
// switches one off. The rooms below it have what several passes need: joins,
// loops, trees. The package knows no engine and no syntax; it imports these,
// queryplan, stats, bitset, linediff, source and scalar only.
package rewrite
