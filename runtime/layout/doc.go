// Package layout chooses how a run keeps its data: how the words of columns are
// stored, and how the keys of sets, indexes and groups are packed and found
// again.
//
// In: a kernel graph, bounds of its columns, and the engine's policy. Out:
// Layouts, the same for the same facts, of which generated code may take for
// granted what Fix tells. Package abi says what the forms are. It must not
// import an engine.
package layout
