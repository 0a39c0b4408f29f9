// Block-wide reductions. Every thread gets the result. All threads of a block
// call these together.

#pragma once

#include "int128.h"
#include "target.h"

namespace reduce {

// warp combines the values of a warp's lanes, 4 or 8 bytes each; combine commutes.
template <class T, class F> RF_HELPER T warp(T v, F combine) {
  RF_UNROLL
  for (int32_t d = target::WARP / 2; d > 0; d /= 2)
    v = combine(v, target::from_partner(v, d));
  return v;
}

// block combines the values of all threads, 4 or 8 bytes each; combine commutes.
template <class T, class F> RF_HELPER T block(T v, void *scratch, int32_t threads, F combine) {
  if (threads == 1)
    return v;
  v = warp(v, combine);
  int32_t warps = target::warps(threads);
  if (warps == 1)
    return v;
  T *parts = (T *)scratch;
  int32_t lane = target::lane(threads);
  if (lane == 0)
    parts[target::warp(threads)] = v;
  target::barrier();
  // The number of warps is a power of two, so lanes may wrap around.
  v = parts[lane & (warps - 1)];
  RF_UNROLL
  for (int32_t d = target::WARP / 2; d > 0; d /= 2)
    if (d < warps)
      v = combine(v, target::from_partner(v, d));
  target::barrier();
  return v;
}

} // namespace reduce

// rf_block_sum_i64 returns the sum of all threads' values modulo 2^64.
//
// Phases: 1 reduce in warps by shuffles; 2 warp results to scratch; 3 every warp reduces those
// Barriers: 2, none for one warp; threads must be a power of two
// Scratch: 8 * warps
// Cost: 20 shuffles a thread
RF_PRIMITIVE int64_t rf_block_sum_i64(int64_t value, void *scratch, int32_t threads) {
  return (int64_t)reduce::block((uint64_t)value, scratch, threads,
                                [](uint64_t a, uint64_t b) RF_LAMBDA { return a + b; });
}

// rf_block_min_i64 returns the smallest of all threads' values.
//
// Phases: as rf_block_sum_i64
// Barriers: 2, none for one warp; threads must be a power of two
// Scratch: 8 * warps
// Cost: 20 shuffles a thread
RF_PRIMITIVE int64_t rf_block_min_i64(int64_t value, void *scratch, int32_t threads) {
  return reduce::block(value, scratch, threads, [](int64_t a, int64_t b) RF_LAMBDA { return a < b ? a : b; });
}

// rf_block_max_i64 returns the largest of all threads' values.
//
// Phases: as rf_block_sum_i64
// Barriers: 2, none for one warp; threads must be a power of two
// Scratch: 8 * warps
// Cost: 20 shuffles a thread
RF_PRIMITIVE int64_t rf_block_max_i64(int64_t value, void *scratch, int32_t threads) {
  return reduce::block(value, scratch, threads, [](int64_t a, int64_t b) RF_LAMBDA { return a > b ? a : b; });
}

// rf_block_sum_i128 replaces each thread's 128-bit number, low and high half, by
// the sum of all threads' modulo 2^128.
//
// Phases: three reductions of 32-bit limbs' partial sums, then their carries
// Barriers: 6, none for one warp; threads must be a power of two
// Scratch: 8 * warps
// Cost: 60 shuffles a thread
RF_PRIMITIVE void rf_block_sum_i128(uint64_t *lo, int64_t *hi, void *scratch, int32_t threads) {
  // At most 1,024 limbs of 32 bits add up without overflow in 64.
  auto sum = [](uint64_t a, uint64_t b) RF_LAMBDA { return a + b; };
  uint64_t limb0 = reduce::block(*lo & 0xffffffffu, scratch, threads, sum);
  uint64_t limb1 = reduce::block(*lo >> 32, scratch, threads, sum);
  uint64_t upper = reduce::block((uint64_t)*hi, scratch, threads, sum);
  limb1 += limb0 >> 32;
  *lo = limb1 << 32 | (limb0 & 0xffffffffu);
  *hi = (int64_t)(upper + (limb1 >> 32));
}
