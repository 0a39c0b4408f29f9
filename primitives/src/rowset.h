// Insert-if-absent sets of tuples too wide for one word. The tuples are rows of
// append-only columns of words; the set holds row numbers.
//
// A set is capacity = mask + 1 words, a power of two; all zero is the empty set.
// A tuple's home is slot hash % capacity, the hash being that of rf_hash_words;
// probing is linear. A slot is the upper 24 bits of the hash above 40 bits of
// state: 0 free, 1 claimed by a thread that is still writing its tuple, else the
// row number plus 2. A reader that meets a claimed slot with its own hash bits
// waits, since the tuple may be equal; the writer never waits, so that this ends.
// Row numbers are below 2^40 - 2. Keep it at most two thirds full.

#pragma once

#include "hash.h"
#include "tile.h"

namespace rowset {

enum { ROW_BITS = 40 };
enum : uint64_t { CLAIMED = 1, FIRST_ROW = 2, ROW_MASK = (1ull << ROW_BITS) - 1 };

// Tuple is one item's of a tile, whose columns are arrays stride words apart.
struct Tuple {
  const int64_t *words;
  int32_t stride, width;

  RF_MEMBER int64_t word(int32_t c) const { return words[(int64_t)c * stride]; }

  RF_MEMBER uint64_t hash() const {
    uint64_t hash = width > 0 ? rf_hash64((uint64_t)word(0)) : 0;
    RF_UNROLL
    for (int32_t c = 1; c < width; c++)
      hash = rf_hash_combine(hash, (uint64_t)word(c));
    return hash;
  }

  RF_MEMBER bool equal(const int64_t *const *columns, int64_t row) const {
    bool same = true;
    RF_UNROLL
    for (int32_t c = 0; c < width; c++)
      same &= target::load(target::global(columns[c]) + row) == word(c);
    return same;
  }
};

// Probe is a hash, and the word last seen in its home slot.
struct Probe {
  uint64_t hash, word;
};

RF_HELPER int64_t row_of(uint64_t slot) { return (int64_t)((slot & ROW_MASK) - FIRST_ROW); }

// insert finds or appends a tuple and returns its row number, or -1 if the set
// is full. A row at or beyond capacity is counted but not written.
RF_HELPER int64_t insert(uint64_t *slots, uint64_t mask, Probe first, int64_t *const *columns, Tuple tuple,
                         int64_t *cursor, int64_t capacity, bool *is_new, int32_t lane) {
  uint64_t tag = first.hash >> ROW_BITS << ROW_BITS;
  uint64_t at = first.hash & mask, seen = first.word;
  *is_new = false;
  for (uint64_t n = 0;;) {
    if (seen == 0) {
      seen = target::cas(slots + at, (uint64_t)0, tag | CLAIMED);
      if (seen == 0) {
        int64_t row = target::reserve_one(cursor, lane);
        if (row < capacity) {
          RF_UNROLL
          for (int32_t c = 0; c < tuple.width; c++)
            target::store(target::global(columns[c]) + row, tuple.word(c));
        }
        target::fence();
        target::store(slots + at, tag | (uint64_t)(row + FIRST_ROW));
        *is_new = true;
        return row;
      }
    }
    if ((seen & ~ROW_MASK) == tag) {
      if ((seen & ROW_MASK) == CLAIMED) {
        target::relax();
        seen = target::load(slots + at);
        continue;
      }
      target::fence();
      int64_t row = row_of(seen);
      if (row < capacity && tuple.equal(columns, row))
        return row;
    }
    if (n++ == mask)
      return -1;
    at = (at + 1) & mask;
    seen = target::load(slots + at);
  }
}

// find returns the row number of a tuple in a set that nobody inserts into, or -1.
RF_HELPER int64_t find(const uint64_t *slots, uint64_t mask, Probe first, const int64_t *const *columns, Tuple tuple) {
  uint64_t tag = first.hash & ~(uint64_t)ROW_MASK;
  uint64_t at = first.hash & mask, seen = first.word;
  for (uint64_t n = 0; seen != 0; n++) {
    if ((seen & ~(uint64_t)ROW_MASK) == tag && tuple.equal(columns, row_of(seen)))
      return row_of(seen);
    if (n == mask)
      return -1;
    at = (at + 1) & mask;
    seen = slots[at];
  }
  return -1;
}

// begin and look_late read a tuple's home slot in two steps, see tile::in_groups,
// and then ask for the row that the slot leads to.
template <bool STABLE> RF_HELPER Probe begin(const uint64_t *slots, uint64_t mask, Tuple tuple, bool live) {
  uint64_t hash = live ? tuple.hash() : 0;
  return Probe{hash, tile::early<STABLE>(slots + (hash & mask), live)};
}

template <bool STABLE>
RF_HELPER Probe look_late(const uint64_t *slots, uint64_t mask, Probe p, const int64_t *const *columns, int32_t width,
                          int64_t capacity) {
  p.word = tile::late<STABLE>(slots + (p.hash & mask), p.word);
  if (target::WARP == 1 && (p.word ^ p.hash) <= ROW_MASK && (p.word & ROW_MASK) >= FIRST_ROW &&
      row_of(p.word) < capacity)
    for (int32_t c = 0; c < width; c++)
      target::prefetch(columns[c] + row_of(p.word));
  return p;
}

} // namespace rowset

