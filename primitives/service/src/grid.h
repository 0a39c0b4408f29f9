// What a kernel is beside a block's threads, which src/target.h has: entry points,
// the grid, and shared memory.

#pragma once

#include "../../src/target.h"

// Primitives are for these kernels alone here: none is to be called from elsewhere.
#undef RF_PRIMITIVE
#define RF_PRIMITIVE RF_HELPER

// RF_KERNEL(name)(parameters) { ... } defines a kernel; RF_SHARED declares bytes
// that a block's threads share, aligned to 16.
#if defined(RF_EMULATED)
#define RF_KERNEL(name) static void name
#define RF_SHARED(name, bytes) alignas(16) static unsigned char name[bytes]
#else
#define RF_KERNEL(name) extern "C" __attribute__((global, launch_bounds(THREADS))) void name
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

} // namespace grid
