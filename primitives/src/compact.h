// Compaction of a tile: ranks of the live items, moving them together, and
// reserving room for them. Order is kept: a live item's rank is the number of
// live rows before its row.

#pragma once

#include "scan.h"
#include "tile.h"

namespace compact {

// Counts of several chunks travel through one scan as 16-bit fields: a chunk has
// at most 4 * 1,024 rows.
enum { FIELD = 16 };

// number ranks the live items of as many chunks as there are fields in a Counts, from
// an item on, where the live rows before them are known, and returns those up to their end.
template <class Counts>
RF_HELPER int32_t number(int32_t *rank, const uint8_t *live, int32_t before, int32_t from, void *scratch, int32_t threads,
                         int32_t items) {
  const int32_t chunks = sizeof(Counts) * 8 / FIELD;
  Counts counts = 0, total = 0;
  RF_UNROLL
  for (int32_t c = 0; c < chunks; c++)
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      if (from + 4 * c + j < items)
        counts += (Counts)live[from + 4 * c + j] << (c * FIELD);
  Counts earlier = scan::exclusive<scan::Sum>(counts, (Counts)0, &total, scratch, threads);
  RF_UNROLL
  for (int32_t c = 0; c < chunks; c++) {
    int32_t at = before + (int32_t)(earlier >> (c * FIELD) & 0xffff);
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      int32_t i = from + 4 * c + j;
      if (i < items) {
        rank[i] = at;
        at += live[i];
      }
    }
    before += (int32_t)(total >> (c * FIELD) & 0xffff);
  }
  return before;
}

template <class T>
RF_HELPER void append(T *to, int64_t base, const int64_t *words, const int32_t *rank, const uint8_t *live,
                      int32_t items) {
  if (target::WARP == 1) {
    // Up to the last live item every one is written, without a branch: the
    // live item that comes next overwrites one that is not.
    int32_t last = items - 1;
    while (last >= 0 && !live[last])
      last--;
    if (last >= 0 && rank[last] == last) {
      for (int32_t i = 0; i <= last; i++)
        to[i] = (T)tile::offset_of(words[i], base);
      return;
    }
    for (int32_t i = 0; i <= last; i++)
      to[rank[i]] = (T)tile::offset_of(words[i], base);
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i])
      to[rank[i]] = (T)tile::offset_of(words[i], base);
}

} // namespace compact

// rf_block_rank gives every live item the number of live rows before its row in
// the tile, and returns the number of live rows. Other items' ranks are
// unspecified.
//
// Phases: for each 16 items: 1 count the live of each chunk; 2 one scan of four packed counts; 3 number them
// Barriers: 2 for each 16 items, none for one warp
// Scratch: 8 * warps
// Cost: 2 * (5 + log2(warps)) shuffles a thread for each 16 items, half of them for up to 8
RF_PRIMITIVE int32_t rf_block_rank(int32_t *rank, const uint8_t *live, void *scratch, int32_t threads,
                                   int32_t items) {
  int32_t before = 0;
  if (threads == 1) {
    for (int32_t i = 0; i < items; i++) {
      rank[i] = before;
      before += live[i];
    }
    return before;
  }
  int32_t from = 0;
  RF_UNROLL
  for (; items - from > 8; from += 16)
    before = compact::number<uint64_t>(rank, live, before, from, scratch, threads, items);
  if (from < items)
    before = compact::number<uint32_t>(rank, live, before, from, scratch, threads, items);
  return before;
}

// rf_block_compact moves the live items to the first rows of the tile, by their
// ranks. The tile then has total rows; the words of later rows are unspecified.
//
// Phases: 1 live items to scratch; 2 the tile's first rows from scratch
// Barriers: 2
// Scratch: 8 * tile
// Cost: 2 shared accesses an item; none on a CPU, where items move in place
RF_PRIMITIVE void rf_block_compact(int64_t *words, const int32_t *rank, const uint8_t *live, int32_t total,
                                   void *scratch, int32_t threads, int32_t items) {
  if (threads == 1) {
    // A rank never exceeds its row. Every item is written, live or not, so that
    // the loop has no branch.
    for (int32_t i = 0; i < items; i++)
      words[rank[i]] = words[i];
    return;
  }
  int64_t *shared = (int64_t *)scratch;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i])
      shared[rank[i]] = words[i];
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t r = tile::row(i, threads);
    if (r < total)
      words[i] = shared[r];
  }
  target::barrier();
}

// rf_block_reserve adds count, equal in all threads, to a cursor and returns to
// all threads what it was before: the first of count places of the caller's own.
// The cursor goes on counting beyond any capacity, so that it tells the size
// that would have sufficed.
//
// Phases: 1 one thread adds; 2 all read its answer from scratch
// Barriers: 2
// Scratch: 8
// Cost: one global atomic a block, none for count 0
RF_PRIMITIVE int64_t rf_block_reserve(int64_t *cursor, int64_t count, void *scratch, int32_t threads) {
  if (count == 0)
    return 0;
  if (threads == 1)
    return (int64_t)target::add((uint64_t *)cursor, (uint64_t)count);
  uint64_t *first = (uint64_t *)scratch;
  if (target::thread() == 0)
    *first = target::add((uint64_t *)cursor, (uint64_t)count);
  target::barrier();
  int64_t mine = (int64_t)*first;
  target::barrier();
  return mine;
}

// rf_block_room says whether a gauge, two words, has its first, the cursor, not
// above its second, the limit; all threads get the same answer, while others move
// both.
//
// Phases: 1 all threads look; 2 one that saw no room is enough
// Barriers: 1
// Cost: two reads a warp
RF_PRIMITIVE int32_t rf_block_room(const int64_t *gauge, int32_t threads) {
  bool full = target::load(gauge) > target::load(gauge + 1);
  return threads == 1 ? !full : !target::barrier_any(full);
}

// rf_tile_append writes each live item to entry first + rank of a column of
// width 0, 1, 2, 4 or 8 bytes, as an offset from base, which must fit the width;
// width 0 writes nothing. The entries up to that of the last live item are the
// caller's own.
//
// Cost: one access of width bytes a live item, to nearby places
RF_PRIMITIVE void rf_tile_append(void *column, int64_t width, int64_t base, int64_t first, const int64_t *words,
                                 const int32_t *rank, const uint8_t *live, int32_t items) {
  switch (width) {
  case 1:
    return compact::append((uint8_t *)column + first, base, words, rank, live, items);
  case 2:
    return compact::append((uint16_t *)column + first, base, words, rank, live, items);
  case 4:
    return compact::append((uint32_t *)column + first, base, words, rank, live, items);
  case 8:
    return compact::append((uint64_t *)column + first, base, words, rank, live, items);
  }
}
