// Prefix sums over all tiles of a launch in one pass, by decoupled look-back
// (Merrill and Garland, 2016).
//
// status is one word a tile, all zero at first: 2 bits of state above 62 bits of
// value. A block takes its tile from rf_block_ticket, so that every earlier tile
// has begun and the wait for it ends.

#pragma once

#include "compact.h"

namespace lookback {

enum : uint64_t { VALUE = (1ull << 62) - 1, AGGREGATE = 1ull << 62, PREFIX = 2ull << 62 };

// read waits until a tile has said something.
RF_HELPER uint64_t read(const uint64_t *status, int64_t tile) {
  if (tile < 0)
    return PREFIX;
  uint64_t seen = target::load(status + tile);
  while (seen == 0) {
    target::relax();
    seen = target::load(status + tile);
  }
  return seen;
}

} // namespace lookback

// rf_block_ticket returns the next tile number of a counter to all threads.
//
// Phases: 1 one thread adds; 2 all read its answer from scratch
// Barriers: 2
// Scratch: 8
// Cost: one global atomic a block
RF_PRIMITIVE int64_t rf_block_ticket(int64_t *counter, void *scratch, int32_t threads) {
  return rf_block_reserve(counter, 1, scratch, threads);
}

// rf_block_lookback returns to all threads the sum of the aggregates of all
// tiles before the caller's, given the caller's own, at least 0 and below 2^62
// in total. Tiles come from rf_block_ticket.
//
// Phases: 1 publish the aggregate; 2 the first warp adds up predecessors, a window of one a lane at a time, back to one whose prefix is known; 3 publish the prefix
// Barriers: 2
// Scratch: 8
// Cost: 2 writes, 1 read of 8 bytes a lane and window
RF_PRIMITIVE int64_t rf_block_lookback(uint64_t *status, int64_t tile, int64_t aggregate, void *scratch,
                                       int32_t threads) {
  uint64_t *shared = (uint64_t *)scratch;
  uint64_t before = 0;
  int32_t lane = target::lane(threads);
  if (target::warp(threads) == 0) {
    if (lane == 0)
      target::store(status + tile, (tile == 0 ? lookback::PREFIX : lookback::AGGREGATE) | (uint64_t)aggregate);
    for (int64_t from = tile - 1; from >= 0; from -= target::WARP) {
      uint64_t seen = lookback::read(status, from - lane);
      target::warp_barrier();
      uint32_t known = target::ballot((seen & lookback::PREFIX) != 0);
      // The nearest known prefix ends the sum; lanes beyond it are older tiles.
      int32_t last = known != 0 ? __builtin_ctz(known) : target::WARP - 1;
      uint64_t part = lane <= last ? seen & lookback::VALUE : 0;
      RF_UNROLL
      for (int32_t d = target::WARP / 2; d > 0; d /= 2)
        part += target::from_partner(part, d);
      before += part;
      if (known != 0)
        break;
    }
    if (lane == 0 && tile > 0)
      target::store(status + tile, lookback::PREFIX | (before + (uint64_t)aggregate));
  }
  if (threads == 1)
    return (int64_t)before;
  if (target::thread() == 0)
    *shared = before;
  target::barrier();
  before = *shared;
  target::barrier();
  return (int64_t)before;
}
