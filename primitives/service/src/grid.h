// What a kernel is beside a block's threads, which ../../src/target.h has: entry
// points, the grid, and shared memory.
//
// A kernel's parameters are 64-bit words, pointers to global memory or numbers,
// and a block has THREADS threads. Rows, slots and words are cut into tiles of
// THREADS times some items, which any number of blocks shares out; only rf_scan
// must have a block for each tile. Item k of thread t is row k * THREADS + t of the
// tile, unless it is said otherwise. service.cu and sort.cu make GPU kernels of the
// functions, host.cpp runs them on a CPU as emulated blocks.

#pragma once

#include "../../src/target.h"

// Primitives are for these kernels alone here: none is to be called from elsewhere.
#undef RF_PRIMITIVE
#define RF_PRIMITIVE RF_HELPER

enum { THREADS = 256 };

// RF_KERNEL(name, blocks)(parameters) { ... } defines a kernel, blocks of which fit
// a multiprocessor at once at least: that bounds its registers. RF_SHARED declares
// bytes that a block's threads share, aligned to 16, RF_DYNAMIC those that a launch asks
// for.
#if defined(RF_EMULATED)
#define RF_KERNEL(name, blocks) static void name
#define RF_SHARED(name, bytes) alignas(16) static unsigned char name[bytes]
#define RF_DYNAMIC RF_SHARED
#else
#define RF_KERNEL(name, blocks) extern "C" __attribute__((global, launch_bounds(THREADS, blocks))) void name
#define RF_DYNAMIC(name, bytes) extern __attribute__((shared)) __attribute__((aligned(16))) unsigned char name[]
#define RF_SHARED(name, bytes) __attribute__((shared)) __attribute__((aligned(16))) static unsigned char name[bytes]
#endif

namespace grid {

#if defined(RF_EMULATED)
extern int64_t block_index, block_count;
RF_HELPER int64_t block() { return block_index; }
RF_HELPER int64_t blocks() { return block_count; }
template <class T> RF_HELPER const T *global(int64_t address) { return (const T *)address; }
#else
RF_HELPER int64_t block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
RF_HELPER int64_t blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }

// global is a pointer to memory that all blocks share from its address, which
// unlike a pointer that was read from memory can not lose what it points to.
template <class T> RF_HELPER const T *global(int64_t address) {
  return (const T *)(const __attribute__((address_space(1))) T *)address;
}
#endif

// tiles is how many tiles n rows fill, rows how many of them the one at start has.
RF_HELPER int64_t tiles(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

RF_HELPER int32_t rows(int64_t n, int64_t start, int32_t tile) {
  return n - start < tile ? (int32_t)(n - start) : tile;
}

} // namespace grid
