// Package replay has runs on a GPU repeat earlier ones without waiting for the
// device.
//
// A program computes the same tuples from the same facts in every run. All
// numbers that the host waits for in one run are therefore known in the next:
// how many rows a kernel has left, whether a loop goes on. A run leaves them in
// a [Record]. The next run over the same facts replays the record: it takes the
// numbers and does not wait. The device still copies its own to the host, which
// compares them at its next wait, at the latest when it waits for the results.
// If one differs, the run is void and another one begins, which waits.
//
// A [History] keeps the records of a program for later processes. Sizes of
// tables in it are hints for runs over other facts.
//
// In: the device's part of a run (runtime/gpu/device). Out: a [Log], which the
// run asks for numbers, and which becomes the next record. The package knows
// kernel graphs only as keys; it must not import the variables of a run.
package replay
