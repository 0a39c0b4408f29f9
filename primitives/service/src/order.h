// Rows in an order: the keys that a sort wants, the first rows of many, numbers within
// groups, and rows moved to where they belong.
//
// A row's key is a string of bits: the numbers of columns, which order as the ordering
// wants it, one after the other. A field is some of these bits: a key of 32 or 64 bits
// is made of fields.

#pragma once

#include "grid.h"

#include "../../src/scan.h"
#include "../../src/tile.h"

// OrderField is bits of the numbers of a column: number >> drop, of so many bits, stands
// at a place of the key. Words of a kind order as integers once they are mapped, and
// number is the distance from the first in the order.
struct OrderField {
  int64_t data, base, step, width;
  int64_t kind, first, descends;
  int64_t drop, bits, at;
};

// MovedColumn is a column and where its words go. With in_order, its rows stand in the
// order already.
struct MovedColumn {
  int64_t data, base, step, width;
  int64_t to, to_base, to_width;
  int64_t in_order;
};

// UnpackedColumn is bits of the keys, from a place on, and where the words go whose numbers
// they are.
struct UnpackedColumn {
  int64_t kind, first, descends, bits, at;
  int64_t to, to_base, to_width;
};

namespace order {

enum { ITEMS = 4, TILE = THREADS * ITEMS, SIGNED = 0, UNSIGNED = 1, FLOAT = 2 };

RF_HELPER int64_t word(int64_t data, int64_t base, int64_t step, int64_t width, int64_t row) {
  uint64_t offset = 0;
  switch (width) {
  case 1:
    offset = grid::global<uint8_t>(data)[row];
    break;
  case 2:
    offset = grid::global<uint16_t>(data)[row];
    break;
  case 4:
    offset = grid::global<uint32_t>(data)[row];
    break;
  case 8:
    offset = grid::global<uint64_t>(data)[row];
    break;
  default:
    if (width > tile::PACKED)
      offset = tile::packed(grid::global<uint32_t>(data), (int32_t)width - tile::PACKED, row);
  }
  return tile::word_of(base, step, offset);
}

RF_HELPER int64_t word(const OrderField &f, int64_t row) { return word(f.data, f.base, f.step, f.width, row); }

// mapped maps words of a kind to integers in their order, and those to words.
RF_HELPER int64_t mapped(int64_t w, int64_t kind) {
  if (kind == UNSIGNED)
    w ^= INT64_MIN;
  if (kind == FLOAT) // negative ones order by descending magnitude
    w ^= (int64_t)((uint64_t)(w >> 63) >> 1);
  return w;
}

// put writes a word to a row of a column.
RF_HELPER void put(int64_t to, int64_t base, int64_t width, int64_t row, int64_t word) {
  uint64_t offset = tile::offset_of(word, base);
  switch (width) {
  case 1:
    ((uint8_t *)grid::global<uint8_t>(to))[row] = (uint8_t)offset;
    break;
  case 2:
    ((uint16_t *)grid::global<uint16_t>(to))[row] = (uint16_t)offset;
    break;
  case 4:
    ((uint32_t *)grid::global<uint32_t>(to))[row] = (uint32_t)offset;
    break;
  case 8:
    ((uint64_t *)grid::global<uint64_t>(to))[row] = offset;
    break;
  }
}

// part is the field's bits of a row's key.
RF_HELPER uint64_t part(const OrderField &f, int64_t row) {
  int64_t w = mapped(word(f, row), f.kind);
  uint64_t number = f.descends ? (uint64_t)f.first - (uint64_t)w : (uint64_t)w - (uint64_t)f.first;
  return (number >> f.drop & ~(uint64_t)0 >> (64 - f.bits)) << f.at;
}

// row is which row stands at a place; the places themselves where rows is null.
RF_HELPER int64_t row(const uint32_t *rows, int64_t place) { return rows ? (int64_t)rows[place] : place; }

// each_place calls with with all places below n.
template <class F> RF_HELPER void each_place(int64_t n, F with) {
  for (int64_t start = grid::block() * TILE; start < n; start += grid::blocks() * TILE) {
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++) {
      int64_t p = start + k * THREADS + target::thread();
      if (p < n)
        with(p);
    }
  }
}

} // namespace order

