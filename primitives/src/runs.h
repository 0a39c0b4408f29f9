// Groups of rows that come in the order of their keys: the rows of a group follow each
// other, so that runs of equal keys are added up in registers, and memory sees a run once.
//
// A run that begins and ends within a tile is a whole group, as no other tile has its key:
// it goes to a list, at a place that nothing else writes. The first and the last run of a
// tile may go on in others, however many tiles without a live row lie between. Their
// groups have slots in a small hash table before the list, to whose cells all tiles add.
// So tiles need not be taken in order, and none waits for another one.
//
// The table is one array of keys: mask + 1 words of open addressing, all ones where there
// is none, which is no packed key, and behind them the list. Slots count from the array's
// beginning. The words of cells before the list are cleared as CellOf in package
// harmony/abi says, those of the list are not.
//
// Runs of a tile have numbers. A warp adds up the parts of runs in the 128 rows of a chunk;
// heads says of each item whether a part begins with it, the first of a chunk's among
// them. The parts that end in a chunk meet those of the other chunks in areas that the
// block shares, with a word for each run: ends says of each item whether a part ends with
// it, which is staged if it begins a run, and joined to what has been staged if not.
// Areas of 32-bit words are called narrow. From there runs go to memory side by side.

#pragma once

#include "cells.h"
#include "hash.h"
#include "scan.h"

