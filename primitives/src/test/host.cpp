// The kernels of kernels.h on a CPU: with one thread a block as a worker runs
// them, or with -DRF_EMULATED as blocks of fibers.

#if defined(RF_EMULATED)
#include "emulated.h"
#endif
#include "kernels.h"

#include <string.h>

thread_local int64_t launch::block_index, launch::block_count;

namespace {

struct Entry {
  const char *name;
  int32_t threads;
  void (*run)(const void *);
};

#define RF_ENTRY(name, threads, items)                                                                                 \
  {#name, threads, [](const void *a) { name<threads, items>(*(const Arguments *)a); }},

const Entry entries[] = {
#if defined(RF_EMULATED)
#define RF_ENTRIES(name)                                                                                               \
  RF_ENTRY(name, 32, 16) RF_ENTRY(name, 64, 16) RF_ENTRY(name, 128, 4) RF_ENTRY(name, 256, 16) RF_ENTRY(name, 1024, 4)
#else
#define RF_ENTRIES(name) RF_ENTRY(name, 1, 1024)
#endif
    RF_EACH_KERNEL(RF_ENTRIES) RF_EACH_NARROW_KERNEL(RF_ENTRIES)};

} // namespace

// rf_launch runs blocks of a kernel, from block first on by every stride-th, and
// returns 0 if there is no such kernel. order is for emulated blocks.
extern "C" int32_t rf_launch(const char *name, int32_t threads, int64_t first, int64_t stride, int64_t blocks,
                             uint64_t order, const uint64_t *arguments) {
  for (const Entry &e : entries) {
    if (e.threads != threads || strcmp(e.name, name) != 0)
      continue;
    launch::block_count = blocks;
    for (int64_t b = first; b < blocks; b += stride) {
      launch::block_index = b;
#if defined(RF_EMULATED)
      emulated::run(e.run, arguments, threads, order);
#else
      (void)order;
      e.run(arguments);
#endif
    }
    return 1;
  }
  return 0;
}
