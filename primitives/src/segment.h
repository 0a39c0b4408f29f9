// Reductions over runs of equal keys in a tile, for input that is clustered by
// the key.

#pragma once

#include "tile.h"

namespace segment {

// A pair scans as (a, v) then (b, w) = (a | b, b ? w : v + w): a sum that starts
// anew where a segment does (Blelloch, "Prefix sums and their applications",
// 1990).
struct Partial {
  uint32_t heads;
  uint64_t sum;
};

RF_HELPER Partial join(Partial a, Partial b) {
  return Partial{a.heads | b.heads, b.heads ? b.sum : a.sum + b.sum};
}

RF_HELPER Partial warp_inclusive(Partial p, int32_t lane) {
  RF_UNROLL
  for (int32_t d = 1; d < target::WARP; d *= 2) {
    Partial below = {target::from_below(p.heads, d), target::from_below(p.sum, d)};
    if (lane >= d)
      p = join(below, p);
  }
  return p;
}

} // namespace segment

// rf_block_heads marks the live items whose key differs from that of the row
// before, and the first row of the tile unless its key is previous and
// has_previous is 1. Live rows come first in the tile.
//
// Phases: 1 the last key of every four to scratch; 2 compare
// Barriers: 2
// Scratch: 8 * threads * items / 4
// Cost: 2 shared accesses a chunk
RF_PRIMITIVE void rf_block_heads(uint8_t *heads, const int64_t *keys, const uint8_t *live, int64_t previous,
                                 int32_t has_previous, void *scratch, int32_t threads, int32_t items) {
  if (threads == 1) {
    for (int32_t i = 0; i < items; i++)
      heads[i] = live[i] && (i == 0 ? !(has_previous && keys[0] == previous) : keys[i] != keys[i - 1]);
    return;
  }
  int64_t *last = (int64_t *)scratch;
  int32_t t = target::thread();
  RF_UNROLL
  for (int32_t i = 0; i < items; i += 4)
    last[(i / 4) * threads + t] = keys[i + 3];
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i += 4) {
    int32_t quad = (i / 4) * threads + t;
    bool first = quad == 0;
    int64_t before = first ? previous : last[quad - 1];
    heads[i] = live[i] && ((first && !has_previous) || keys[i] != before);
    RF_UNROLL
    for (int32_t j = 1; j < 4; j++)
      heads[i + j] = live[i + j] && keys[i + j] != keys[i + j - 1];
  }
  target::barrier();
}

// rf_block_segment_sums replaces each word by the sum, modulo 2^64, of its row's
// segment up to and with that row. A segment starts at a head, and at the tile's
// first row. The sum at a segment's last row is the segment's part in the tile.
//
// Phases: for each chunk: 1 sum four items; 2 scan pairs in warps by shuffles; 3 warp totals to scratch, scanned by every warp; 4 add to the items
// Barriers: 2 a chunk of 4 items
// Scratch: 16 * warps
// Cost: 30 shuffles a thread and chunk
RF_PRIMITIVE void rf_block_segment_sums(int64_t *words, const uint8_t *heads, void *scratch, int32_t threads,
                                        int32_t items) {
  if (threads == 1) {
    int64_t sum = 0;
    for (int32_t i = 0; i < items; i++) {
      sum = (int64_t)((heads[i] ? 0 : (uint64_t)sum) + (uint64_t)words[i]);
      words[i] = sum;
    }
    return;
  }
  segment::Partial *totals = (segment::Partial *)scratch;
  int32_t lane = target::lane(threads), warp = target::warp(threads), warps = target::warps(threads);
  segment::Partial earlier = {0, 0};
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    segment::Partial mine = {0, 0};
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      mine = segment::join(mine, {heads[c + j], (uint64_t)words[c + j]});
    segment::Partial inclusive = segment::warp_inclusive(mine, lane);
    segment::Partial before = {target::from_below(inclusive.heads, 1), target::from_below(inclusive.sum, 1)};
    if (lane == 0)
      before = {0, 0};
    if (lane == target::WARP - 1)
      totals[warp] = inclusive;
    target::barrier();
    segment::Partial all = {0, 0};
    if (lane < warps)
      all = totals[lane];
    all = segment::warp_inclusive(all, lane);
    int32_t left = warp > 0 ? warp - 1 : 0;
    segment::Partial warps_before = {target::from_lane(all.heads, left), target::from_lane(all.sum, left)};
    if (warp == 0)
      warps_before = {0, 0};
    segment::Partial chunk = {target::from_lane(all.heads, warps - 1), target::from_lane(all.sum, warps - 1)};
    target::barrier();
    segment::Partial at = segment::join(segment::join(earlier, warps_before), before);
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      at = segment::join(at, {heads[c + j], (uint64_t)words[c + j]});
      words[c + j] = (int64_t)at.sum;
    }
    earlier = segment::join(earlier, chunk);
  }
}
