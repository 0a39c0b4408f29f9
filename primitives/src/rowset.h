// Insert-if-absent sets of tuples too wide for one word. The tuples are rows of
// append-only columns of words; the set holds row numbers.
//
// A set is capacity = mask + 1 words, a power of two; all zero is the empty set.
// A slot is 24 bits of the hash above 40 bits of state: 0 free, 1 claimed by a
// thread that is still writing its tuple, else the row number plus 2. A reader
// that meets a claimed slot with its own hash bits waits, since the tuple may be
// equal; the writer never waits, so that this ends.

#pragma once

#include "hash.h"

namespace rowset {

enum { ROW_BITS = 40 };
enum : uint64_t { CLAIMED = 1, FIRST_ROW = 2, ROW_MASK = (1ull << ROW_BITS) - 1 };

RF_HELPER bool equal(int64_t *const *columns, int32_t width, int64_t row, const int64_t *tuple) {
  bool same = true;
  RF_UNROLL
  for (int32_t i = 0; i < width; i++)
    same &= target::load(columns[i] + row) == tuple[i];
  return same;
}

} // namespace rowset

// rf_rowset_insert finds or appends a tuple of width words with the given hash.
// It returns its row number and whether it was new, or -1 if the set is full.
// A new tuple takes the next row of cursor; where that is at or beyond capacity,
// the tuple is not written and the set must be rebuilt larger: cursor then tells
// how many rows there were at most. Row numbers below 2^40 - 2.
//
// Phases: 1 probe; 2 claim a free slot; 3 reserve a row, write the tuple; 4 publish the slot
// Cost: about 1.5 random accesses at half load, those of the equal tuple's columns; for a new tuple 1 atomic, 1 reservation shared by the warp's active lanes, 1 fence
RF_PRIMITIVE int64_t rf_rowset_insert(uint64_t *slots, uint64_t mask, uint64_t hash, int64_t *const *columns,
                                      int32_t width, const int64_t *tuple, int64_t *cursor, int64_t capacity,
                                      int32_t *is_new, int32_t threads) {
  uint64_t tag = hash >> rowset::ROW_BITS << rowset::ROW_BITS;
  uint64_t at = hash & mask;
  *is_new = 0;
  for (uint64_t n = 0; n <= mask;) {
    uint64_t seen = target::load(slots + at);
    if (seen == 0) {
      seen = target::cas(slots + at, (uint64_t)0, tag | rowset::CLAIMED);
      if (seen == 0) {
        int64_t row = target::reserve_one(cursor, target::lane(threads));
        if (row < capacity) {
          RF_UNROLL
          for (int32_t i = 0; i < width; i++)
            target::store(columns[i] + row, tuple[i]);
        }
        target::fence();
        target::store(slots + at, tag | (uint64_t)(row + rowset::FIRST_ROW));
        *is_new = 1;
        return row;
      }
    }
    if ((seen & ~rowset::ROW_MASK) == tag) {
      if ((seen & rowset::ROW_MASK) == rowset::CLAIMED) {
        target::relax();
        continue;
      }
      target::fence();
      int64_t row = (int64_t)((seen & rowset::ROW_MASK) - rowset::FIRST_ROW);
      if (row < capacity && rowset::equal(columns, width, row, tuple))
        return row;
    }
    at = (at + 1) & mask;
    n++;
  }
  return -1;
}

// rf_rowset_find returns the row number of a tuple in a set that nobody inserts
// into, or -1.
//
// Cost: about 1.5 random accesses at half load, and those of the equal tuple's columns
RF_PRIMITIVE int64_t rf_rowset_find(const uint64_t *slots, uint64_t mask, uint64_t hash, int64_t *const *columns,
                                    int32_t width, const int64_t *tuple) {
  uint64_t tag = hash >> rowset::ROW_BITS;
  uint64_t at = hash & mask;
  for (uint64_t n = 0; n <= mask; n++) {
    uint64_t seen = slots[at];
    if (seen == 0)
      return -1;
    if (seen >> rowset::ROW_BITS == tag) {
      int64_t row = (int64_t)((seen & rowset::ROW_MASK) - rowset::FIRST_ROW);
      if (rowset::equal(columns, width, row, tuple))
        return row;
    }
    at = (at + 1) & mask;
  }
  return -1;
}
