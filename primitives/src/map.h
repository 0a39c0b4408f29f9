// Hash tables from unique keys to row numbers: build, then probe.
//
// map64 has slots of two words, the key and the row number plus 1, read by one
// access of 16 bytes; capacity + 1 slots, the last for key 0, capacity = mask + 1
// a power of two. All zero is the empty table. Keep it at most two thirds full.
// Probes belong into a later kernel than the build.

#pragma once

#include "hash.h"
#include "set64.h"

namespace map64 {

struct Slot {
  uint64_t key, row;
};

RF_HELPER Slot slot(const uint64_t *slots, uint64_t at) {
  uint32_t w[4];
  target::load16(slots + 2 * at, w);
  return Slot{target::wide(w[0], w[1]), target::wide(w[2], w[3])};
}

// find returns the row of a key whose home slot is at, with what is there, or -1.
RF_HELPER int64_t find(const uint64_t *slots, uint64_t mask, uint64_t key, uint64_t at, Slot seen) {
  if (key == 0)
    return (int64_t)seen.row - 1;
  for (uint64_t n = 0; seen.key != key; n++) {
    if (seen.key == 0 || n == mask)
      return -1;
    at = (at + 1) & mask;
    seen = slot(slots, at);
  }
  return (int64_t)seen.row - 1;
}

struct Seen {
  uint64_t at;
  Slot slot;
};

// find_tile finds the rows of live items' keys and leaves live only those that
// have one; the others' rows are -1.
RF_HELPER void find_tile(int64_t *rows, uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                         int32_t items) {
  tile::in_groups<Seen>(
      items,
      [=](int32_t i) RF_LAMBDA {
        Seen seen = {live[i] ? set64::home(mask, keys[i]) : 0, {0, 0}};
        if (target::WARP == 1)
          target::prefetch(slots + 2 * seen.at);
        else if (live[i])
          seen.slot = slot(slots, seen.at);
        return seen;
      },
      [=](int32_t i, Seen seen) RF_LAMBDA {
        rows[i] = -1;
        if (live[i])
          rows[i] = find(slots, mask, keys[i], seen.at, target::WARP == 1 ? slot(slots, seen.at) : seen.slot);
        live[i] = rows[i] >= 0;
      });
}

} // namespace map64

// rf_map64_insert enters a row under a key: 1 if the key was new, 0 if it has a
// row already (which stays), -1 if the table is full.
//
// Cost: about 1.5 random accesses at half load, one atomic
RF_PRIMITIVE int32_t rf_map64_insert(uint64_t *slots, uint64_t mask, uint64_t key, uint64_t row) {
  uint64_t at = set64::home(mask, key);
  // In the slot of key 0 the key's word only says that it is taken.
  uint64_t stored = key == 0 ? 1 : key;
  for (uint64_t n = 0; n <= mask; n++) {
    uint64_t seen = target::load(slots + 2 * at);
    if (seen == 0)
      seen = target::cas(slots + 2 * at, (uint64_t)0, stored);
    if (seen == 0) {
      slots[2 * at + 1] = row + 1;
      return 1;
    }
    if (seen == stored)
      return 0;
    at = (at + 1) & mask;
  }
  return -1;
}

// rf_map64_find returns the row of a key, or -1.
//
// Cost: about 1.5 random accesses of 16 bytes at half load
RF_PRIMITIVE int64_t rf_map64_find(const uint64_t *slots, uint64_t mask, uint64_t key) {
  uint64_t at = set64::home(mask, key);
  return map64::find(slots, mask, key, at, map64::slot(slots, at));
}
