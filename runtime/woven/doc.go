// Package woven is what engines of woven kernels have in common: the cpu engine
// and the gpu engine.
//
// In: a kernel graph (package harmony), facts (package store), an engine's
// policy (package layout) and its Machine, which has the storage and calls the
// kernels. Out: the walk through the graph from its entry to Halt, the commands
// that are carried out on the host, what generated code may take for granted,
// and profiles. It must not import an engine, nor what makes code.
package woven
