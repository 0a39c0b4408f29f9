// A radix sort, pass by pass. It is a module of its own: few programs sort, and the
// driver takes a while to compile it.

#pragma once

#include "grid.h"

#include "../../src/radix.h"

// A pass is rf_sort_count, an exclusive rf_scan of the counts, and
// rf_sort_scatter; ../../src/radix.h says how.
enum { SORT_ITEMS = 16, SORT_TILE = THREADS * SORT_ITEMS };

// rf_sort_count counts the digits key >> shift modulo 256 of each tile of n keys.
RF_KERNEL(rf_sort_count, 4)(const uint64_t *keys, int64_t n, int64_t shift, uint64_t *counts) {
  RF_SHARED(scratch, 4 * radix::DIGITS);
  int64_t tiles = grid::tiles(n, SORT_TILE);
  for (int64_t tile = grid::block(); tile < tiles; tile += grid::blocks())
    rf_radix_histogram(counts, keys, tile * SORT_TILE, grid::rows(n, tile * SORT_TILE, SORT_TILE), (int32_t)shift,
                       tile, tiles, scratch, THREADS, SORT_ITEMS);
}

// rf_sort_scatter moves keys, and payloads where that is not 0, to their places by
// the digit.
RF_KERNEL(rf_sort_scatter, 2)(uint64_t *keys_out, uint64_t *payloads_out, const uint64_t *keys,
                              const uint64_t *payloads, const uint64_t *counts, int64_t n, int64_t shift) {
  enum { WARPS = THREADS / target::WARP };
  RF_SHARED(scratch, (4 * WARPS + 8) * radix::DIGITS + 8 * SORT_TILE + 8 * WARPS);
  int64_t tiles = grid::tiles(n, SORT_TILE);
  for (int64_t tile = grid::block(); tile < tiles; tile += grid::blocks())
    rf_radix_scatter(keys_out, payloads_out, keys, payloads, counts, tile * SORT_TILE,
                     grid::rows(n, tile * SORT_TILE, SORT_TILE), (int32_t)shift, tile, tiles, scratch, THREADS,
                     SORT_ITEMS);
}
