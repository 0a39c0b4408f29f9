// Package spill runs plans whose relations do not fit the memory of a run. It
// runs the go engine, or the engine of a GPU with too little memory, over one
// part of the data after the other, and keeps the results in a file.
//
// In: a request with a bound on memory, a folder, and the go engine; or the
// engine of a GPU and the size of its memory, where the file may lie in the
// host's memory. Out: the same answer as without a bound. It must not import an
// engine. `redfox run --memory SIZE --spill DIR --stats` prints the bytes
// written and read.
//
// # How
//
// A plan is evaluated piece by piece (queryplan/segments), and a piece first as
// a whole. If that does not fit, queryplan/parts says how the piece can be cut,
// and it is evaluated in boxes of values: halves, quarters and so on, until a
// box fits together with what it reads. Before that, the inputs of the boxes
// are partitioned into blocks of the file, so that a box reads little more than
// its own rows (boxes.go). Several threads do this in parallel (writer.go). If
// the columns of a cut are all stored in ascending order, boxes are ranges of
// rows, and nothing is partitioned (ranges.go).
//
// A piece that cannot be cut runs command by command (commands.go), and each
// command is cut on its own. A round of a loop derives candidates into the
// file; Merge keeps one class of them in memory and streams the relation past
// it (merge.go). Aggregates that cannot be cut are evaluated in two steps, the
// first of them over parts of their input, and other operators of such a
// command one by one (steps.go).
//
// If a request asks for the rounds of tuples, a piece with a loop runs whole or
// command by command, because boxes would count rounds of their own. Deltas are
// appended to the file one after the other, so tuples are in the order of their
// rounds.
//
// The file has no name, so nothing of it remains however the process ends. The
// columns of a large result are mapped from it (result.go).
package spill
