// Hash tables from unique keys to row numbers: build, then probe.
//
// map64 has slots of two words, the key and the row number plus 1, read by one
// access of 16 bytes; capacity + 1 slots, the last for key 0, capacity = mask + 1
// a power of two. map32 packs a key and a row number of 32 bits each into one
// word, for half the bytes; capacity slots. All zero is the empty table. Keep
// them at most two thirds full. Probes belong into a later kernel than the build.

#pragma once

#include "hash.h"
#include "tile.h"

namespace map {

enum { GROUP = 16 };

struct Slot {
  uint64_t key, row;
};

RF_HELPER Slot slot64(const uint64_t *slots, uint64_t at) {
  uint32_t w[4];
  target::load16(slots + 2 * at, w);
  return Slot{target::wide(w[0], w[1]), target::wide(w[2], w[3])};
}

RF_HELPER uint64_t home64(uint64_t mask, uint64_t key) { return key == 0 ? mask + 1 : hashing::mix(key) & mask; }

RF_HELPER int64_t find64_from(const uint64_t *slots, uint64_t mask, uint64_t key, uint64_t at, Slot seen) {
  if (key == 0)
    return (int64_t)seen.row - 1;
  for (uint64_t n = 0; seen.key != key; n++) {
    if (seen.key == 0 || n == mask)
      return -1;
    at = (at + 1) & mask;
    seen = slot64(slots, at);
  }
  return (int64_t)seen.row - 1;
}

// find32_from expects keys in the upper half of a slot; a slot in use is not 0,
// since the row number plus 1 is not.
RF_HELPER int64_t find32_from(const uint64_t *slots, uint64_t mask, uint32_t key, uint64_t at, uint64_t seen) {
  for (uint64_t n = 0; seen != 0 && n <= mask; n++) {
    if (seen >> 32 == key)
      return (int64_t)(seen & 0xffffffffu) - 1;
    at = (at + 1) & mask;
    seen = slots[at];
  }
  return -1;
}

} // namespace map

// rf_map64_insert enters a row under a key: 1 if the key was new, 0 if it has a
// row already (which stays), -1 if the table is full.
//
// Cost: about 1.5 random accesses at half load, one atomic
RF_PRIMITIVE int32_t rf_map64_insert(uint64_t *slots, uint64_t mask, uint64_t key, uint64_t row) {
  uint64_t at = map::home64(mask, key);
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
  uint64_t at = map::home64(mask, key);
  return map::find64_from(slots, mask, key, at, map::slot64(slots, at));
}

// rf_map32_insert is rf_map64_insert for keys below 2^32 and rows below 2^32 - 1.
//
// Cost: about 1.5 random accesses at half load, one atomic
RF_PRIMITIVE int32_t rf_map32_insert(uint64_t *slots, uint64_t mask, uint32_t key, uint32_t row) {
  uint64_t at = hashing::mix(key) & mask;
  uint64_t stored = target::wide(row + 1, key);
  for (uint64_t n = 0; n <= mask; n++) {
    uint64_t seen = target::load(slots + at);
    if (seen == 0)
      seen = target::cas(slots + at, (uint64_t)0, stored);
    if (seen == 0)
      return 1;
    if (seen >> 32 == key)
      return 0;
    at = (at + 1) & mask;
  }
  return -1;
}

// rf_map32_find returns the row of a key, or -1.
//
// Cost: about 1.5 random accesses of 8 bytes at half load
RF_PRIMITIVE int64_t rf_map32_find(const uint64_t *slots, uint64_t mask, uint32_t key) {
  uint64_t at = hashing::mix(key) & mask;
  return map::find32_from(slots, mask, key, at, slots[at]);
}

// rf_tile_map64_find finds the rows of live items' keys and leaves live only
// those that have one.
//
// Phases: for each 16 items: 1 fetch all home slots; 2 go on where they are another key's
// Cost: as rf_map64_find, the first accesses in flight together
RF_PRIMITIVE void rf_tile_map64_find(int64_t *rows, uint8_t *live, const uint64_t *keys, const uint64_t *slots,
                                     uint64_t mask, int32_t items) {
  RF_UNROLL
  for (int32_t from = 0; from < items; from += map::GROUP) {
    map::Slot seen[map::GROUP];
    RF_UNROLL
    for (int32_t j = 0; j < map::GROUP; j++)
      if (from + j < items && live[from + j])
        seen[j] = map::slot64(slots, map::home64(mask, keys[from + j]));
    RF_UNROLL
    for (int32_t j = 0; j < map::GROUP; j++) {
      int32_t i = from + j;
      if (i < items) {
        rows[i] = -1;
        if (live[i])
          rows[i] = map::find64_from(slots, mask, keys[i], map::home64(mask, keys[i]), seen[j]);
        live[i] = rows[i] >= 0;
      }
    }
  }
}

// rf_tile_map32_find is rf_tile_map64_find for a map32. Keys outside of 32 bits
// are absent.
//
// Phases: as rf_tile_map64_find
// Cost: as rf_map32_find, the first accesses in flight together
RF_PRIMITIVE void rf_tile_map32_find(int64_t *rows, uint8_t *live, const uint64_t *keys, const uint64_t *slots,
                                     uint64_t mask, int32_t items) {
  RF_UNROLL
  for (int32_t from = 0; from < items; from += map::GROUP) {
    uint64_t seen[map::GROUP];
    RF_UNROLL
    for (int32_t j = 0; j < map::GROUP; j++)
      if (from + j < items && live[from + j])
        seen[j] = slots[hashing::mix((uint32_t)keys[from + j]) & mask];
    RF_UNROLL
    for (int32_t j = 0; j < map::GROUP; j++) {
      int32_t i = from + j;
      if (i < items) {
        rows[i] = -1;
        if (live[i] && keys[i] >> 32 == 0)
          rows[i] = map::find32_from(slots, mask, (uint32_t)keys[i], hashing::mix((uint32_t)keys[i]) & mask, seen[j]);
        live[i] = rows[i] >= 0;
      }
    }
  }
}