namespace runs {

enum : uint8_t { NOTHING, BEGINS, GOES_ON };

enum : uint64_t { NONE = ~(uint64_t)0 };

// Chunk is what a warp's chunk tells the block, and then what it is told.
struct Chunk {
  uint64_t first, last; // keys of its live rows
  uint32_t live, heads; // whether there are some; runs that begin behind the first of them
  uint32_t run, begins; // the number of the first one's run in the tile; whether it begins there
};

// Tile is what all of a block's threads are told.
struct Tile {
  int64_t slots[2]; // of the first and the last run
  int64_t list;     // the slot of the second run
  uint32_t runs;
};

// enter returns the slot of a key in the hash table, which has room.
RF_HELPER int64_t enter(uint64_t *table, uint64_t mask, uint64_t key) {
  uint64_t at = hashing::mix(key) & mask;
  for (;;) {
    uint64_t seen = target::cas(table + at, (uint64_t)NONE, key);
    if (seen == NONE || seen == key)
      return (int64_t)at;
    at = (at + 1) & mask;
  }
}

// announce gives the runs of a tile their slots: those of the first and the last in the
// hash table, places in the list for the others. Two lanes do, or one thread.
RF_HELPER void announce(Tile *tile, uint64_t *table, uint64_t mask, int64_t *cursor, uint32_t runs, uint64_t first,
                        uint64_t last, int32_t lane) {
  uint64_t before = 0;
  if (lane == 0 && runs > 2)
    before = target::add((uint64_t *)cursor, (uint64_t)(runs - 2));
  // Both answers are under way together.
  if ((uint32_t)lane < runs)
    tile->slots[lane] = enter(table, mask, lane == 0 ? first : last);
  if (lane == 0) {
    tile->runs = runs;
    tile->list = (int64_t)(mask + 1 + before);
  }
}

// of_worker is rf_block_runs for one thread, whose tile is one chunk.
RF_HELPER void of_worker(uint32_t *runs, uint8_t *heads, uint8_t *ends, const uint8_t *live, uint64_t *keys,
                         uint64_t *table, uint64_t mask, int64_t *cursor, Tile *tile, int32_t items) {
  uint64_t first = NONE, key = NONE;
  uint32_t begun = 0;
  for (int32_t i = 0; i < items; i++) {
    heads[i] = i == 0 || (live[i] && key != NONE && keys[i] != key);
    if (live[i]) {
      first = key == NONE ? keys[i] : first;
      begun += keys[i] != key;
      key = keys[i];
    }
    runs[i] = begun == 0 ? 0 : begun - 1;
    keys[i] = key;
  }
  for (int32_t i = 0; i < items; i++)
    ends[i] = begun > 0 && (i + 1 == items || heads[i + 1]) ? BEGINS : NOTHING;
  announce(tile, table, mask, cursor, begun, first, key, 0);
  if (begun > 1)
    tile->slots[1] = enter(table, mask, key);
}

// latest is the highest of the lanes, of which there is one.
RF_HELPER int32_t latest(uint32_t lanes) { return 31 - __builtin_clz(lanes); }

// number tells all chunks of a tile which of its runs they begin with. One warp calls it.
RF_HELPER void number(Chunk *chunks, int32_t count, Tile *tile, uint64_t *table, uint64_t mask, int64_t *cursor,
                      int32_t lane) {
  uint64_t first = NONE, last = NONE;
  uint32_t runs = 0;
  RF_UNROLL
  for (int32_t from = 0; from < count; from += target::WARP) {
    Chunk mine = {0, 0, 0, 0, 0, 0};
    if (from + lane < count)
      mine = chunks[from + lane];
    uint32_t lanes = target::ballot(mine.live != 0), below = lanes & target::lanes_below(lane);
    uint64_t before = target::from_lane(mine.last, below != 0 ? latest(below) : 0);
    if (below == 0)
      before = last;
    uint32_t begins = mine.live != 0 && mine.first != before;
    uint32_t some = mine.heads + begins;
    uint32_t until = scan::inclusive<scan::Sum>(some, lane, target::WARP);
    if (from + lane < count) {
      chunks[from + lane].run = runs + until - mine.heads - 1;
      chunks[from + lane].begins = begins;
    }
    runs += target::from_lane(until, target::WARP - 1);
    if (lanes != 0) {
      uint64_t earliest = target::from_lane(mine.first, __builtin_ctz(lanes));
      first = first == NONE ? earliest : first;
      last = target::from_lane(mine.last, latest(lanes));
    }
  }
  if (lane < 2)
    announce(tile, table, mask, cursor, runs, first, last, lane);
}

// of_block is rf_block_runs for threads. Keys are of type K.
template <class K>
RF_HELPER void of_block(uint32_t *runs, uint8_t *heads, uint8_t *ends, const uint8_t *live, uint64_t *keys,
                        uint64_t *table, uint64_t mask, int64_t *cursor, Tile *tile, int32_t threads, int32_t items) {
  int32_t lane = target::lane(threads), warp = target::warp(threads), warps = target::warps(threads);
  uint32_t lanes_before = target::lanes_below(lane);
  Chunk *chunks = (Chunk *)(tile + 1);
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    K first = 0, last = 0;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      first = live[c + 3 - j] ? (K)keys[c + 3 - j] : first;
      last = live[c + j] ? (K)keys[c + j] : last;
    }
    uint32_t lanes = target::ballot(live[c] | live[c + 1] | live[c + 2] | live[c + 3]);
    uint32_t below = lanes & lanes_before;
    K before = target::from_lane(last, below != 0 ? latest(below) : 0);
    bool known = below != 0;
    uint32_t begun = 0, all = 0, first_heads = 0;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      bool in = live[c + j], head = in && known && (K)keys[c + j] != before;
      before = in ? (K)keys[c + j] : before;
      known |= in;
      heads[c + j] = head;
      keys[c + j] = before;
      uint32_t same = target::ballot(head);
      begun += (uint32_t)__builtin_popcount(same & lanes_before);
      all += (uint32_t)__builtin_popcount(same);
      first_heads = j == 0 ? same : first_heads;
    }
    bool next_begins = (first_heads >> 1 | 1u << (target::WARP - 1)) >> lane & 1;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      begun += heads[c + j];
      runs[c + j] = begun;
      ends[c + j] = j < 3 ? heads[c + j + 1] : next_begins;
    }
    heads[c] |= lane == 0;
    Chunk *chunk = chunks + (c / 4) * warps + warp;
    if (lanes != 0 && lane == __builtin_ctz(lanes))
      chunk->first = first;
    if (lanes != 0 && lane == latest(lanes))
      chunk->last = last;
    if (lane == 0) {
      chunk->live = lanes != 0;
      chunk->heads = all;
    }
  }
  target::barrier();
  if (warp == 0)
    number(chunks, warps * (items / 4), tile, table, mask, cursor, lane);
  target::barrier();
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    Chunk chunk = chunks[(c / 4) * warps + warp];
    uint8_t of_first = chunk.live == 0 ? NOTHING : chunk.begins ? BEGINS : GOES_ON;
    uint8_t of_others = chunk.live == 0 ? NOTHING : BEGINS;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      ends[c + j] = !ends[c + j] ? NOTHING : runs[c + j] == 0 ? of_first : of_others;
      runs[c + j] += chunk.run;
    }
  }
}

