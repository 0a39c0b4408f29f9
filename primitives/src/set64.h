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

// Probe is where a key was looked for, and the word last seen there.
struct Probe {
  uint64_t at, word;
};

RF_HELPER uint64_t home(uint64_t mask, uint64_t key) { return key == 0 ? mask + 1 : hashing::mix(key) & mask; }

// stored is the word that stands for a key in its slot.
RF_HELPER uint64_t stored(uint64_t key) { return key == 0 ? 1 : key; }

RF_HELPER Probe look(const uint64_t *slots, uint64_t mask, uint64_t key) {
  uint64_t at = home(mask, key);
  return Probe{at, target::load(slots + at)};
}

// home_if is home for a live item, else 0; a CPU does without a branch.
RF_HELPER uint64_t home_if(uint64_t mask, uint64_t key, bool live) { return home(mask, key) & (0 - (uint64_t)live); }

// begin and look_late are look in two steps, see tile::in_groups.
template <bool STABLE> RF_HELPER Probe begin(const uint64_t *slots, uint64_t mask, uint64_t key, bool live) {
  uint64_t at = home_if(mask, key, live);
  return Probe{at, tile::early<STABLE>(slots + at, live)};
}

template <bool STABLE> RF_HELPER Probe look_late(const uint64_t *slots, Probe p) {
  return Probe{p.at, tile::late<STABLE>(slots + p.at, p.word)};
}

// insert finds or enters a key and returns its slot, -1 if there is none free.
// With together = 0 nobody else writes the set, and no atomic is needed. The word
// that was seen may be older than the caller's last insertion.
RF_HELPER int64_t insert(uint64_t *slots, uint64_t mask, uint64_t key, Probe p, bool together, int32_t *is) {
  for (uint64_t n = 0;;) {
    if (p.word == 0) {
      if (together)
        p.word = target::cas(slots + p.at, (uint64_t)0, stored(key));
      else if ((p.word = slots[p.at]) == 0)
        slots[p.at] = stored(key);
      if (p.word == 0) {
        *is = NEW;
        return (int64_t)p.at;
      }
    }
    if (p.word == stored(key)) {
      *is = PRESENT;
      return (int64_t)p.at;
    }
    if (n++ == mask) {
      *is = FULL;
      return -1;
    }
    p.at = (p.at + 1) & mask;
    p.word = target::load(slots + p.at);
  }
}

// find returns the slot of a key in a set that nobody inserts into, or -1.
RF_HELPER int64_t find(const uint64_t *slots, uint64_t mask, uint64_t key, Probe p) {
  for (uint64_t n = 0; p.word != stored(key); n++) {
    if (p.word == 0 || n == mask)
      return -1;
    p.at = (p.at + 1) & mask;
    p.word = slots[p.at];
  }
  return (int64_t)p.at;
}

// insert_rounds is insert_tile for GPUs: every round takes one step of all items that
// are not through, so that their accesses are under way together.
template <class F>
RF_HELPER void insert_rounds(const uint8_t *live, const uint64_t *keys, uint64_t *slots, uint64_t mask, int32_t items,
                             F done) {
  uint64_t at[tile::MOST_ITEMS], word[tile::MOST_ITEMS];
  uint32_t open = 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    at[i] = home(mask, keys[i]);
    word[i] = tile::early<false>(slots + at[i], live[i]);
    open |= (uint32_t)live[i] << i;
    done(i, 0, false);
  }
  for (uint64_t n = 0; open != 0; n++) {
    uint32_t empty = 0;
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if ((open >> i & 1) && word[i] == 0) {
        word[i] = target::cas(slots + at[i], (uint64_t)0, stored(keys[i]));
        empty |= 1u << i;
      }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (open >> i & 1) {
        bool is_new = (empty >> i & 1) && word[i] == 0;
        if (is_new || word[i] == stored(keys[i]) || n == mask) {
          bool full = !is_new && word[i] != stored(keys[i]);
          done(i, full ? -1 : (int64_t)at[i], is_new);
          open &= ~(1u << i);
        }
        at[i] = (at[i] + 1) & mask;
      }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (open >> i & 1)
        word[i] = target::load(slots + at[i]);
  }
}

