// Package emulated emulates a GPU on the host. It is a CUDA driver
// (internal/cuda/driver) whose kernels are machine code of this processor, so
// that code that uses a GPU can be tested without one.
//
// In: options, and images that [Image] makes of LLVM IR for tiles of a CPU.
// Out: a driver, and an error for each wrong use of it. It imports libLLVM's
// bindings, the calling convention and the service kernels. It must not import
// the gpu engine, which it tests, nor a compiler. Tests and the self-test use
// it.
//
// # What it is strict about
//
// On a card, many mistakes go unnoticed for a long time. The emulator makes
// them visible:
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
// [Driver.Check] returns the mistakes. Random choices depend on a seed; the
// interleaving of goroutines does not.
//
// # What it leaves out
//
// The threads of a block are not emulated: a tile has one thread, and each
// block of a launch is one call of the function. Registers, caches, times and
// bandwidths are made up. PTX is not interpreted: the service kernels are
// recognised by their text, and are written in Go.
package emulated