// scan replaces the words of items by what combine makes of their part up to and with
// them. Items that are not live have the identity.
template <class T, class F>
RF_HELPER void scan(int64_t *words, const uint8_t *heads, const uint8_t *live, T identity, int32_t items, F combine) {
  if (target::WARP == 1) {
    T at = identity;
    for (int32_t i = 0; i < items; i++) {
      T word = live[i] ? (T)words[i] : identity;
      at = heads[i] ? word : combine(at, word);
      words[i] = (int64_t)at;
    }
    return;
  }
  int32_t lane = peers::lane();
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    T at[4];
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      at[j] = live[c + j] ? (T)words[c + j] : identity;
      if (j > 0 && !heads[c + j])
        at[j] = combine(at[j - 1], at[j]);
    }
    uint32_t lanes = target::ballot(heads[c] | heads[c + 1] | heads[c + 2] | heads[c + 3]);
    int32_t start = latest(lanes & (target::lanes_below(lane) | 1u << lane));
    // longer has the lanes whose parts begin at least d lanes before them.
    uint32_t longer = ~lanes;
    T all = at[3];
    RF_UNROLL
    for (int32_t d = 1; d < target::WARP; d *= 2) {
      if (longer == 0)
        break;
      T below = target::from_below(all, d);
      if (lane - d >= start)
        all = combine(below, all);
      longer &= longer << d;
    }
    T before = target::from_below(all, 1);
    bool open = true;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      open &= !heads[c + j];
      words[c + j] = (int64_t)(open ? combine(before, at[j]) : at[j]);
    }
  }
}

// stage writes the words of parts that begin a run to the area.
template <class T>
RF_HELPER void stage(T *area, const uint32_t *runs, const uint8_t *ends, const int64_t *words, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (ends[i] == BEGINS)
      area[runs[i]] = (T)words[i];
}

// join calls with with the run and the word of each other part. A chunk has one at most.
template <class F>
RF_HELPER void join(const uint32_t *runs, const uint8_t *ends, const int64_t *words, int32_t items, F with) {
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    int32_t at = -1;
    int64_t word = 0;
    uint32_t run = 0;
    RF_UNROLL
    for (int32_t j = 0; j < 4 && c + j < items; j++)
      if (ends[c + j] == GOES_ON)
        at = j, word = words[c + j], run = runs[c + j];
    if (at >= 0)
      with(run, word);
  }
}

// each calls list with each run of the list and its slot, and border with each other one.
template <class L, class B> RF_HELPER void each(const Tile *tile, int32_t threads, L list, B border) {
  uint32_t count = tile->runs;
  uint64_t from = (uint64_t)tile->list - 1;
  RF_ROLLED
  for (uint32_t r = threads == 1 ? 0 : (uint32_t)target::thread(); r < count; r += (uint32_t)threads) {
    if (r != 0 && r != count - 1)
      list(r, from + r);
    else
      border(r, (uint64_t)tile->slots[r != 0]);
  }
}

RF_HELPER int64_t staged(const void *area, int32_t narrow, uint32_t run) {
  return narrow ? (int64_t)((const int32_t *)area)[run] : ((const int64_t *)area)[run];
}

} // namespace runs