// find_rounds is find_tile for GPUs, as insert_rounds.
template <class F>
RF_HELPER void find_rounds(const uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                           int32_t items, F found) {
  uint64_t at[tile::MOST_ITEMS], word[tile::MOST_ITEMS];
  uint32_t open = 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    at[i] = home(mask, keys[i]);
    word[i] = tile::early<true>(slots + at[i], live[i]);
    open |= (uint32_t)live[i] << i;
    if (!live[i])
      found(i, false, -1);
  }
  for (uint64_t n = 0; open != 0; n++) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (open >> i & 1) {
        bool here = word[i] == stored(keys[i]);
        if (here || word[i] == 0 || n == mask) {
          found(i, true, here ? (int64_t)at[i] : -1);
          open &= ~(1u << i);
        }
        at[i] = (at[i] + 1) & mask;
      }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (open >> i & 1)
        word[i] = slots[at[i]];
  }
}

// insert_tile finds or enters the keys of live items. It calls done with each item,
// its slot, -1 if there is none free, and whether the key was new; with 0 and
// false where the item is not live. An item may be done twice, the last time counts.
// Without others that write, together = 0, the home slot is written whether it was
// free or not: a key that finds it free costs no branch.
template <class F>
RF_HELPER void insert_tile(const uint8_t *live, const uint64_t *keys, uint64_t *slots, uint64_t mask, bool together,
                           int32_t items, F done) {
  if (target::WARP > 1)
    return insert_rounds(live, keys, slots, mask, items, done);
  tile::in_groups<Probe>(
      items, [=](int32_t i) RF_LAMBDA { return begin<false>(slots, mask, keys[i], live[i]); },
      [=](int32_t i, Probe &p) RF_LAMBDA {
        p = look_late<false>(slots, p);
        bool settled = !live[i] | (p.word == stored(keys[i]));
        bool is_new = !together & !settled & (p.word == 0);
        if (!together)
          slots[p.at] = is_new ? stored(keys[i]) : p.word;
        done(i, (int64_t)p.at, is_new);
        return settled | is_new;
      },
      [=](int32_t i, Probe p) RF_LAMBDA {
        int32_t is;
        int64_t slot = insert(slots, mask, keys[i], p, together, &is);
        done(i, slot, is == NEW);
      });
}

// find_tile calls found with each item, whether it is live, and the slot of its
// key, -1 if it has none or is not live. An item may be found twice, the last time
// counts.
template <class F>
RF_HELPER void find_tile(const uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                         int32_t items, F found) {
  if (target::WARP > 1)
    return find_rounds(live, keys, slots, mask, items, found);
  tile::in_groups<Probe>(
      items, [=](int32_t i) RF_LAMBDA { return begin<true>(slots, mask, keys[i], live[i]); },
      [=](int32_t i, Probe &p) RF_LAMBDA {
        p = look_late<true>(slots, p);
        bool wanted = live[i], here = wanted & (p.word == stored(keys[i]));
        bool settled = !wanted | here | (p.word == 0);
        found(i, wanted, here ? (int64_t)p.at : -1);
        return settled;
      },
      [=](int32_t i, Probe p) RF_LAMBDA { found(i, true, find(slots, mask, keys[i], p)); });
}

} // namespace set64

// rf_set64_insert inserts a key: 1 if it was new, 0 if it was there, -1 if it
// was not and the set is full. Of equal keys inserted at once exactly one is new.
//
// Cost: about 1.5 random accesses at half load, one atomic for a new key
RF_PRIMITIVE int32_t rf_set64_insert(uint64_t *slots, uint64_t mask, uint64_t key) {
  int32_t is;
  set64::insert(slots, mask, key, set64::look(slots, mask, key), true, &is);
  return is;
}

// rf_set64_contains says whether a key is in a set that nobody inserts into.
//
// Cost: about 1.5 random accesses at half load
RF_PRIMITIVE int32_t rf_set64_contains(const uint64_t *slots, uint64_t mask, uint64_t key) {
  uint64_t at = set64::home(mask, key);
  return set64::find(slots, mask, key, set64::Probe{at, slots[at]}) >= 0;
}

// rf_slot_insert finds or inserts a key and returns its slot, or -1 if the set is
// full. It is what a group-by asks for, in shared or in global memory.
//
// Cost: about 1.5 random accesses at half load, one atomic for a new key
RF_PRIMITIVE int64_t rf_slot_insert(uint64_t *keys, uint64_t mask, uint64_t key) {
  int32_t is;
  return set64::insert(keys, mask, key, set64::look(keys, mask, key), true, &is);
}
