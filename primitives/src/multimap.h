// Hash tables from keys to all their rows, as contiguous runs: a key with many
// rows makes a long run, never a long chain.
//
// keys is capacity + 1 words as set64 has them, begins capacity + 2 words, rows
// one word a row. Building takes three kernels and starts from all zero:
//
//   1 rf_multimap_count for every row;
//   2 begins replaced by its inclusive running sums (any device-wide scan);
//   3 rf_multimap_fill for every row.
//
// Then the rows of the key in slot s are rows[begins[s]] to rows[begins[s + 1]],
// in no particular order.

#pragma once

#include "map.h"

namespace multimap {

// find returns the slot of a key, or -1.
RF_HELPER int64_t find(const uint64_t *keys, uint64_t mask, uint64_t key) {
  if (key == 0)
    return (int64_t)(mask + 1);
  uint64_t at = hashing::mix(key) & mask;
  for (uint64_t n = 0; n <= mask; n++) {
    uint64_t seen = keys[at];
    if (seen == key)
      return (int64_t)at;
    if (seen == 0)
      return -1;
    at = (at + 1) & mask;
  }
  return -1;
}

} // namespace multimap

// rf_slot_insert finds or inserts a key in a table laid out as set64's and
// returns its slot, 0 to mask, mask + 1 for key 0, or -1 if the table is full. It
// is what a group-by asks for, in shared or in global memory.
//
// Cost: about 1.5 random accesses at half load, one atomic for a new key
RF_PRIMITIVE int64_t rf_slot_insert(uint64_t *keys, uint64_t mask, uint64_t key) {
  if (key == 0) {
    if (target::load(keys + mask + 1) == 0)
      target::store(keys + mask + 1, (uint64_t)1);
    return (int64_t)(mask + 1);
  }
  uint64_t at = hashing::mix(key) & mask;
  for (uint64_t n = 0; n <= mask; n++) {
    uint64_t seen = target::load(keys + at);
    if (seen == 0) {
      seen = target::cas(keys + at, (uint64_t)0, key);
      if (seen == 0)
        return (int64_t)at;
    }
    if (seen == key)
      return (int64_t)at;
    at = (at + 1) & mask;
  }
  return -1;
}

// rf_multimap_count counts a row under its key: 1, or 0 if the table is full.
//
// Cost: as rf_slot_insert, and one atomic
RF_PRIMITIVE int32_t rf_multimap_count(uint64_t *keys, uint64_t mask, uint64_t *begins, uint64_t key) {
  int64_t slot = rf_slot_insert(keys, mask, key);
  if (slot < 0)
    return 0;
  target::add(begins + slot, (uint64_t)1);
  return 1;
}

// rf_multimap_fill enters a row into its key's run. The key was counted.
//
// Cost: about 1.5 random accesses at half load, one atomic, one random write
RF_PRIMITIVE void rf_multimap_fill(const uint64_t *keys, uint64_t mask, uint64_t *begins, uint64_t *rows,
                                   uint64_t key, uint64_t row) {
  int64_t slot = multimap::find(keys, mask, key);
  if (slot >= 0)
    rows[target::add(begins + slot, ~(uint64_t)0) - 1] = row;
}

// rf_multimap_find returns the number of a key's rows, and where in rows they
// begin.
//
// Cost: about 1.5 random accesses at half load, and one more
RF_PRIMITIVE int64_t rf_multimap_find(int64_t *begin, const uint64_t *keys, uint64_t mask, const uint64_t *begins,
                                      uint64_t key) {
  int64_t slot = multimap::find(keys, mask, key);
  *begin = slot < 0 ? 0 : (int64_t)begins[slot];
  return slot < 0 ? 0 : (int64_t)begins[slot + 1] - *begin;
}
