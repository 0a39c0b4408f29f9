// Insert-if-absent sets of 64-bit keys, open addressing with linear probing.
//
// A set is capacity + 1 words, capacity = mask + 1 a power of two; all zero is
// the empty set. 0 marks a free slot, so key 0 lives in the extra last word,
// which is 1 when it is there. Any number of threads and workers insert at once.
// Keep it at most two thirds full.
//
// A key's slot also serves as its number, 0 to mask + 1, in multi indexes and in
// groups.

#pragma once

#include "hash.h"
#include "tile.h"

namespace set64 {

enum : int32_t { FULL = -1, PRESENT = 0, NEW = 1 };

// Seen is a key's home slot, and the word last seen there.
struct Seen {
  uint64_t at, word;
};

RF_HELPER uint64_t home(uint64_t mask, uint64_t key) { return key == 0 ? mask + 1 : hashing::mix(key) & mask; }

// glance begins the access to a live key's home slot, and look ends it.
template <bool STABLE> RF_HELPER Seen glance(const uint64_t *slots, uint64_t mask, uint64_t key, bool live) {
  uint64_t at = live ? home(mask, key) : 0;
  return Seen{at, tile::early<STABLE>(slots + at, live)};
}

template <bool STABLE> RF_HELPER Seen look(const uint64_t *slots, Seen seen) {
  return Seen{seen.at, tile::late<STABLE>(slots + seen.at, seen.word)};
}

// insert finds or enters a key and returns its slot, -1 if there is none free.
// With together = 0 nobody else writes the set, and no atomic is needed.
RF_HELPER int64_t insert(uint64_t *slots, uint64_t mask, uint64_t key, Seen seen, bool together, int32_t *is) {
  uint64_t stored = key == 0 ? 1 : key;
  for (uint64_t n = 0;;) {
    if (seen.word == 0) {
      if (together)
        seen.word = target::cas(slots + seen.at, (uint64_t)0, stored);
      else
        slots[seen.at] = stored;
      if (seen.word == 0) {
        *is = NEW;
        return (int64_t)seen.at;
      }
    }
    if (seen.word == stored) {
      *is = PRESENT;
      return (int64_t)seen.at;
    }
    if (n++ == mask) {
      *is = FULL;
      return -1;
    }
    seen.at = (seen.at + 1) & mask;
    seen.word = target::load(slots + seen.at);
  }
}

// find returns the slot of a key in a set that nobody inserts into, or -1.
RF_HELPER int64_t find(const uint64_t *slots, uint64_t mask, uint64_t key, Seen seen) {
  uint64_t stored = key == 0 ? 1 : key;
  for (uint64_t n = 0; seen.word != stored; n++) {
    if (seen.word == 0 || n == mask)
      return -1;
    seen.at = (seen.at + 1) & mask;
    seen.word = slots[seen.at];
  }
  return (int64_t)seen.at;
}

RF_HELPER int64_t insert_one(uint64_t *slots, uint64_t mask, uint64_t key, int32_t *is) {
  return insert(slots, mask, key, look<false>(slots, glance<false>(slots, mask, key, true)), true, is);
}

// insert_tile leaves live only the live items whose key was new, and returns 1, or
// 0 if the set was full. Among equal keys of different threads any one wins.
RF_HELPER int32_t insert_tile(uint8_t *live, const uint64_t *keys, uint64_t *slots, uint64_t mask, int32_t items) {
  int32_t room = 1;
  tile::in_groups<Seen>(
      items, [=](int32_t i) RF_LAMBDA { return glance<false>(slots, mask, keys[i], live[i]); },
      [=, &room](int32_t i, Seen seen) RF_LAMBDA {
        if (!live[i])
          return;
        int32_t is;
        insert(slots, mask, keys[i], look<false>(slots, seen), true, &is);
        room &= is != FULL;
        live[i] = is == NEW;
      });
  return room;
}

// find_tile calls found with each item and the slot of its key, -1 if it has none
// or is not live.
template <class F>
RF_HELPER void find_tile(const uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                         int32_t items, F found) {
  tile::in_groups<Seen>(
      items, [=](int32_t i) RF_LAMBDA { return glance<true>(slots, mask, keys[i], live[i]); },
      [=](int32_t i, Seen seen) RF_LAMBDA {
        found(i, live[i] ? find(slots, mask, keys[i], look<true>(slots, seen)) : -1);
      });
}

} // namespace set64

// rf_set64_insert inserts a key: 1 if it was new, 0 if it was there, -1 if it
// was not and the set is full. Of equal keys inserted at once exactly one is new.
//
// Cost: about 1.5 random accesses at half load, one atomic for a new key
RF_PRIMITIVE int32_t rf_set64_insert(uint64_t *slots, uint64_t mask, uint64_t key) {
  int32_t is;
  set64::insert_one(slots, mask, key, &is);
  return is;
}

// rf_set64_contains says whether a key is in a set that nobody inserts into.
//
// Cost: about 1.5 random accesses at half load
RF_PRIMITIVE int32_t rf_set64_contains(const uint64_t *slots, uint64_t mask, uint64_t key) {
  return set64::find(slots, mask, key, set64::look<true>(slots, set64::glance<true>(slots, mask, key, true))) >= 0;
}

// rf_slot_insert finds or inserts a key and returns its slot, or -1 if the set is
// full. It is what a group-by asks for, in shared or in global memory.
//
// Cost: about 1.5 random accesses at half load, one atomic for a new key
RF_PRIMITIVE int64_t rf_slot_insert(uint64_t *keys, uint64_t mask, uint64_t key) {
  int32_t is;
  return set64::insert_one(keys, mask, key, &is);
}
