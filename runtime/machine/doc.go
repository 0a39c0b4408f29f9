// Package machine answers what can run programs here: which engines there are,
// which GPUs, and why not the rest ([Machine]); and which engine a run takes
// ([Selection]).
//
// In: libLLVM and the CUDA driver, as they are found on the host or as a test
// has them, and what the user asks for ([Want]). Out: an engine and a GPU
// ([Choice]), chosen once and passed down to runtime/pool. [Kinds] is the one
// list of engines. The package must not import any engine. `redfox engines`
// prints what it finds.
package machine
