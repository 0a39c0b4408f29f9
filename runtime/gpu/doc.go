// Package gpu is the gpu engine: it runs kernel graphs on an NVIDIA GPU.
//
// In: plans, facts, and the PTX of kernel graphs. Out: the same answers as the
// go engine's. The package knows the driver (internal/cuda), the calling
// convention (harmony/abi) and the service kernels (primitives/service). It
// must not import code generators or internal/llvm; Options.Lower and
// Options.Compile supply those.
//
// # A run
//
// Each run has one stream, and all of its work is in stream order: memory that
// one command frees can be allocated by the next one. The host waits only where
// it needs a counter, such as the number of tuples of a relation or whether a
// table is full. All counters of a run lie in one block of device memory, which
// is copied to pinned host memory.
//
// A run over the facts of an earlier run replays the record of that run: it
// takes the counters from the record, and waits only for its results (package
// replay). The next run over the same facts is captured as a CUDA graph
// (capture.go). The graph has an arena of its own (device.Arena), which one
// copy initialises. It also orders the results and writes them to pinned memory
// (captureout.go). Later runs launch the graph.
//
// # Memory
//
// The memory of a run comes from the engine's pool, which keeps freed blocks.
// Relations, sets, indexes and groups have room for everything that a launch
// may add, so a kernel never runs out of memory within a tile: a kernel that
// finds a gauge past its limit saves its position in its state and returns. The
// host enlarges the table and launches the kernel again. Columns of facts, and
// indexes over them, stay on the device from run to run while there is room.
//
// # Subpackages
//
//   - device: lanes, memory, and the device's part of a run
//   - replay: the records that a run leaves for later runs
//   - tables: the variables: relations, sets, indexes, groups
//   - order: sorting
//   - emulated: a driver that needs no GPU, for tests
//
// This package opens the device, loads code, launches woven kernels and
// captures graphs.
//
// Not done: a first run waits wherever it needs a counter, and keys that grow
// in a loop are tested on the host.
package gpu
