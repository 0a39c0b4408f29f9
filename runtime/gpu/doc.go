// Package gpu is the gpu engine: it runs kernel graphs on an NVIDIA GPU.
//
// In: plans, facts, and PTX that a generator makes of kernel graphs. Out: the
// go engine's answers. It knows the driver (internal/cuda), the calling
// convention (harmony/abi) and the service kernels (primitives/service); it
// must not import what makes code, a generator or internal/llvm: Options brings
// that.
//
// # A run
//
// Each run has a stream. All that it enqueues happens in the stream's order, so
// that memory that one command gives back the next one takes, and the host
// waits only where it has to know a number: how many tuples a relation has,
// whether a table is full. For that, all numbers of a run lie together in one
// block of the device's memory, which is copied to pinned memory of the host. A
// run over the facts of an earlier one replays that one's record: it takes the
// numbers from there, and waits for its results alone (package replay). The
// next one is captured as a graph, with addresses of its own (device.Arena)
// that are set up by one copy, and runs from then on launch that graph
// (capture.go). It brings results into the order in which they are presented
// and writes them to pinned memory (captureout.go).
//
// # Memory
//
// The memory of a run comes from the engine's pool, which keeps freed blocks.
// Relations, sets, indexes and groups have room for what a launch may add, so
// that kernels never run out of it in the middle of a tile: a kernel that finds
// a gauge past its limit leaves its position in its state, and goes on after
// the table was made larger. Columns of facts, and indexes over them, are kept
// on the device from run to run as long as there is room.
//
// # Rooms
//
// Package device has lanes, memory and the device's part of a run; package
// replay has what a run leaves to later ones; package tables has the variables;
// package order sorts. The engine itself opens the
// device, loads code, launches woven kernels, and keeps what a run leaves to
// later ones.
//
// Not done: a first run waits wherever it has to know a number; keys that grow
// in a loop are tested on the host.
package gpu
