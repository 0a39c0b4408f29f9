// Load-balanced expansion: each row of a tile becomes count outputs. A block
// takes the outputs in rounds of one tile each, whatever rows they come from, so
// that a key with many matches does not stall a thread (Baxter, "Modern GPU",
// load-balancing search, 2013).
//
// Use: rf_expand_begin once, then rf_expand_round for first = 0, tile, 2 * tile,
// ... below the total; its rows index whatever the caller put into shared memory
// by rf_tile_share.

#pragma once

#include "scan.h"
#include "tile.h"

// rf_tile_share writes all items to shared memory in row order. Other threads
// may read them after the barrier that it ends with.
//
// Phases: 1 write
// Barriers: 1
// Scratch: 8 * tile
// Cost: one shared access an item
RF_PRIMITIVE void rf_tile_share(int64_t *shared, const int64_t *words, int32_t threads, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    shared[tile::row(i, threads)] = words[i];
  if (threads != 1)
    target::barrier();
}

// rf_expand_begin returns the sum of all items' counts, each at least 0, and
// leaves the outputs before each row in ends, which holds tile + 1 words:
// ends[r] is the first output of row r.
//
// Phases: for each chunk: 1 sum four counts; 2 scan; 3 write the running sums
// Barriers: 2 a chunk of 4 items, 1 more at the end
// Scratch: 8 * warps, beside the 8 * (tile + 1) of ends
// Cost: 20 shuffles a thread and chunk
RF_PRIMITIVE int64_t rf_expand_begin(int64_t *ends, const int64_t *counts, void *scratch, int32_t threads,
                                     int32_t items) {
  int64_t before = 0;
  if (threads == 1) {
    for (int32_t i = 0; i < items; i++) {
      ends[i] = before;
      before += counts[i];
    }
    ends[items] = before;
    return before;
  }
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    uint64_t sum = 0, total = 0;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      sum += (uint64_t)counts[c + j];
    int64_t at = before + (int64_t)scan::exclusive<scan::Sum>(sum, (uint64_t)0, &total, scratch, threads);
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      ends[tile::row(c + j, threads)] = at;
      at += counts[c + j];
    }
    before += (int64_t)total;
  }
  if (target::thread() == 0)
    ends[threads * items] = before;
  target::barrier();
  return before;
}

namespace expand {

// source returns the last row whose first output is at or before at: rows
// without outputs share their first output with the row that follows.
RF_HELPER int32_t source(const int64_t *ends, int32_t rows, int64_t at) {
  int32_t lo = 0, hi = rows;
  while (hi - lo > 1) {
    int32_t middle = (lo + hi) / 2;
    if (ends[middle] <= at)
      lo = middle;
    else
      hi = middle;
  }
  return lo;
}

} // namespace expand

// rf_expand_round gives item i of the calling thread output first + row(i) of
// the expansion: the row of the tile that it comes from, and which of that row's
// outputs it is, from 0. Live are the items whose output is below total; the
// others' rows are 0.
//
// Phases: 1 search the first of four outputs; 2 walk on, searching again where a row ends
// Cost: log2(tile) shared accesses for 4 outputs, or up to that for each; on a CPU one walk over the ends
RF_PRIMITIVE void rf_expand_round(int32_t *row, int64_t *nth, uint8_t *live, const int64_t *ends, int64_t first,
                                  int64_t total, int32_t threads, int32_t items) {
  int32_t rows = threads * items;
  if (threads == 1) {
    int32_t r = expand::source(ends, rows, first);
    for (int32_t i = 0; i < items; i++) {
      int64_t at = first + i;
      live[i] = at < total;
      if (!live[i]) {
        row[i] = 0, nth[i] = 0;
        continue;
      }
      while (ends[r + 1] <= at)
        r++;
      row[i] = r;
      nth[i] = at - ends[r];
    }
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i += 4) {
    int32_t r = 0;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      int64_t at = first + tile::row(i + j, threads);
      bool in = at < total;
      if (in && (j == 0 || ends[r + 1] <= at))
        r = expand::source(ends, rows, at);
      live[i + j] = in;
      row[i + j] = in ? r : 0;
      nth[i + j] = in ? at - ends[r] : 0;
    }
  }
}
