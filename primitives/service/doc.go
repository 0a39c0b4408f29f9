// Package service is the kernels that a GPU runtime needs beside woven ones: states
// of launches, fills, running sums, tables made larger, sets made from rows.
//
// In: nothing. Out: PTX, embedded, and how each kernel is launched. The package
// imports nothing of redfox, and no driver: a [Launch] is names and words, which the
// runtime hands to its own. `make primitives` compiles the PTX from src, which is
// written against the headers of ../src.
//
// # Launches
//
// A kernel is launched with the blocks and threads that its [Launch] says, no
// dynamic shared memory, and its parameters as 64-bit words. Addresses are of the
// device's memory, aligned to 8 bytes; 16 are no faster. A launch over nothing has a
// block that finds nothing to do, so that callers need no special case. Launches of a
// stream follow each other, and none waits for the host.
//
// Tables are those of ../src: set64.h, rowset.h, bitset.h. What a kernel writes into
// is zeroed before, where it says so; what it does not say to be zeroed may hold
// anything.
package service