// rf_order_keys makes the keys, of size bytes, of n rows.
RF_KERNEL(rf_order_keys, 4)(uint8_t *keys, int64_t size, const uint32_t *rows, const OrderField *fields, int64_t count,
                            int64_t n) {
  for (int64_t start = grid::block() * order::TILE; start < n; start += grid::blocks() * order::TILE) {
    int64_t row[order::ITEMS];
    uint64_t key[order::ITEMS];
    RF_UNROLL
    for (int32_t k = 0; k < order::ITEMS; k++) {
      int64_t p = start + k * THREADS + target::thread();
      row[k] = p < n ? order::row(rows, p) : -1;
      key[k] = 0;
    }
    for (int64_t f = 0; f < count; f++) {
      OrderField field = fields[f];
      RF_UNROLL
      for (int32_t k = 0; k < order::ITEMS; k++)
        if (row[k] >= 0)
          key[k] |= order::part(field, row[k]);
    }
    RF_UNROLL
    for (int32_t k = 0; k < order::ITEMS; k++) {
      int64_t p = start + k * THREADS + target::thread();
      if (p < n && size == 4)
        ((uint32_t *)keys)[p] = (uint32_t)key[k];
      else if (p < n)
        ((uint64_t *)keys)[p] = key[k];
    }
  }
}

enum { SELECT_BITS = 11, SELECT_DIGITS = 1 << SELECT_BITS, SELECT_ITEMS = 8, SELECT_COUNTS = 4 };

// rf_order_select finds a digit of the key that comes at a place of the order, the
// highest one first. state is the digits that are known, the place, from 1, among the
// keys that begin with them, a counter of blocks, a spare word, and a counter for each
// value of a digit; but for the place all are zero at first.
//
// The last block to count looks for the digit, and leaves the counters zero.
RF_KERNEL(rf_order_select, 4)(const uint64_t *keys, int64_t n, int64_t shift, uint64_t *state) {
  enum { TILE = THREADS * SELECT_ITEMS, EACH = SELECT_DIGITS / THREADS };
  RF_SHARED(shared, 4 * SELECT_DIGITS);
  RF_SHARED(sums, 8 * THREADS / target::WARP);
  RF_SHARED(done, 8);
  uint32_t *found = (uint32_t *)shared;
  uint64_t *counts = state + SELECT_COUNTS, known = state[0], place = state[1];
  int32_t t = target::thread(), lane = target::lane(THREADS);
  for (int32_t d = t; d < SELECT_DIGITS; d += THREADS)
    found[d] = 0;
  target::barrier();
  for (int64_t start = grid::block() * TILE; start < n; start += grid::blocks() * TILE) {
    uint32_t digit[SELECT_ITEMS];
    RF_UNROLL
    for (int32_t k = 0; k < SELECT_ITEMS; k++) {
      int64_t p = start + k * THREADS + t;
      uint64_t upper = p < n ? keys[p] >> shift : ~(uint64_t)0;
      digit[k] = p < n && upper >> SELECT_BITS == known ? (uint32_t)upper & (SELECT_DIGITS - 1) : ~0u;
    }
    RF_UNROLL
    for (int32_t k = 0; k < SELECT_ITEMS; k++) {
      // The upper digits of keys are often all the same, which would be one atomic after
      // the other.
      uint32_t first = target::from_lane(digit[k], 0), same = target::ballot(digit[k] == first);
      if (same == ~0u && first != ~0u) {
        if (lane == 0)
          target::add(found + first, (uint32_t)target::WARP);
      } else if (digit[k] != ~0u) {
        target::add(found + digit[k], (uint32_t)1);
      }
    }
  }
  target::barrier();
  for (int32_t d = t; d < SELECT_DIGITS; d += THREADS)
    if (found[d] != 0)
      target::add(counts + d, (uint64_t)found[d]);
  target::fence();
  target::barrier();
  if (t == 0) {
    target::fence();
    *(uint64_t *)done = target::add(state + 2, (uint64_t)1) + 1;
    target::fence();
  }
  target::barrier();
  if (*(uint64_t *)done != (uint64_t)grid::blocks())
    return;
  uint64_t mine = 0, all;
  RF_UNROLL
  for (int32_t j = 0; j < EACH; j++)
    mine += target::load(counts + t * EACH + j);
  uint64_t before = scan::exclusive<scan::Sum>(mine, (uint64_t)0, &all, sums, THREADS);
  for (int32_t j = 0; j < EACH; j++) {
    uint64_t *count = counts + t * EACH + j, here = target::load(count);
    if (before < place && place <= before + here) {
      state[0] = known << SELECT_BITS | (uint64_t)(t * EACH + j);
      state[1] = place - before;
    }
    before += here;
    *count = 0;
  }
  if (t == 0)
    state[2] = 0;
}

