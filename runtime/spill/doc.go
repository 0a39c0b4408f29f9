// Package spill runs plans whose relations do not fit the memory of a run. It
// runs the go engine, or that of a GPU whose memory does not suffice, over
// parts of the data, one after the other, and keeps what they derive in a file.
//
// In: a request with a bound on memory, a folder, and the go engine; or the
// engine of a GPU and the size of its memory, and then the file may be one in
// the memory of the host. Out: the same answer as without a bound. It must not
// import an engine. `redfox run --memory SIZE --spill DIR --stats` says what
// was written and read.
//
// # How
//
// A plan is walked piece by piece (queryplan/segments). A piece is tried whole.
// If it does not fit, queryplan/parts says how it can be cut, and it is
// evaluated in boxes of values: halves, quarters and so on, until a box fits,
// with what it reads in memory and counted. Before that, what the boxes read is
// partitioned into blocks of the file, so that each box reads little more than
// its own rows (boxes.go).
//
// A piece that cannot be cut runs command by command (commands.go). Each
// command is cut on its own. A round of a loop derives candidates into the
// file; Merge keeps a class of them in memory and reads the relation beside it
// (merge.go). What of a command cannot be cut is computed step by step
// (steps.go).
//
// If a request asks for the rounds of tuples, a piece with a loop runs whole or
// command by command: each box would have rounds of its own. Deltas go behind
// one another in the file, so its tuples are in the order of their rounds.
//
// The file has no name, so nothing of it is left however the process ends. The
// columns of a large result are mapped from it (result.go).
package spill
