// Lanes of a warp that work on the same cell of a table: most of them add up among
// themselves, and then one touches the cell. Without that, a GPU's atomics on few
// addresses wait for each other, some 50 times slower than on many.
//
// All lanes of a warp call these together. On a CPU a lane has no peers.

#pragma once

#include "target.h"

namespace peers {

RF_HELPER int32_t lane() { return target::WARP == 1 ? 0 : target::thread() % target::WARP; }

// of returns the calling lane and others that want the same key; 0 if the lane itself
// wants none. It finds all lanes of two keys of the warp, those of the first lanes: a
// key that many rows have is soon among them, and hardware that finds the lanes of
// all keys takes as long as if it took them one by one.
RF_HELPER uint32_t of(uint64_t key, bool wanted) {
  if (target::WARP == 1)
    return wanted;
  uint32_t open = target::ballot(wanted), lanes = wanted ? 1u << lane() : 0;
  RF_UNROLL
  for (int32_t n = 0; n < 2; n++) {
    uint64_t first = target::from_lane(key, open != 0 ? __builtin_ctz(open) : 0);
    uint32_t same = target::ballot(key == first) & open;
    if (same >> lane() & 1)
      lanes = same;
    open &= ~same;
  }
  return lanes;
}

// rank is the number of peers in lower lanes; the one of rank 0 leads.
RF_HELPER int32_t rank(uint32_t lanes) { return __builtin_popcount(lanes & target::lanes_below(lane())); }

RF_HELPER bool leads(uint32_t lanes) { return lanes != 0 && rank(lanes) == 0; }

// sum adds up each of the peers' words for their leader, in as many rounds as the
// logarithm of the most peers (after Westphal, "Voting and Shuffling to Optimize
// Atomic Operations", 2015): in every round lanes of even rank take over from the
// next one above, and those of odd rank are through.
template <int32_t N> RF_HELPER void sum(uint32_t lanes, uint64_t (&words)[N]) {
  uint32_t above = lanes & ~(target::lanes_below(lane()) | 1u << lane());
  int32_t left = rank(lanes);
  while (target::ballot(above != 0) != 0) {
    int32_t next = above != 0 ? __builtin_ctz(above) : lane();
    RF_UNROLL
    for (int32_t k = 0; k < N; k++) {
      uint64_t word = target::from_lane(words[k], next);
      words[k] += above != 0 ? word : 0;
    }
    above &= ~target::ballot(left & 1);
    left /= 2;
  }
}

} // namespace peers