// rf_order_upto appends the rows whose keys are at most the one that was selected, up
// to most of them, and counts them all.
RF_KERNEL(rf_order_upto, 4)(uint32_t *rows, int64_t most, const uint64_t *keys, int64_t n, const uint64_t *state,
                            int64_t *count) {
  uint64_t key = state[0];
  int32_t lane = target::lane(THREADS);
  order::each_place(n, [=](int64_t p) RF_LAMBDA {
    if (keys[p] > key)
      return;
    int64_t at = target::reserve_one(count, lane);
    if (at < most)
      rows[at] = (uint32_t)p;
  });
}

// rf_order_rank puts the first limit of n rows in order, each by a look at all others.
// Their keys are levels arrays of n words, the highest bits first; equal rows keep their
// places.
RF_KERNEL(rf_order_rank, 4)(uint32_t *to, const uint32_t *rows, const uint64_t *keys, int64_t levels, int64_t n,
                            int64_t limit) {
  for (int64_t p = grid::block() * THREADS + target::thread(); p < n; p += grid::blocks() * THREADS) {
    int64_t rank = 0;
    for (int64_t q = 0; q < n; q++) {
      bool less = q < p;
      for (int64_t l = 0; l < levels; l++) {
        uint64_t mine = keys[l * n + p], other = keys[l * n + q];
        if (mine != other) {
          less = other < mine;
          break;
        }
      }
      rank += less;
    }
    if (rank < limit)
      to[rank] = (uint32_t)order::row(rows, p);
  }
}

// rf_order_heads sets a word for each of n rows in an order to whether the words of
// columns differ from those of the row before.
RF_KERNEL(rf_order_heads, 4)(uint64_t *heads, const uint32_t *rows, const OrderField *fields, int64_t count, int64_t n) {
  order::each_place(n, [=](int64_t p) RF_LAMBDA {
    bool differs = p == 0;
    for (int64_t f = 0; f < count && !differs; f++) {
      OrderField field = fields[f];
      differs = order::word(field, order::row(rows, p)) != order::word(field, order::row(rows, p - 1));
    }
    heads[p] = differs;
  });
}

// rf_order_starts notes where groups begin, given for each of n places the number of
// its group, from 1.
RF_KERNEL(rf_order_starts, 8)(uint64_t *starts, const uint64_t *groups, int64_t n) {
  order::each_place(n, [=](int64_t p) RF_LAMBDA {
    uint64_t group = groups[p];
    if (p == 0 || groups[p - 1] != group)
      starts[group - 1] = (uint64_t)p;
  });
}

// rf_order_places replaces the numbers of groups by the places within them, from 0.
RF_KERNEL(rf_order_places, 8)(uint64_t *groups, const uint64_t *starts, int64_t n) {
  order::each_place(n, [=](int64_t p) RF_LAMBDA { groups[p] = (uint64_t)p - starts[groups[p] - 1]; });
}

