// Package conformance holds an implementation of the CUDA driver's interface
// against what the interface promises, on a card.
//
// In: an open context. Out: an error for each property that does not hold. The
// package imports the interface, package cuda's values and cudatest's kernels,
// and must not import an implementation, nor anything else of redfox.
//
// Each property that an implementation may lack is a property of its own, so
// that a report names what is missing. [Fault] checks how faults are reported.
// It takes a process of its own, because a driver may refuse to work after a
// fault.
package conformance
