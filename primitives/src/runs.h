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
// A warp adds up the parts of runs in the 128 rows of a chunk. heads says of each item
// whether a part begins with it, the first of a chunk's among them, and puts what is to be
// done with the part that ends with it: one that begins a run of the list is stored, all
// others are added when those have been stored, behind a barrier.

#pragma once

#include "cells.h"
#include "hash.h"
#include "scan.h"

namespace runs {

enum : uint8_t { NOTHING, STORE, ADD };

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

// list reserves places for the runs of a tile but the first and the last.
RF_HELPER int64_t list(int64_t *cursor, uint64_t mask, uint32_t runs) {
  uint64_t first = runs > 2 ? target::add((uint64_t *)cursor, (uint64_t)(runs - 2)) : 0;
  return (int64_t)(mask + 1 + first);
}

RF_HELPER bool is_border(const Tile &t, uint32_t run) { return run == 0 || run == t.runs - 1; }

RF_HELPER uint32_t slot(const Tile &t, uint32_t run) {
  return (uint32_t)(run == 0 ? t.slots[0] : run == t.runs - 1 ? t.slots[1] : t.list + run - 1);
}

// of_worker is rf_block_runs for one thread, whose tile is one chunk.
RF_HELPER void of_worker(uint32_t *slots, uint8_t *heads, uint8_t *puts, const uint8_t *live, const uint64_t *keys,
                         uint64_t *table, uint64_t mask, int64_t *cursor, int32_t items) {
  uint64_t first = NONE, key = NONE;
  Tile t = {{0, 0}, 0, 0};
  for (int32_t i = 0; i < items; i++) {
    heads[i] = i == 0 || (live[i] && key != NONE && keys[i] != key);
    puts[i] = NOTHING;
    if (!live[i])
      continue;
    if (key == NONE)
      first = keys[i];
    t.runs += keys[i] != key;
    key = keys[i];
  }
  if (t.runs == 0)
    return;
  t.slots[0] = enter(table, mask, first);
  t.slots[1] = t.runs > 1 ? enter(table, mask, key) : 0;
  t.list = list(cursor, mask, t.runs);
  uint32_t run = 0;
  key = first;
  for (int32_t i = 0; i < items; i++) {
    run += i > 0 && heads[i];
    key = live[i] ? keys[i] : key;
    slots[i] = slot(t, run);
    if (i + 1 < items && !heads[i + 1])
      continue;
    puts[i] = is_border(t, run) ? ADD : STORE;
    if (puts[i] == STORE)
      table[slots[i]] = key;
  }
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
  // The answers of both atomics are under way together.
  int64_t from = lane == 0 ? list(cursor, mask, runs) : 0;
  if (lane < 2 && (uint32_t)lane < runs)
    tile->slots[lane] = enter(table, mask, lane == 0 ? first : last);
  if (lane == 0) {
    tile->runs = runs;
    tile->list = from;
  }
}

// of_block is rf_block_runs for threads. Keys are of type K.
template <class K>
RF_HELPER void of_block(uint32_t *slots, uint8_t *heads, uint8_t *puts, const uint8_t *live, const uint64_t *keys,
                        uint64_t *table, uint64_t mask, int64_t *cursor, void *scratch, int32_t threads,
                        int32_t items) {
  int32_t lane = target::lane(threads), warp = target::warp(threads), warps = target::warps(threads);
  uint32_t lanes_before = target::lanes_below(lane);
  Tile *tile = (Tile *)scratch;
  Chunk *chunks = (Chunk *)(tile + 1);
  K latest_keys[tile::MOST_ITEMS]; // that of the last live row up to an item's
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
      latest_keys[c + j] = before;
      uint32_t same = target::ballot(head);
      begun += (uint32_t)__builtin_popcount(same & lanes_before);
      all += (uint32_t)__builtin_popcount(same);
      first_heads = j == 0 ? same : first_heads;
    }
    bool next_begins = (first_heads >> 1 | 1u << (target::WARP - 1)) >> lane & 1;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      begun += heads[c + j];
      slots[c + j] = begun;
      puts[c + j] = j < 3 ? heads[c + j + 1] : next_begins;
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
  Tile t = *tile;
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    Chunk chunk = chunks[(c / 4) * warps + warp];
    bool some = chunk.live != 0, goes_on = !chunk.begins;
    // Most chunks have neither the first nor the last run of the tile.
    if (some && (is_border(t, chunk.run) || is_border(t, chunk.run + chunk.heads))) {
      RF_UNROLL
      for (int32_t j = 0; j < 4; j++) {
        uint32_t begun = slots[c + j], run = chunk.run + begun;
        slots[c + j] = slot(t, run);
        if (puts[c + j])
          puts[c + j] = (begun == 0 && goes_on) || is_border(t, run) ? ADD : STORE;
      }
    } else {
      uint32_t from = (uint32_t)t.list + chunk.run - 1;
      RF_UNROLL
      for (int32_t j = 0; j < 4; j++) {
        uint32_t begun = slots[c + j];
        slots[c + j] = from + begun;
        puts[c + j] = !(puts[c + j] && some) ? NOTHING : begun == 0 && goes_on ? ADD : STORE;
      }
    }
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      if (puts[c + j] == STORE)
        table[slots[c + j]] = latest_keys[c + j];
  }
  target::barrier();
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

} // namespace runs

