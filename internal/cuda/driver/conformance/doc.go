// Package conformance holds an implementation of the CUDA driver's interface
// against what the interface promises, on a card.
//
// In: an open context. Out: an error for each property that does not hold. The
// package imports the interface, package cuda's values and cudatest's kernels,
// and must not import an implementation, nor anything else of redfox.
//
// What an implementation may lack is a property of its own, an optional one, so
// that a report says what is lacking. Whether a fault is told as package driver
// asks is for [Fault], which takes a process of its own, because a driver may
// refuse to work in that process from then on.
package conformance
