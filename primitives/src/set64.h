// Insert-if-absent sets of 64-bit keys, open addressing with linear probing.
//
// A set is capacity + 1 words, capacity = mask + 1 a power of two; all zero is
// the empty set. 0 marks a free slot, so key 0 lives in the extra last word,
// which is 1 when it is there. Any number of threads and workers insert at once.
// Keep it at most two thirds full.

#pragma once

#include "hash.h"
#include "tile.h"

namespace set64 {

// GROUP items have their first slots fetched before any is looked at.
enum { GROUP = 16 };

enum : int32_t { FULL = -1, PRESENT = 0, NEW = 1 };

RF_HELPER uint64_t *zero(uint64_t *slots, uint64_t mask) { return slots + mask + 1; }

// insert_from inserts a key other than 0 whose home slot is at, with the word
// last seen there.
RF_HELPER int32_t insert_from(uint64_t *slots, uint64_t mask, uint64_t key, uint64_t at, uint64_t seen) {
  for (uint64_t n = 0;;) {
    if (seen == 0) {
      seen = target::cas(slots + at, (uint64_t)0, key);
      if (seen == 0)
        return NEW;
    }
    if (seen == key)
      return PRESENT;
    if (n++ == mask)
      return FULL;
    at = (at + 1) & mask;
    seen = target::load(slots + at);
  }
}

RF_HELPER int32_t insert_zero(uint64_t *slots, uint64_t mask) {
  uint64_t *slot = zero(slots, mask);
  return target::load(slot) == 0 && target::cas(slot, (uint64_t)0, (uint64_t)1) == 0 ? NEW : PRESENT;
}

RF_HELPER bool contains_from(const uint64_t *slots, uint64_t mask, uint64_t key, uint64_t at, uint64_t seen) {
  for (uint64_t n = 0; seen != key; n++) {
    if (seen == 0 || n == mask)
      return false;
    at = (at + 1) & mask;
    seen = slots[at];
  }
  return true;
}

} // namespace set64

// rf_set64_insert inserts a key: 1 if it was new, 0 if it was there, -1 if it
// was not and the set is full. Of equal keys inserted at once exactly one is new.
//
// Cost: about 1.5 random accesses at half load, one atomic for a new key
RF_PRIMITIVE int32_t rf_set64_insert(uint64_t *slots, uint64_t mask, uint64_t key) {
  if (key == 0)
    return set64::insert_zero(slots, mask);
  uint64_t at = hashing::mix(key) & mask;
  return set64::insert_from(slots, mask, key, at, target::load(slots + at));
}

// rf_set64_contains says whether a key is in a set that nobody inserts into.
//
// Cost: about 1.5 random accesses at half load
RF_PRIMITIVE int32_t rf_set64_contains(const uint64_t *slots, uint64_t mask, uint64_t key) {
  if (key == 0)
    return slots[mask + 1] != 0;
  uint64_t at = hashing::mix(key) & mask;
  return set64::contains_from(slots, mask, key, at, slots[at]);
}

// rf_tile_set64_insert inserts the keys of live items and leaves live only those
// that were new. It returns 1, or 0 if the set was full, which voids the result.
// The new items are not in the order of rows: among equal keys of different
// threads any one wins.
//
// Phases: for each 16 items: 1 fetch all home slots; 2 insert one after the other
// Cost: as rf_set64_insert, the first accesses in flight together
RF_PRIMITIVE int32_t rf_tile_set64_insert(uint8_t *live, const uint64_t *keys, uint64_t *slots, uint64_t mask,
                                          int32_t items) {
  int32_t room = 1;
  RF_UNROLL
  for (int32_t from = 0; from < items; from += set64::GROUP) {
    uint64_t seen[set64::GROUP], at[set64::GROUP];
    RF_UNROLL
    for (int32_t j = 0; j < set64::GROUP; j++) {
      int32_t i = from + j;
      if (i < items) {
        at[j] = hashing::mix(keys[i]) & mask;
        if (live[i])
          target::prefetch(slots + at[j]);
        seen[j] = live[i] && target::WARP > 1 ? target::load(slots + at[j]) : 0;
      }
    }
    RF_UNROLL
    for (int32_t j = 0; j < set64::GROUP; j++) {
      int32_t i = from + j;
      if (i < items && live[i]) {
        if (target::WARP == 1)
          seen[j] = target::load(slots + at[j]);
        int32_t is = keys[i] == 0 ? set64::insert_zero(slots, mask)
                                  : set64::insert_from(slots, mask, keys[i], at[j], seen[j]);
        room &= is != set64::FULL;
        live[i] = is == set64::NEW;
      }
    }
  }
  return room;
}

// rf_tile_set64_contains leaves live the live items whose key is in the set, or
// for absent = 1 those whose key is not.
//
// Phases: as rf_tile_set64_insert
// Cost: as rf_set64_contains, the first accesses in flight together
RF_PRIMITIVE void rf_tile_set64_contains(uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                                         int32_t absent, int32_t items) {
  RF_UNROLL
  for (int32_t from = 0; from < items; from += set64::GROUP) {
    uint64_t seen[set64::GROUP], at[set64::GROUP];
    RF_UNROLL
    for (int32_t j = 0; j < set64::GROUP; j++) {
      int32_t i = from + j;
      if (i < items) {
        at[j] = keys[i] == 0 ? mask + 1 : hashing::mix(keys[i]) & mask;
        if (live[i])
          target::prefetch(slots + at[j]);
        seen[j] = live[i] && target::WARP > 1 ? slots[at[j]] : 0;
      }
    }
    RF_UNROLL
    for (int32_t j = 0; j < set64::GROUP; j++) {
      int32_t i = from + j;
      if (i < items && live[i]) {
        if (target::WARP == 1)
          seen[j] = slots[at[j]];
        bool in = keys[i] == 0 ? seen[j] != 0 : set64::contains_from(slots, mask, keys[i], at[j], seen[j]);
        live[i] = in != (absent != 0);
      }
    }
  }
}