// rf_block_runs finds the runs of equal keys among the live rows of a tile, in which keys
// come in order: heads, ends and runs as above. tile is 32 + threads * items / 4 bytes that
// the block shares, and tells those that follow about the runs, of which the first and the
// last are in the hash table then, and cursor counts the others. The list has room for as
// many as the tile has rows, and the hash table for two a tile. Each item's key becomes that
// of the last live row. With narrow, keys are below 2^32.
//
// Phases: 1 compare keys in warps, and tell the block about each chunk; 2 one warp numbers the chunks' runs, enters the first and the last key, reserves places for the others; 3 number items
// Barriers: 2; two more until tile is used again
// Cost: 1 or 2 shuffles and 5 votes for 4 items; a tile 3 global atomics
RF_PRIMITIVE void rf_block_runs(uint32_t *runs, uint8_t *heads, uint8_t *ends, const uint8_t *live, uint64_t *keys,
                                uint64_t *table, uint64_t mask, int64_t *cursor, int32_t narrow, void *tile,
                                int32_t threads, int32_t items) {
  runs::Tile *t = (runs::Tile *)tile;
  if (threads == 1)
    runs::of_worker(runs, heads, ends, live, keys, table, mask, cursor, t, items);
  else if (narrow)
    runs::of_block<uint32_t>(runs, heads, ends, live, keys, table, mask, cursor, t, threads, items);
  else
    runs::of_block<uint64_t>(runs, heads, ends, live, keys, table, mask, cursor, t, threads, items);
}

// rf_tile_run_sums replaces the words of items by the sums, modulo 2^64, of their part of
// a run up to and with them. With narrow, all sums are of 32 bits, signed.
//
// Phases: 1 add in threads; 2 scan in warps by shuffles, as far as parts reach; 3 add to the thread's first part
// Barriers: 0, but every warp calls it whole
// Cost: up to 12 shuffles for 4 items, half of them if narrow
RF_PRIMITIVE void rf_tile_run_sums(int64_t *words, const uint8_t *heads, const uint8_t *live, int32_t narrow,
                                   int32_t items) {
  if (narrow)
    runs::scan(words, heads, live, (int32_t)0, items,
               [](int32_t a, int32_t b) RF_LAMBDA { return (int32_t)((uint32_t)a + (uint32_t)b); });
  else
    runs::scan(words, heads, live, (int64_t)0, items,
               [](int64_t a, int64_t b) RF_LAMBDA { return (int64_t)((uint64_t)a + (uint64_t)b); });
}

// rf_tile_run_extremes is rf_tile_run_sums for the least word, or with least = 0 the
// greatest one.
//
// Phases: as rf_tile_run_sums
// Barriers: 0, but every warp calls it whole
// Cost: as rf_tile_run_sums
RF_PRIMITIVE void rf_tile_run_extremes(int64_t *words, const uint8_t *heads, const uint8_t *live, int32_t least,
                                       int32_t narrow, int32_t items) {
  auto smaller = [](auto a, auto b) RF_LAMBDA { return a < b ? a : b; };
  auto larger = [](auto a, auto b) RF_LAMBDA { return a > b ? a : b; };
  if (narrow && least)
    runs::scan(words, heads, live, (int32_t)INT32_MAX, items, smaller);
  else if (narrow)
    runs::scan(words, heads, live, (int32_t)INT32_MIN, items, larger);
  else if (least)
    runs::scan(words, heads, live, (int64_t)INT64_MAX, items, smaller);
  else
    runs::scan(words, heads, live, (int64_t)INT64_MIN, items, larger);
}

// rf_tile_run_stage writes the words of the parts that begin a run to an area.
//
// Cost: one shared write a part
RF_PRIMITIVE void rf_tile_run_stage(void *area, int32_t narrow, const uint32_t *runs, const uint8_t *ends,
                                    const int64_t *words, int32_t items) {
  if (narrow)
    runs::stage((int32_t *)area, runs, ends, words, items);
  else
    runs::stage((int64_t *)area, runs, ends, words, items);
}

