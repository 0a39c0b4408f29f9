// Package device is what the gpu engine has of a device: lanes, staging,
// memory, and the work of one run.
//
// In: a driver's context. Out: Memory, from a pool and accounted for; Staging,
// which copies columns through pinned buffers; Lanes, each a stream with pinned
// memory for one run at a time; and Run, with all counters of a run in one
// block, a slab for small tables, the states of launches, service kernels and
// timers. A captured run has an Arena, whose addresses stay, and an Image of
// what its memory is at first. The package knows no relation, no plan and no
// kernel graph, and must not import them.
package device
