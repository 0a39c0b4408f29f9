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

// Slot is where a key was looked for, and what was last seen there.
struct Slot {
  uint64_t at, key, row;

  RF_MEMBER void load(const uint64_t *slots) {
    uint32_t w[4];
    target::load16(slots + 2 * at, w);
    key = target::wide(w[0], w[1]), row = target::wide(w[2], w[3]);
  }
};

// find returns the row of a key, or -1.
RF_HELPER int64_t find(const uint64_t *slots, uint64_t mask, uint64_t key, Slot seen) {
  for (uint64_t n = 0; seen.key != set64::stored(key); n++) {
    if (seen.key == 0 || n == mask)
      return -1;
    seen.at = (seen.at + 1) & mask;
    seen.load(slots);
  }
  return (int64_t)seen.row - 1;
}

// find_rounds is find_tile for GPUs, see set64::insert_rounds.
RF_HELPER void find_rounds(int64_t *rows, uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                           int32_t items) {
  Slot seen[tile::MOST_ITEMS];
  uint32_t open = 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    seen[i].at = set64::home(mask, keys[i]);
    if (live[i])
      seen[i].load(slots);
    open |= (uint32_t)live[i] << i;
    rows[i] = -1;
  }
  for (uint64_t n = 0; open != 0; n++) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (open >> i & 1) {
        bool here = seen[i].key == set64::stored(keys[i]);
        if (here)
          rows[i] = (int64_t)seen[i].row - 1;
        if (here || seen[i].key == 0 || n == mask)
          open &= ~(1u << i);
        seen[i].at = (seen[i].at + 1) & mask;
      }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      if (open >> i & 1)
        seen[i].load(slots);
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    live[i] = rows[i] >= 0;
}

// find_tile finds the rows of live items' keys and leaves live only those that
// have one; the others' rows are -1.
RF_HELPER void find_tile(int64_t *rows, uint8_t *live, const uint64_t *keys, const uint64_t *slots, uint64_t mask,
                         int32_t items) {
  if (target::WARP > 1)
    return find_rounds(rows, live, keys, slots, mask, items);
  tile::in_groups<Slot>(
      items,
      [=](int32_t i) RF_LAMBDA {
        Slot seen = {set64::home_if(mask, keys[i], live[i]), 0, 0};
        target::prefetch(slots + 2 * seen.at);
        return seen;
      },
      [=](int32_t i, Slot &seen) RF_LAMBDA {
        seen.load(slots);
        bool wanted = live[i], here = wanted & (seen.key == set64::stored(keys[i]));
        bool settled = !wanted | here | (seen.key == 0);
        rows[i] = here ? (int64_t)seen.row - 1 : -1;
        live[i] = here;
        return settled;
      },
      [=](int32_t i, Slot seen) RF_LAMBDA {
        rows[i] = find(slots, mask, keys[i], seen);
        live[i] = rows[i] >= 0;
      });
}

// enter calls found with the slot of a key, which it takes if the key is new,
// and whether it is. It returns 1 if it is, 0 if it is not, and -1 if the table
// is full.
template <class F> RF_HELPER int32_t enter(uint64_t *slots, uint64_t mask, uint64_t key, F found) {
  uint64_t at = set64::home(mask, key);
  uint64_t stored = set64::stored(key);
  for (uint64_t n = 0; n <= mask; n++) {
    uint64_t *slot = slots + 2 * at;
    uint64_t seen = target::load(slot);
    if (seen == 0)
      seen = target::cas(slot, (uint64_t)0, stored);
    if (seen == 0 || seen == stored) {
      found(slot, seen == 0);
      return seen == 0;
    }
    at = (at + 1) & mask;
  }
  return -1;
}

} // namespace map64

// rf_map64_insert enters a row under a key: 1 if the key was new, 0 if it has a
// row already (which stays), -1 if the table is full.
//
// Cost: about 1.5 random accesses at half load, one atomic
RF_PRIMITIVE int32_t rf_map64_insert(uint64_t *slots, uint64_t mask, uint64_t key, uint64_t row) {
  return map64::enter(slots, mask, key, [=](uint64_t *slot, bool isNew) RF_LAMBDA {
    if (isNew)
      slot[1] = row + 1;
  });
}

// rf_map64_raise enters a row under a key, whose row is the greatest of those
// entered: 1 if the key was new, 0 if it was not, -1 if the table is full.
//
// Cost: as rf_map64_insert, and one atomic
RF_PRIMITIVE int32_t rf_map64_raise(uint64_t *slots, uint64_t mask, uint64_t key, uint64_t row) {
  return map64::enter(slots, mask, key,
                      [=](uint64_t *slot, bool) RF_LAMBDA { target::largest(slot + 1, row + 1); });
}

// rf_map64_find returns the row of a key, or -1.
//
// Cost: about 1.5 random accesses of 16 bytes at half load
RF_PRIMITIVE int64_t rf_map64_find(const uint64_t *slots, uint64_t mask, uint64_t key) {
  map64::Slot home = {set64::home(mask, key), 0, 0};
  home.load(slots);
  return map64::find(slots, mask, key, home);
}
