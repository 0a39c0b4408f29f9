// Extents: where the rows of each number of a multi index are, when rows are added to the
// index while kernels of a loop probe it. An extent has room behind its rows. If that is
// used up, the rows move to a place twice as long at the end of the array of rows, so that a
// row is moved a constant number of times on average, whatever the number of rounds.

#pragma once

#include "target.h"
#include "tile.h"

namespace extents {

// Extent tells where in the array of rows those of a number begin and end, and where
// their room does.
struct Extent {
  uint32_t begin, end, limit, unused;
};

enum : uint32_t {
  LEAST = 4,     // rows for which a new extent has room
  NOWHERE = ~0u, // begin of an extent that found no room
};

// word returns begin and end of an extent as one word: begin is the lower half.
RF_HELPER const uint64_t *word(const void *all, uint64_t number) { return (const uint64_t *)all + 2 * number; }

// Moved is an extent that has to move.
struct Moved {
  uint32_t from, rows, to;
};

// move finds a new place for an extent that has no more room, which one thread does for
// all that add to it. The gauge counts the rows that are taken of the array, whose limit
// is the gauge's.
RF_HELPER Moved move(Extent *e, int64_t *gauge) {
  uint32_t rows = e->limit - e->begin, wanted = e->end - e->begin;
  uint64_t room = wanted < LEAST / 2 ? LEAST : 2 * (uint64_t)wanted;
  uint64_t at = target::add((uint64_t *)gauge, room);
  if (at + room > (uint64_t)target::load(gauge + 1) || at + room > NOWHERE) {
    e->begin = NOWHERE;
    return {0, 0, 0};
  }
  Moved moved{e->begin, rows, (uint32_t)at};
  e->begin = (uint32_t)at, e->end = (uint32_t)at + wanted, e->limit = (uint32_t)(at + room);
  return moved;
}

// fail has the gauge say that the index has no room: a key has no number.
RF_HELPER void fail(int64_t *gauge) { target::add((uint64_t *)gauge, (uint64_t)1 << 40); }

// copy copies the rows of the extents that the lanes of a warp move, one after the other,
// all lanes together.
RF_HELPER void copy(Moved mine, uint32_t *rows, int32_t lane) {
  for (uint32_t lanes = target::ballot(mine.rows != 0); lanes != 0; lanes &= lanes - 1) {
    int32_t of = target::WARP == 1 ? 0 : __builtin_ctz(lanes);
    uint32_t from = target::shuffle(mine.from, of), n = target::shuffle(mine.rows, of);
    uint32_t to = target::shuffle(mine.to, of);
    for (uint32_t k = (uint32_t)lane; k < n; k += target::WARP)
      rows[to + k] = rows[from + k];
  }
}

// add_one adds the row of a number: what add does for an item, where one thread does all.
RF_HELPER void add_one(int64_t number, int64_t row, Extent *all, uint32_t *index_rows, int64_t *gauge) {
  Extent *e = all + number;
  bool full = e->end == e->limit;
  uint32_t at = e->end++ - e->begin;
  if (full)
    copy(move(e, gauge), index_rows, 0);
  if (e->begin != NOWHERE)
    index_rows[e->begin + at] = (uint32_t)row;
}

// add adds the rows of items to the extents of their numbers, -1 if an item has none. One
// block adds to an index at a time.
RF_HELPER void add(const int64_t *numbers, const int64_t *rows, Extent *all, uint32_t *index_rows, int64_t *gauge,
                   int32_t threads, int32_t items) {
  uint32_t offset[tile::MOST_ITEMS];
  uint32_t moves = 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (numbers[i] >= 0)
      offset[i] = target::add(&all[numbers[i]].end, 1u);
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (numbers[i] >= 0) {
      // Places are handed out one after the other: one thread gets the first that is not
      // there.
      moves |= (uint32_t)(offset[i] == target::load(&all[numbers[i]].limit)) << i;
      offset[i] -= target::load(&all[numbers[i]].begin);
    }
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    Moved mine{0, 0, 0};
    if (moves >> i & 1)
      mine = move(all + numbers[i], gauge);
    copy(mine, index_rows, target::lane(threads));
  }
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (numbers[i] >= 0) {
      uint32_t begin = target::load(&all[numbers[i]].begin);
      if (begin != NOWHERE)
        index_rows[begin + offset[i]] = (uint32_t)rows[i];
    }
}

} // namespace extents