// rf_tile_run_join joins the words of all other parts to what was staged before a barrier:
// how = 0 adds them, 1 takes the least and 2 the greatest.
//
// Cost: one shared atomic a chunk
RF_PRIMITIVE void rf_tile_run_join(void *area, int32_t narrow, int32_t how, const uint32_t *runs, const uint8_t *ends,
                                   const int64_t *words, int32_t items) {
  runs::join(runs, ends, words, items, [=](uint32_t run, int64_t word) RF_LAMBDA {
    uint32_t *small = (uint32_t *)area + run;
    int64_t *large = (int64_t *)area + run;
    if (how == 0)
      narrow ? (void)target::add(small, (uint32_t)word) : (void)target::add((uint64_t *)large, (uint64_t)word);
    else if (how == 1)
      narrow ? (void)target::smallest((int32_t *)small, (int32_t)word) : (void)target::smallest(large, word);
    else
      narrow ? (void)target::largest((int32_t *)small, (int32_t)word) : (void)target::largest(large, word);
  });
}

// rf_block_run_keys writes the keys of the list, which are staged.
//
// Barriers: 0, but all threads call it, after a barrier
// Cost: one shared read and one access of 8 bytes a run
RF_PRIMITIVE void rf_block_run_keys(uint64_t *table, const void *area, int32_t narrow, const void *tile,
                                    int32_t threads) {
  runs::each(
      (const runs::Tile *)tile, threads,
      [=](uint32_t run, uint64_t slot) RF_LAMBDA {
        table[slot] = narrow ? (uint64_t)((const uint32_t *)area)[run] : ((const uint64_t *)area)[run];
      },
      [](uint32_t, uint64_t) RF_LAMBDA {});
}

// rf_block_run_words stores the words of runs, which are staged and joined, in the cells of
// the list, of so many words each, and adds those of the first and the last run to theirs,
// or lowers or raises theirs, as how says of rf_tile_run_join.
//
// Barriers: 0, but all threads call it, after a barrier
// Cost: one shared read and one access of 8 bytes a run, two atomics a tile
RF_PRIMITIVE void rf_block_run_words(int64_t *cells, int32_t words, const void *area, int32_t narrow, int32_t how,
                                     const void *tile, int32_t threads) {
  runs::each(
      (const runs::Tile *)tile, threads,
      [=](uint32_t run, uint64_t slot) RF_LAMBDA {
        cells[(uint64_t)words * slot] = runs::staged(area, narrow, run);
      },
      [=](uint32_t run, uint64_t slot) RF_LAMBDA {
        int64_t word = runs::staged(area, narrow, run), *cell = cells + (uint64_t)words * slot;
        if (how == 0)
          rf_cell_add(cell, word, 1);
        else if (how == 1)
          rf_cell_min(cell, word, 1);
        else
          rf_cell_max(cell, word, 1);
      });
}

// rf_block_run_sums is rf_block_run_words for sums of 128 bits, low half first: those of
// area, signed, or, unless high is null, area + 2^32 high, both of 64 bits and area at
// least 0.
//
// Barriers: 0, but all threads call it, after a barrier
// Cost: one or two shared reads and one access of 16 bytes a run, up to four atomics a tile
RF_PRIMITIVE void rf_block_run_sums(uint64_t *cells, int32_t words, const void *area, const void *high, int32_t narrow,
                                    const void *tile, int32_t threads) {
  auto sum = [=](uint32_t run) RF_LAMBDA {
    int64_t low = runs::staged(area, narrow, run);
    return high ? cells::total((uint64_t)low, (uint64_t)runs::staged(high, 0, run))
                : int128::Int128{(uint64_t)low, low >> 63};
  };
  runs::each(
      (const runs::Tile *)tile, threads,
      [=](uint32_t run, uint64_t slot) RF_LAMBDA {
        int128::Int128 s = sum(run);
        uint64_t *cell = cells + (uint64_t)words * slot;
        if (words == 2) {
          uint32_t halves[4] = {(uint32_t)s.lo, (uint32_t)(s.lo >> 32), (uint32_t)s.hi,
                                (uint32_t)((uint64_t)s.hi >> 32)};
          target::store16(cell, halves);
        } else {
          cell[0] = s.lo;
          cell[1] = (uint64_t)s.hi;
        }
      },
      [=](uint32_t run, uint64_t slot) RF_LAMBDA {
        int128::Int128 s = sum(run);
        rf_cell_add_i128(cells + (uint64_t)words * slot, s.lo, s.hi, 1);
      });
}
