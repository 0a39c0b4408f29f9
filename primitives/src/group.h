// Group-by: accumulators in registers, in a block's table, or in a global one.
//
// A table is keys as set64 has them (rf_slot_insert gives the slot), or no keys
// at all where groups are numbered densely, and an array of accumulators a slot
// for each aggregate, see cells.h. The accumulators' address decides where the
// table lives: the same functions serve shared and global memory.

#pragma once

#include "int128.h"
#include "keys.h"
#include "reduce.h"
#include "set64.h"

namespace groups {

// mark sets the words of live items' slots to 1. A GPU asks for all of them before it
// writes the first.
RF_HELPER void mark(int64_t *occupied, const int64_t *slots, const uint8_t *live, int32_t items) {
  if (target::WARP == 1) {
    for (int32_t i = 0; i < items; i++)
      if (live[i] && target::load(occupied + slots[i]) == 0)
        target::store(occupied + slots[i], (int64_t)1);
    return;
  }
  int64_t seen[tile::MOST_ITEMS];
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    seen[i] = 1;
    if (live[i])
      seen[i] = target::load(occupied + slots[i]);
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (seen[i] == 0)
      target::store(occupied + slots[i], (int64_t)1);
}

} // namespace groups

// rf_cell_add adds a word to an accumulator modulo 2^64. With together = 0
// nobody else writes the cell, and no atomic is needed.
//
// Cost: one atomic
RF_PRIMITIVE void rf_cell_add(int64_t *cell, int64_t word, int32_t together) {
  if (together)
    target::add((uint64_t *)cell, (uint64_t)word);
  else
    *cell = (int64_t)((uint64_t)*cell + (uint64_t)word);
}

// rf_cell_add_i128 adds a 128-bit number to an accumulator of two words, low
// half first. Read it when all have added.
//
// Cost: two atomics; one where neither the high half nor the carry changes it
RF_PRIMITIVE void rf_cell_add_i128(uint64_t *cell, uint64_t lo, int64_t hi, int32_t together) {
  if (!together) {
    int128::Int128 sum = int128::add({cell[0], (int64_t)cell[1]}, {lo, hi});
    cell[0] = sum.lo, cell[1] = (uint64_t)sum.hi;
    return;
  }
  // Each addition knows its own carry, and the carries add up in any order.
  uint64_t old = target::add(cell, lo);
  uint64_t upper = (uint64_t)hi + (old + lo < old);
  if (upper != 0)
    target::add(cell + 1, upper);
}

// rf_cell_min lowers an accumulator to a word, in the order of int64. Start from
// INT64_MAX.
//
// Cost: one atomic
RF_PRIMITIVE void rf_cell_min(int64_t *cell, int64_t word, int32_t together) {
  if (together)
    target::smallest(cell, word);
  else if (word < *cell)
    *cell = word;
}

// rf_cell_max raises an accumulator to a word, in the order of int64. Start from
// INT64_MIN.
//
// Cost: one atomic
RF_PRIMITIVE void rf_cell_max(int64_t *cell, int64_t word, int32_t together) {
  if (together)
    target::largest(cell, word);
  else if (word > *cell)
    *cell = word;
}

