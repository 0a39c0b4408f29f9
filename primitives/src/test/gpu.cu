// The kernels of kernels.h for a GPU, as NAME_THREADS.

#include "kernels.h"

#define RF_GLOBAL extern "C" __attribute__((global))
#define RF_WITH(name, threads, items)                                                                                  \
  RF_GLOBAL void __attribute__((launch_bounds(threads))) name##_##threads(Arguments a) { name<threads, items>(a); }
// RF_ONE_SIZE is for tests that need one kernel of each, and those of one warp that
// have a form of their own.
#if defined(RF_ONE_SIZE)
#define RF_WITH_FEW(name) RF_WITH(name, 256, 16)
#define RF_WITH_EACH(name) RF_WITH_FEW(name)
RF_WITH(scan_block, 32, 16)
#else
#define RF_WITH_FEW(name) RF_WITH(name, 32, 16) RF_WITH(name, 64, 16) RF_WITH(name, 128, 16) RF_WITH(name, 256, 16)
#define RF_WITH_EACH(name) RF_WITH_FEW(name) RF_WITH(name, 1024, 4)
#endif

RF_EACH_KERNEL(RF_WITH_EACH)
RF_EACH_NARROW_KERNEL(RF_WITH_FEW)