// rf_order_below replaces n words by whether they are below limit.
RF_KERNEL(rf_order_below, 8)(uint64_t *words, uint64_t limit, int64_t n) {
  order::each_place(n, [=](int64_t p) RF_LAMBDA { words[p] = words[p] < limit; });
}

// rf_order_keep moves rows together, given the running sums of which are kept, n + 1 of
// them.
RF_KERNEL(rf_order_keep, 8)(uint32_t *to, const uint32_t *rows, const uint64_t *sums, int64_t n) {
  order::each_place(n, [=](int64_t p) RF_LAMBDA {
    uint64_t at = sums[p];
    if (sums[p + 1] != at)
      to[at] = (uint32_t)order::row(rows, p);
  });
}

// rf_order_move copies n rows of columns to the rows from first on of others.
RF_KERNEL(rf_order_move, 4)(const MovedColumn *columns, int64_t count, const uint32_t *rows, int64_t n, int64_t first) {
  order::each_place(n, [=](int64_t p) RF_LAMBDA {
    int64_t row = order::row(rows, p);
    for (int64_t c = 0; c < count; c++) {
      MovedColumn m = columns[c];
      order::put(m.to, m.to_base, m.to_width, first + p, order::word(m.data, m.base, m.step, m.width, m.in_order ? p : row));
    }
  });
}

// rf_order_unpack writes the columns that keys are made of to the rows from first on. A
// key is that of low and, above its low_bits bits, unless high is null, that of high; with
// high at 1, keys are words of 64 bits. Nothing is read where low is null.
RF_KERNEL(rf_order_unpack, 4)(const UnpackedColumn *columns, int64_t count, const uint32_t *low, const uint32_t *high,
                              int64_t low_bits, int64_t n, int64_t first) {
  bool together = (uint64_t)high == 1;
  for (int64_t start = grid::block() * order::TILE; start < n; start += grid::blocks() * order::TILE) {
    uint64_t key[order::ITEMS];
    RF_UNROLL
    for (int32_t k = 0; k < order::ITEMS; k++) {
      int64_t p = start + k * THREADS + target::thread();
      key[k] = 0;
      if (!low || p >= n)
        continue;
      if (together) {
        key[k] = ((const uint64_t *)low)[p];
        continue;
      }
      key[k] = low[p];
      if (high)
        key[k] |= (uint64_t)high[p] << low_bits;
    }
    for (int64_t c = 0; c < count; c++) {
      UnpackedColumn u = columns[c];
      RF_UNROLL
      for (int32_t k = 0; k < order::ITEMS; k++) {
        int64_t p = start + k * THREADS + target::thread();
        uint64_t number = u.bits > 0 ? key[k] >> u.at & ~(uint64_t)0 >> (64 - u.bits) : 0;
        uint64_t word = u.descends ? (uint64_t)u.first - number : (uint64_t)u.first + number;
        if (p < n)
          order::put(u.to, u.to_base, u.to_width, first + p, order::mapped((int64_t)word, u.kind));
      }
    }
  }
}

// rf_order_numbers writes the numbers from 0 to n - 1 to the rows of a column from first on, as
// the offsets from base that it stores, four rows a thread.
RF_KERNEL(rf_order_numbers, 8)(int64_t to, int64_t base, int64_t width, int64_t n, int64_t first) {
  int64_t until = first + n;
  for (int64_t start = (first & -4) + grid::block() * order::TILE; start < until; start += grid::blocks() * order::TILE) {
    int64_t row = start + 4 * target::thread();
    if (width == 4 && row >= first && row + 4 <= until) {
      uint32_t offset = (uint32_t)tile::offset_of(row - first, base);
      uint32_t four[4] = {offset, offset + 1, offset + 2, offset + 3};
      target::store16((uint32_t *)grid::global<uint32_t>(to) + row, four);
      continue;
    }
    for (int64_t r = row < first ? first : row; r < row + 4 && r < until; r++)
      order::put(to, base, width, r, r - first);
  }
}
