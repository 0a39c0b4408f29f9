// The kernels on a CPU, as blocks of fibers, for tests.

#include "../../src/test/emulated.h"
#include "deltas.h"
#include "kernels.h"
#include "order.h"
#include "sort.h"

#include <string.h>
#include <utility>

int64_t grid::block_index, grid::block_count;

namespace {

// apply calls a kernel with words as its parameters.
template <class... P, size_t... I>
void apply(void (*kernel)(P...), const uint64_t *words, std::index_sequence<I...>) {
  static_assert(((sizeof(P) == 8) && ...), "a parameter is a word");
  kernel((P)words[I]...);
}

template <class... P> void apply(void (*kernel)(P...), const uint64_t *words) {
  apply(kernel, words, std::index_sequence_for<P...>());
}

struct Entry {
  const char *name;
  void (*run)(const void *);
};

#define RF_ENTRY(name) {#name, [](const void *words) { apply(name, (const uint64_t *)words); }}

const Entry entries[] = {
    RF_ENTRY(rf_states), RF_ENTRY(rf_states_of), RF_ENTRY(rf_fill), RF_ENTRY(rf_scan), RF_ENTRY(rf_rehash),
    RF_ENTRY(rf_move),   RF_ENTRY(rf_rowset), RF_ENTRY(rf_extents),
    RF_ENTRY(rf_pairs_count), RF_ENTRY(rf_pairs_move),
    RF_ENTRY(rf_order_keys), RF_ENTRY(rf_order_select), RF_ENTRY(rf_order_upto), RF_ENTRY(rf_order_rank),
    RF_ENTRY(rf_order_heads), RF_ENTRY(rf_order_starts), RF_ENTRY(rf_order_places), RF_ENTRY(rf_order_below),
    RF_ENTRY(rf_order_keep), RF_ENTRY(rf_order_move), RF_ENTRY(rf_order_unpack), RF_ENTRY(rf_order_numbers),
    RF_ENTRY(rf_pages_unpack), RF_ENTRY(rf_pages_decode), RF_ENTRY(rf_pages_deltas),
};

} // namespace

// rf_launch runs all blocks of a launch, and returns 0 if there is no such kernel.
extern "C" int32_t rf_launch(const char *name, int64_t blocks, uint64_t order, const uint64_t *words) {
  for (const Entry &e : entries) {
    if (strcmp(e.name, name) != 0)
      continue;
    grid::block_count = blocks;
    for (int64_t b = 0; b < blocks; b++) {
      grid::block_index = b;
      emulated::run(e.run, words, THREADS, order);
    }
    return 1;
  }
  return 0;
}
