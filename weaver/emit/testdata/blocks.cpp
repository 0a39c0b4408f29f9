// Blocks of a GPU on a CPU, for kernels that are LLVM IR: the primitives as functions, and
// a launch whose blocks run one after the other, their threads as fibers.

#define RF_EMULATED
#include "test/emulated.h"

#include "all.h"

namespace {
int64_t block;
}

extern "C" int32_t rf_emulated_thread() { return emulated::thread(); }
extern "C" int32_t rf_emulated_block() { return (int32_t)block; }
extern "C" void rf_emulated_barrier() { emulated::barrier(); }

// rf_emulated_launch runs a kernel that takes the address of its words.
extern "C" void rf_emulated_launch(void (*kernel)(const void *), const int64_t *words, int32_t threads, int64_t blocks,
                                   uint64_t order) {
  for (block = 0; block < blocks; block++)
    emulated::run(kernel, words, threads, order + (order > 1 ? block : 0));
}
