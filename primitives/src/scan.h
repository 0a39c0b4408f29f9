// Block-wide exclusive prefix sums and maxima.
//
// Warps scan by shuffles, their totals meet in scratch, and every warp scans
// those again for itself, which costs less than a third barrier (Sengupta et al.,
// "Efficient parallel scan algorithms for GPUs", 2008). All threads of a block
// call these together.

#pragma once

#include "target.h"

namespace scan {

struct Sum {
  template <class T> static RF_MEMBER T apply(T a, T b) { return a + b; }
};

struct Largest {
  template <class T> static RF_MEMBER T apply(T a, T b) { return a > b ? a : b; }
};

// inclusive scans the values of the first lanes of a warp, of which there are so many.
template <class Op, class T> RF_HELPER T inclusive(T v, int32_t lane, int32_t lanes) {
  RF_UNROLL
  for (int32_t d = 1; d < target::WARP; d *= 2) {
    if (d >= lanes)
      break;
    T below = target::from_below(v, d);
    if (lane >= d)
      v = Op::apply(below, v);
  }
  return v;
}

// exclusive needs the identity of Op.
template <class Op, class T>
RF_HELPER T exclusive(T v, T identity, T *total, void *scratch, int32_t threads) {
  if (threads == 1) {
    *total = v;
    return identity;
  }
  T *sums = (T *)scratch;
  int32_t lane = target::lane(threads), warp = target::warp(threads), warps = target::warps(threads);
  T here = inclusive<Op>(v, lane, target::WARP);
  T before = target::from_below(here, 1);
  if (lane == 0)
    before = identity;
  if (warps == 1) {
    *total = target::from_lane(here, target::WARP - 1);
    return before;
  }
  if (lane == target::WARP - 1)
    sums[warp] = here;
  target::barrier();
  T all = inclusive<Op>(lane < warps ? sums[lane] : identity, lane, warps);
  *total = target::from_lane(all, warps - 1);
  T earlier = target::from_lane(all, warp > 0 ? warp - 1 : 0);
  target::barrier();
  return warp > 0 ? Op::apply(earlier, before) : before;
}

} // namespace scan

// rf_block_scan_u32 returns the sum of the values of the threads before the
// caller, and the sum of all in total, modulo 2^32.
//
// Phases: 1 scan in warps by shuffles; 2 warp totals to scratch; 3 every warp scans the totals
// Barriers: 2, none for one warp
// Scratch: 4 * warps
// Cost: 10 shuffles a thread
RF_PRIMITIVE uint32_t rf_block_scan_u32(uint32_t value, uint32_t *total, void *scratch, int32_t threads) {
  return scan::exclusive<scan::Sum>(value, (uint32_t)0, total, scratch, threads);
}

// rf_block_scan_i64 is rf_block_scan_u32 modulo 2^64.
//
// Phases: as rf_block_scan_u32
// Barriers: 2, none for one warp
// Scratch: 8 * warps
// Cost: 20 shuffles a thread
RF_PRIMITIVE int64_t rf_block_scan_i64(int64_t value, int64_t *total, void *scratch, int32_t threads) {
  return (int64_t)scan::exclusive<scan::Sum>((uint64_t)value, (uint64_t)0, (uint64_t *)total, scratch, threads);
}

// rf_block_scan_max_i64 returns the largest value of the threads before the
// caller, INT64_MIN for the first, and the largest of all in total.
//
// Phases: as rf_block_scan_u32
// Barriers: 2, none for one warp
// Scratch: 8 * warps
// Cost: 20 shuffles a thread
RF_PRIMITIVE int64_t rf_block_scan_max_i64(int64_t value, int64_t *total, void *scratch, int32_t threads) {
  return scan::exclusive<scan::Largest>(value, INT64_MIN, total, scratch, threads);
}
