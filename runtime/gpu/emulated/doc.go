// Package emulated is a GPU on the host: a CUDA driver (internal/cuda/driver)
// whose kernels are machine code of this processor, so that what runs kernels
// on a card is tested where there is none.
//
// In: options, and images that [Image] makes of LLVM IR for tiles of a CPU.
// Out: a driver, and an error for each wrong use of it. It imports libLLVM's
// bindings, the calling convention and the service kernels; it must not import
// the engine that it is for, nor a compiler. Tests and the self-test use it.
//
// # What it is strict about
//
// A card forgives much until it does not. Here
//
//   - memory is fresh with a pattern in it that is not zero, has guards around it, and
//     is spoilt when it is freed: what is read too late is wrong, what is written too
//     far or too late is found, and what is not freed at the end is a leak;
//   - a stream does its work late, some only when it is waited for, in goroutines of
//     its own: what is used without waiting is not there yet. Memory that the host has
//     pinned is read and written when the stream comes to it, and an allocation spoils
//     what it hands out when the stream comes to it;
//   - the blocks of a launch run in several goroutines in an order that changes;
//   - there is as much memory as [Options] say, and every call can be made to fail.
//
// [Driver.Check] returns what was found. The choices depend on a seed; how
// goroutines meet does not.
//
// # What it leaves out
//
// Threads of a block: a tile has one thread, and a launch's blocks call the
// function one by one. Registers, caches, times and bandwidths are made up. PTX
// is not understood: the service kernels are known by their text and written in
// Go.
package emulated
