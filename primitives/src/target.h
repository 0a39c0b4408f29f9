// The target layer: all that differs between a GPU block and a CPU worker.
//
// Every other file is written against this one, for a block of any number of
// threads. On a CPU the block is one worker, its warp is one lane, and a barrier
// is nothing; tables are shared with other workers, so atomics are atomic there
// too. A target file defines, in namespace target:
//
//   WARP                      lanes of a warp: 32 or 1
//   thread()                  index of the thread in its block
//   barrier(), warp_barrier() order memory among a block's or a warp's threads
//   barrier_any(p)            barrier, and whether the predicate of any thread is true
//   barrier_count(p)          barrier, and of how many threads the predicate is true
//   shuffle, shuffle_up, shuffle_xor   of 32-bit values, over a full warp
//   match_any(v), match_any64(v), match_byte(v), ballot(p)   lanes with an equal value
//                             of 32, 64 or 8 bits, with a true predicate
//   either_lanes(v)          bits that any lane of a full warp has
//   byte(v, number)           a byte of a word, the lowest is 0
//   active()                  lanes that execute this together
//   cas, add, either, smallest, largest   relaxed atomics, returning the old value
//   fetch_add_shared_if(p, at, v)   add of 32 bits to the block's memory, and 0 and
//                             nothing else where the predicate is false, without a branch
//   add_shared_if(p, at, v)   the same, without the old value
//   load, store               relaxed atomic accesses
//   fence()                   orders earlier loads before later accesses, and earlier
//                             accesses before later stores, for all
//   load8, load16, store8, store16        aligned accesses of that many bytes
//   load_if(p, wanted)        what is in global memory and nobody writes, or 0
//   global(p)                 p, known to point to memory that all blocks share
//   prefetch(p), relax()      hints: fetch a line soon, spin politely
//   pause(ns)                 waits for about that long
//   funnel(lo, hi, s)         bits s to s + 31 of hi:lo, s below 32
//   multiply_high(a, b)       upper half of a 64-bit product
//
// and the macros RF_PRIMITIVE (an inlined function with a C name), RF_HELPER (an
// inlined C++ function), RF_MEMBER and RF_LAMBDA (the same for functions of a
// struct and for lambdas), RF_UNROLL (unroll this loop once its bounds are
// constants) and RF_ROLLED (do not: it is seldom run). Loops over a thread's items carry RF_UNROLL: on a GPU the arrays
// they index become registers; on a CPU they stay loops, to be vectorised.

#pragma once

#include <stdint.h>

#if defined(RF_EMULATED)
#include "test/target_emulated.h"
#elif defined(__CUDACC__) && !defined(__clang__)
#include "target_nvcc.h"
#elif defined(__NVPTX__)
#include "target_nvptx.h"
#else
#include "target_cpu.h"
#endif

namespace target {

RF_HELPER int32_t lane(int32_t threads) {
  return threads == 1 ? 0 : thread() % WARP;
}

RF_HELPER int32_t warp(int32_t threads) {
  return threads == 1 ? 0 : thread() / WARP;
}

// warps is at least one, so that it can size scratch.
RF_HELPER constexpr int32_t warps(int32_t threads) {
  return (threads + WARP - 1) / WARP;
}

RF_HELPER uint32_t lanes_below(int32_t lane) { return (1u << lane) - 1; }

RF_HELPER uint64_t wide(uint32_t lo, uint32_t hi) {
  return (uint64_t)hi << 32 | lo;
}


// each_half moves a value of 4 or 8 bytes by a shuffle of 32-bit words.
template <class T, class F> RF_HELPER T each_half(T v, F shuffle32) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
  if (sizeof(T) == 4)
    return (T)shuffle32((uint32_t)v);
  uint32_t lo = shuffle32((uint32_t)(uint64_t)v);
  uint32_t hi = shuffle32((uint32_t)((uint64_t)v >> 32));
  return (T)wide(lo, hi);
}

template <class T> RF_HELPER T from_lane(T v, int32_t lane) {
  return each_half(v, [lane](uint32_t half) RF_LAMBDA { return shuffle(half, lane); });
}

template <class T> RF_HELPER T from_below(T v, int32_t delta) {
  return each_half(v, [delta](uint32_t half) RF_LAMBDA { return shuffle_up(half, delta); });
}

template <class T> RF_HELPER T from_partner(T v, int32_t mask) {
  return each_half(v, [mask](uint32_t half) RF_LAMBDA { return shuffle_xor(half, mask); });
}

// reserve_one is add(cursor, 1), with one atomic for all lanes that arrive
// together (Adinetz, "Warp-aggregated atomics", 2014).
RF_HELPER int64_t reserve_one(int64_t *cursor, int32_t lane) {
  if (WARP == 1)
    return (int64_t)add((uint64_t *)cursor, (uint64_t)1);
  uint32_t mask = active();
  int32_t leader = __builtin_ctz(mask);
  uint64_t first = 0;
  if (lane == leader)
    first = add((uint64_t *)cursor, (uint64_t)__builtin_popcount(mask));
  first = from_active(mask, first, leader);
  return (int64_t)(first + (uint64_t)__builtin_popcount(mask & lanes_below(lane)));
}

} // namespace target
