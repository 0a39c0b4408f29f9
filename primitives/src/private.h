// Private cells: few groups, of which each thread of a block has cells of its own in
// shared memory. To add a row is a load, an addition and a store, without atomics and
// without conflicts, as the words of a cell lie side by side, one for each thread:
//
//   word t of cell c of place p at kept[(p * cells + c) * threads + t]
//
// The last place is for rows that are not live, so that there is no branch. What the
// block has is added to the cells of all when it leaves, by the functions here.
//
// A cell is a signed sum of 64 bits, or two of 32 that are not negative, the first one
// in the lower half; or an extreme in the order of unsigned numbers, as own.h has it.
// All is zero at first.

#pragma once

#include "own.h"

namespace field {

// What a word holds, as package emit numbers it.
enum : int32_t { WHOLE, LOW, HIGH };

} // namespace field

namespace priv {

// each_place calls with for each place of the calling warp, all its lanes together, with
// a word for the lane: what its threads' words become by get and add, beginning with 0.
template <class G, class A, class F>
RF_HELPER void each_place(const uint64_t *kept, int32_t places, int32_t stride, int32_t threads, G get, A add, F with) {
  RF_ROLLED
  for (int32_t p = target::warp(threads); p < places; p += target::warps(threads)) {
    uint64_t v = 0;
    RF_ROLLED
    for (int32_t t = target::lane(threads); t < threads; t += target::WARP)
      v = add(v, get(kept[(int64_t)p * stride + t]));
    with(p, v);
  }
}

} // namespace priv

// rf_private_settle marks the groups, of those that have the first places, of which a
// thread has a word at witness that is not 0 under mask. Then the accumulators are to
// be passed on, by those that follow. From place to place there are stride words.
//
// Phases: 1 all have added; 2 one place a warp
// Barriers: 1, at the start
// Cost: for a place threads / WARP shared reads a lane, one read and perhaps a write
RF_PRIMITIVE void rf_private_settle(const uint64_t *witness, int64_t mask, int32_t places, int32_t stride,
                                    int64_t *occupied, int32_t threads) {
  if (threads != 1)
    target::barrier();
  priv::each_place(
      witness, places, stride, threads, [=](uint64_t w) RF_LAMBDA { return w & (uint64_t)mask; },
      [](uint64_t a, uint64_t b) RF_LAMBDA { return a | b; },
      [=](int32_t p, uint64_t any) RF_LAMBDA {
        if (target::ballot(any != 0) != 0 && target::lane(threads) == 0 && target::load(occupied + p) == 0)
          target::store(occupied + p, (int64_t)1);
      });
}

// rf_private_pass_sums adds the places' sums, which field of their words holds, to cells
// of words words: of 128 bits, or of 64 for count_only = 1.
//
// Barriers: 0, but all threads call it, behind rf_private_settle
// Cost: for a place threads / WARP shared reads a lane, 20 shuffles, one or two atomics
RF_PRIMITIVE void rf_private_pass_sums(uint64_t *cells, int32_t words, const uint64_t *kept, int32_t field,
                                       int32_t places, int32_t stride, int32_t count_only, int32_t threads) {
  auto plus = [](uint64_t a, uint64_t b) RF_LAMBDA { return a + b; };
  // The halves apart: what the threads have need not fit a word together.
  priv::each_place(
      kept, places, stride, threads,
      [=](uint64_t w) RF_LAMBDA { return field == field::HIGH ? w >> 32 : (uint32_t)w; }, plus,
      [=](int32_t p, uint64_t low) RF_LAMBDA {
        uint64_t high = 0;
        for (int32_t t = target::lane(threads); t < threads && field == field::WHOLE; t += target::WARP)
          high += (uint64_t)((int64_t)kept[(int64_t)p * stride + t] >> 32);
        low = reduce::warp(low, plus);
        high = reduce::warp(high, plus);
        int128::Int128 sum = int128::add({low, 0}, {high << 32, (int64_t)high >> 32});
        if (target::lane(threads) != 0 || (sum.lo | (uint64_t)sum.hi) == 0)
          return;
        uint64_t *cell = cells + (int64_t)words * p;
        if (count_only)
          rf_cell_add((int64_t *)cell, (int64_t)sum.lo, 1);
        else
          rf_cell_add_i128(cell, sum.lo, sum.hi, 1);
      });
}

// rf_private_extreme_word is a word in the order of unsigned numbers, for least = 1 in
// the opposite one, as the cells of extremes have it: the greatest counts, and 0 is the
// same as none.
//
// Cost: one or two integer operations
RF_PRIMITIVE int64_t rf_private_extreme_word(int64_t word, int32_t least) {
  return (int64_t)own::flipped((uint64_t)word, least);
}

// rf_private_pass_extremes raises cells to the greatest word of each place, or lowers
// them to the least for least = 1.
//
// Barriers: 0, but all threads call it, behind rf_private_settle
// Cost: for a place threads / WARP shared reads a lane, 10 shuffles, one read and perhaps an atomic
RF_PRIMITIVE void rf_private_pass_extremes(int64_t *cells, const uint64_t *kept, int32_t places, int32_t stride,
                                           int32_t least, int32_t threads) {
  auto greater = [](uint64_t a, uint64_t b) RF_LAMBDA { return a > b ? a : b; };
  priv::each_place(
      kept, places, stride, threads, [](uint64_t w) RF_LAMBDA { return w; }, greater,
      [=](int32_t p, uint64_t most) RF_LAMBDA {
        most = reduce::warp(most, greater);
        if (target::lane(threads) != 0 || most == 0)
          return;
        int64_t word = (int64_t)own::unflipped(most, least);
        if (least && word < target::load(cells + p))
          rf_cell_min(cells + p, word, 1);
        if (!least && word > target::load(cells + p))
          rf_cell_max(cells + p, word, 1);
      });
}