// rf_group_registers_add adds live items to one of a thread's own accumulators,
// of which there are few (groups a constant, at most 32): group holds each item's
// number below groups. Add the threads' accumulators by rf_block_sum_i64.
//
// Cost: groups selections and additions an item; no memory
RF_PRIMITIVE void rf_group_registers_add(int64_t *sums, int32_t groups, const int64_t *group, const int64_t *words,
                                         const uint8_t *live, int32_t items) {
  if (target::WARP == 1) {
    for (int32_t i = 0; i < items; i++)
      if (live[i])
        sums[group[i]] += words[i];
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    RF_UNROLL
    for (int32_t g = 0; g < groups; g++)
      sums[g] += live[i] && group[i] == g ? words[i] : 0;
}

// rf_block_clear sets words to a value, all threads together.
//
// Barriers: 1
// Cost: words / threads accesses a thread
RF_PRIMITIVE void rf_block_clear(int64_t *words, int64_t count, int64_t value, int32_t threads) {
  if (threads == 1) {
    for (int64_t i = 0; i < count; i++)
      words[i] = value;
    return;
  }
  RF_ROLLED
  for (int64_t i = target::thread(); i < count; i += threads)
    words[i] = value;
  target::barrier();
}

// rf_block_add_words adds a block's words to those of all blocks.
//
// Phases: 1 all have added to the block's words; 2 one word a thread
// Barriers: 1, at the start
// Cost: one atomic a word that is not 0
RF_PRIMITIVE void rf_block_add_words(int64_t *to, const int64_t *words, int32_t count, int32_t threads) {
  if (threads != 1)
    target::barrier();
  RF_ROLLED
  for (int32_t i = threads == 1 ? 0 : target::thread(); i < count; i += threads)
    if (words[i] != 0)
      rf_cell_add(to + i, words[i], 1);
}

// rf_block_group_flush adds a block's table of 64-bit sums to a global table of
// 128-bit sums: keys and sums of capacity + 1 slots, and twice as many words in
// to_sums. It returns 0 to each thread that found the global table full.
//
// Barriers: 1 at the start, so that the block's table is complete
// Cost: one rf_slot_insert and one rf_cell_add_i128 for each slot in use
RF_PRIMITIVE int32_t rf_block_group_flush(const uint64_t *keys, const int64_t *sums, uint64_t mask,
                                          uint64_t *to_keys, uint64_t *to_sums, uint64_t to_mask, int32_t threads) {
  int32_t room = 1;
  if (threads != 1)
    target::barrier();
  for (uint64_t s = threads == 1 ? 0 : (uint64_t)target::thread(); s <= mask + 1; s += (uint64_t)threads) {
    if (keys[s] == 0)
      continue;
    int64_t slot = rf_slot_insert(to_keys, to_mask, s == mask + 1 ? 0 : keys[s]);
    if (slot < 0)
      room = 0;
    else
      rf_cell_add_i128(to_sums + 2 * slot, (uint64_t)sums[s], sums[s] >> 63, 1);
  }
  return room;
}

// rf_tile_group_slots gives each live item the slot of its group: NONE 0, DIRECT
// and WIDE the key, HASH the slot of a set64, adding those that were new to
// cursor. The slots of other items are 0. Words of occupied, unless it is null, are 1
// for the groups then. With shared = 0 one CPU worker alone writes the table. It
// returns 1, or 0 if the table was full, which voids the result.
//
// Phases: of HASH for each group of items: 1 fetch all home slots; 2 insert those that are not there
// Barriers: 0, but every warp calls it whole
// Cost: about 1.5 random accesses a live item, the first ones in flight together; one atomic for a new key, and one a warp (HASH)
RF_PRIMITIVE int32_t rf_tile_group_slots(int64_t *slots, const uint8_t *live, const uint64_t *keys, int64_t form,
                                         uint64_t *table, uint64_t size, int64_t *cursor, int64_t *occupied,
                                         int32_t shared, int32_t items) {
  if (form != form::HASH) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      slots[i] = form == form::NONE || !live[i] ? 0 : (int64_t)keys[i];
    if (occupied)
      groups::mark(occupied, slots, live, items);
    return 1;
  }
  bool together = target::WARP > 1 || shared, room = true;
  int64_t fresh = 0;
  set64::insert_tile(live, keys, table, size, together, items,
                     [=, &room, &fresh](int32_t i, int64_t slot, bool is_new) RF_LAMBDA {
                       room &= slot >= 0;
                       fresh += is_new;
                       if (occupied && is_new)
                         target::store(occupied + slot, (int64_t)1);
                       slots[i] = slot < 0 ? 0 : slot;
                     });
  fresh = (int64_t)reduce::warp((uint32_t)fresh, [](uint32_t a, uint32_t b) RF_LAMBDA { return a + b; });
  if (fresh > 0 && (target::WARP == 1 || target::thread() % target::WARP == 0))
    rf_cell_add(cursor, fresh, together);
  return room;
}

// rf_tile_group_keys reads one key column of the groups in slots start to start +
// rows: WIDE from the column, DIRECT and HASH from the packed key, in which it is
// shift, base and bits as for rf_tile_pack. Items of later rows become base, and so
// do those of slots that hold no key.
//
// Cost: one access of 8 bytes an item (HASH, WIDE)
RF_PRIMITIVE void rf_tile_group_keys(int64_t *words, int64_t start, int64_t form, const uint64_t *table,
                                     uint64_t size, int64_t shift, int64_t base, int64_t bits, const int64_t *column,
                                     int32_t rows, int32_t threads, int32_t items) {
  if (form == form::WIDE)
    return rf_tile_load(words, column, 8, 0, 1, start, rows, threads, items);
  uint64_t most = keys::field_mask(bits);
  int32_t by = (int32_t)(shift & 63);
  if (form == form::HASH) {
    rf_tile_load(words, table, 8, 0, 1, start, rows, threads, items);
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (start + tile::row(i, threads) == (int64_t)size + 1)
        words[i] = 0;
  } else {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      int32_t r = tile::row(i, threads);
      words[i] = form == form::NONE || r >= rows ? 0 : start + r;
    }
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    words[i] = tile::word_of(base, 1, (uint64_t)words[i] >> by & most);
}