// rf_tile_wide_find looks up the tuples of live items, column c of item i at
// tuples[c * stride + i], in a row set over columns. It sets keys to the tuples'
// row numbers and leaves live the items whose tuple is there, or for absent = 1
// those whose is not.
//
// Phases: for each group of items: 1 fetch all home slots; 2 compare tuples, go on where they differ
// Cost: about 1.5 random accesses at half load, and those of the equal tuple's columns
RF_PRIMITIVE void rf_tile_wide_find(uint64_t *keys, uint8_t *live, const int64_t *tuples, int32_t stride,
                                    int32_t width, const uint64_t *slots, uint64_t mask,
                                    const int64_t *const *columns, int32_t absent, int32_t items) {
  tile::in_groups<rowset::Probe>(
      items,
      [=](int32_t i) RF_LAMBDA {
        return rowset::begin<true>(slots, mask, rowset::Tuple{tuples + i, stride, width}, live[i]);
      },
      [=](int32_t i, rowset::Probe &p) RF_LAMBDA {
        p = rowset::look_late<true>(slots, mask, p, columns, width, INT64_MAX);
        bool wanted = live[i];
        keys[i] = ~(uint64_t)0;
        live[i] = wanted & (absent != 0);
        return !wanted | (p.word == 0);
      },
      [=](int32_t i, rowset::Probe p) RF_LAMBDA {
        int64_t row = rowset::find(slots, mask, p, columns, rowset::Tuple{tuples + i, stride, width});
        keys[i] = (uint64_t)row;
        live[i] = (row >= 0) != (absent != 0);
      });
}

// rf_tile_wide_insert finds the tuples of live items in a row set, as
// rf_tile_wide_find, or appends them to its columns. It sets the keys of all items
// that were live to the tuples' row numbers, and leaves live those that were new.
// A new tuple takes the next row of cursor; where that is at or beyond capacity it
// is counted but not written, and the set must be rebuilt larger. It returns 1, or 0
// if the set was full, which voids the result.
//
// Phases: for each item: 1 probe; 2 claim a free slot; 3 reserve a row, write the tuple; 4 publish the slot
// Cost: as rf_tile_wide_find; for a new tuple 1 atomic, 1 reservation shared by the warp's active lanes, 1 fence
RF_PRIMITIVE int32_t rf_tile_wide_insert(uint64_t *keys, uint8_t *live, const int64_t *tuples, int32_t stride,
                                         int32_t width, uint64_t *slots, uint64_t mask, int64_t *const *columns,
                                         int64_t *cursor, int64_t capacity, int32_t threads, int32_t items) {
  int32_t room = 1, lane = target::lane(threads);
  tile::in_groups<rowset::Probe>(
      items,
      [=](int32_t i) RF_LAMBDA {
        return rowset::begin<false>(slots, mask, rowset::Tuple{tuples + i, stride, width}, live[i]);
      },
      [=](int32_t i, rowset::Probe &p) RF_LAMBDA {
        p = rowset::look_late<false>(slots, mask, p, columns, width, capacity);
        return !live[i];
      },
      [=, &room](int32_t i, rowset::Probe p) RF_LAMBDA {
        bool is_new;
        int64_t row = rowset::insert(slots, mask, p, columns, rowset::Tuple{tuples + i, stride, width}, cursor,
                                     capacity, &is_new, lane);
        room &= row >= 0;
        keys[i] = (uint64_t)row;
        live[i] = is_new;
      });
  return room;
}
