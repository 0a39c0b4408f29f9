// Queues of rows in shared memory: where few of a tile's rows are left, they wait here
// until there are enough for all lanes, as in Lang et al., "Make the most out of your
// SIMD investments" (2018), and Funke et al., "Pipelined query processing in coprocessor
// environments" (2018). What comes behind a queue takes as many instructions as there
// are rows for, not as many as were looked at.
//
// A queue belongs to a warp or to a block, whose threads, mates of them, all call these
// together: that of a block is for what has to be called by all of it. It is a stack of
// 32-bit row numbers; how many it has is the same number in all mates' registers.
//
// It is for GPUs; items are 32 at most.

#pragma once

#include "scan.h"
#include "tile.h"

namespace queue {

// mate numbers the threads that share a queue.
RF_HELPER int32_t mate(int32_t mates) { return target::thread() & (mates - 1); }

// meet waits for all mates.
RF_HELPER void meet(int32_t mates) {
  if (mates == target::WARP)
    target::warp_barrier();
  else
    target::barrier();
}

} // namespace queue

// rf_queue_push appends the rows of the live items of a tile that begins with row first,
// in any order, to a queue that has count rows, and returns how many it has then. A
// block's queue counts in three words of shared memory that are 0 at first; turn goes
// round them, 0, 1, 2, from call to call.
//
// Phases: 1 a warp's rows find their places by a scan, and an atomic if it is not alone; 2 rows are written
// Barriers: 1 of the block, or of the warp
// Cost: 5 shuffles a thread, one shared access a live item
RF_PRIMITIVE int32_t rf_queue_push(uint32_t *queue, uint32_t *counts, int32_t turn, int32_t count, const uint8_t *live,
                                   int64_t first, int32_t mates, int32_t threads, int32_t items) {
  int32_t mine = 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    mine += live[i];
  int32_t lane = target::thread() % target::WARP;
  int32_t up_to = (int32_t)scan::inclusive<scan::Sum>((uint32_t)mine, lane, target::WARP);
  int32_t all = (int32_t)target::from_lane((uint32_t)up_to, target::WARP - 1);
  int32_t at = count + up_to - mine;
  if (mates != target::WARP) {
    uint32_t before = 0;
    if (lane == 0 && all != 0)
      before = target::add(counts + turn, (uint32_t)all);
    at += (int32_t)target::from_lane(before, 0);
  }
  uint32_t start = (uint32_t)first;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i])
      queue[at++] = start + (uint32_t)tile::row(i, threads);
  queue::meet(mates);
  if (mates == target::WARP)
    return count + all;
  count += (int32_t)target::load(counts + turn);
  // All have read the last turn's count before they met, and none adds to it before all
  // meet again.
  if (target::thread() == 0)
    target::store(counts + (turn == 0 ? 2 : turn - 1), (uint32_t)0);
  return count;
}

// rf_queue_take gives the items the last rows of a queue that has count rows, and marks
// those as live that got one: all of them, if there are as many.
//
// Cost: one shared access an item
RF_PRIMITIVE void rf_queue_take(int64_t *rows, uint8_t *live, const uint32_t *queue, int32_t count, int32_t mates,
                                int32_t items) {
  int32_t from = count > mates * items ? count - mates * items : 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t at = from + i * mates + queue::mate(mates);
    live[i] = at < count;
    rows[i] = (int64_t)(uint64_t)(live[i] ? queue[at] : 0);
  }
}

// rf_queue_meet waits for the threads that share a queue, of which there are so many: they
// have taken their rows, and more may be pushed.
//
// Barriers: 1 of the block, or of the warp
// Cost: the barrier
RF_PRIMITIVE void rf_queue_meet(int32_t threads) { queue::meet(threads); }