// rf_block_runs finds the runs of equal keys among the live rows of a tile, in which keys
// come in order, and a slot for each: heads, puts and slots as above, slots where there is
// something to put. Runs of the list are in it then, and cursor counts them. The list has
// room for as many as the tile has rows, and the hash table for two a tile; all slots are
// below 2^32. With narrow, so are all keys.
//
// Phases: 1 compare keys in warps, and tell the block about each chunk; 2 one warp numbers the chunks' runs, enters the first and the last key, reserves places for the others; 3 number items, write the list's keys
// Barriers: 3
// Scratch: 32 + tile / 4
// Cost: 1 or 2 shuffles and 5 votes for 4 items; a tile 3 global atomics; 8 bytes written a run
RF_PRIMITIVE void rf_block_runs(uint32_t *slots, uint8_t *heads, uint8_t *puts, const uint8_t *live,
                                const uint64_t *keys, uint64_t *table, uint64_t mask, int64_t *cursor, int32_t narrow,
                                void *scratch, int32_t threads, int32_t items) {
  if (threads == 1)
    runs::of_worker(slots, heads, puts, live, keys, table, mask, cursor, items);
  else if (narrow)
    runs::of_block<uint32_t>(slots, heads, puts, live, keys, table, mask, cursor, scratch, threads, items);
  else
    runs::of_block<uint64_t>(slots, heads, puts, live, keys, table, mask, cursor, scratch, threads, items);
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
    runs::scan(words, heads, live, INT32_MAX, items, smaller);
  else if (narrow)
    runs::scan(words, heads, live, INT32_MIN, items, larger);
  else if (least)
    runs::scan(words, heads, live, INT64_MAX, items, smaller);
  else
    runs::scan(words, heads, live, INT64_MIN, items, larger);
}

// rf_tile_run_store writes the words of the parts that begin runs of the list to their
// cells, of so many words each.
//
// Cost: one access a run
RF_PRIMITIVE void rf_tile_run_store(int64_t *cells, int32_t words, const uint32_t *slots, const uint8_t *puts,
                                    const int64_t *values, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (puts[i] == runs::STORE)
      cells[(uint64_t)words * slots[i]] = values[i];
}

// rf_tile_run_store_sum is rf_tile_run_store for sums of 128 bits, low half first: low
// of 64 bits signed, or, unless high is null, low + 2^32 high, low at least 0.
//
// Cost: one access of 16 bytes a run
RF_PRIMITIVE void rf_tile_run_store_sum(uint64_t *cells, int32_t words, const uint32_t *slots, const uint8_t *puts,
                                        const int64_t *low, const int64_t *high, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (puts[i] == runs::STORE) {
      int128::Int128 sum = {(uint64_t)low[i], low[i] >> 63};
      if (high)
        sum = cells::total((uint64_t)low[i], (uint64_t)high[i]);
      uint64_t *cell = cells + (uint64_t)words * slots[i];
      if (words == 2) {
        uint32_t halves[4] = {(uint32_t)sum.lo, (uint32_t)(sum.lo >> 32), (uint32_t)sum.hi,
                              (uint32_t)((uint64_t)sum.hi >> 32)};
        target::store16(cell, halves);
      } else {
        cell[0] = sum.lo;
        cell[1] = (uint64_t)sum.hi;
      }
    }
}

// rf_tile_run_add adds the words of all other parts to their cells modulo 2^64.
//
// Cost: one atomic a part
RF_PRIMITIVE void rf_tile_run_add(int64_t *cells, int32_t words, const uint32_t *slots, const uint8_t *puts,
                                  const int64_t *values, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (puts[i] == runs::ADD)
      rf_cell_add(cells + (uint64_t)words * slots[i], values[i], 1);
}

// rf_tile_run_add_sum is rf_tile_run_add for what rf_tile_run_store_sum stores.
//
// Cost: one or two atomics a part
RF_PRIMITIVE void rf_tile_run_add_sum(uint64_t *cells, int32_t words, const uint32_t *slots, const uint8_t *puts,
                                      const int64_t *low, const int64_t *high, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (puts[i] == runs::ADD) {
      int128::Int128 sum = {(uint64_t)low[i], low[i] >> 63};
      if (high)
        sum = cells::total((uint64_t)low[i], (uint64_t)high[i]);
      rf_cell_add_i128(cells + (uint64_t)words * slots[i], sum.lo, sum.hi, 1);
    }
}

// rf_tile_run_add_extremes lowers the cells of all other parts to their words, with least = 0 it
// raises them.
//
// Cost: one atomic a part
RF_PRIMITIVE void rf_tile_run_add_extremes(int64_t *cells, const uint32_t *slots, const uint8_t *puts, const int64_t *values,
                                    int32_t least, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (puts[i] == runs::ADD) {
      if (least)
        rf_cell_min(cells + slots[i], values[i], 1);
      else
        rf_cell_max(cells + slots[i], values[i], 1);
    }
}
