// Accumulators of groups, a tile at a time: the cell of slot s is words words
// from cells + words * s on (one word where a function has no parameter words).
//
// With shared = 0 one CPU worker alone writes the cells; the threads of a GPU
// always share them. What the slots and values of items that are not live hold is
// unspecified.
//
// A GPU's lanes whose items fall into the same cell add up among themselves first;
// own.h keeps what most rows fall into away from here. Where a CPU knows the number
// of slots, size says it, else it is 0: few enough of them are added up in registers.

#pragma once

#include "group.h"
#include "peers.h"

namespace cells {

// FEW is the most groups that are added up one after the other.
enum : uint64_t { FEW = target::WARP == 1 ? 4 : 0 };

RF_HELPER bool together(int32_t shared) { return target::WARP > 1 || shared; }

// total is the number whose 32-bit digits add up to low and high, of which high
// may be negative.
RF_HELPER int128::Int128 total(uint64_t low, uint64_t high) {
  return int128::add(int128::Int128{high << 32, (int64_t)high >> 32}, int128::Int128{low, 0});
}

// Sum adds up at most 2^31 words of 64 bits exactly: their halves apart, so that
// nothing carries and loops vectorise.
struct Sum {
  uint64_t halves[2];

  RF_MEMBER void add(uint64_t word, bool is_unsigned) {
    halves[0] += word & 0xffffffffu;
    halves[1] += is_unsigned ? word >> 32 : (uint64_t)((int64_t)word >> 32);
  }
  RF_MEMBER int128::Int128 total() const { return cells::total(halves[0], halves[1]); }
};

// each calls add with each item and all ones if it is live, else 0, by which
// add masks its slot and values: that is cheaper than a branch nobody can predict.
// Items that share their cells with other workers are called only if live.
template <class A> RF_HELPER void each(const uint8_t *live, int32_t shared, int32_t items, A add) {
  for (int32_t i = 0; i < items; i++)
    if (!shared)
      add(i, 0 - (uint64_t)live[i]);
    else if (live[i])
      add(i, ~(uint64_t)0);
}

// each_few calls add with each item's slot number g and all ones if the item is
// live and of that group, else 0, and after all items done with g. One group is
// every slot's.
template <class A, class D>
RF_HELPER void each_few(const int64_t *slots, const uint8_t *live, uint64_t size, int32_t items, A add, D done) {
  if (size == 1) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      add(i, 0 - (uint64_t)live[i]);
    done(0);
    return;
  }
  for (uint64_t g = 0; g < size; g++) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      add(i, 0 - (uint64_t)(live[i] & (slots[i] == (int64_t)g)));
    done(g);
  }
}

// add_i128 adds to the cells of those items for which term returns true what it
// says. All low halves are under way before the first carry is looked at. Unless it is
// null, occupied becomes 1 for the slots whose low halves were 0.
template <class T>
RF_HELPER void add_i128(uint64_t *cells, int32_t words, const int64_t *slots, int64_t *occupied, int32_t items, T term) {
  int128::Int128 total[tile::MOST_ITEMS];
  uint64_t old[tile::MOST_ITEMS];
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    old[i] = 1;
    if (term(i, &total[i]))
      old[i] = target::add(cells + words * slots[i], total[i].lo);
    else
      total[i] = int128::Int128{0, 0};
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    if (occupied && old[i] == 0)
      target::store(occupied + slots[i], (int64_t)1);
    uint64_t upper = (uint64_t)total[i].hi + (old[i] + total[i].lo < old[i]);
    if (upper != 0)
      target::add(cells + words * slots[i] + 1, upper);
  }
}

RF_HELPER uint64_t warp_sum(uint64_t v) {
  return reduce::warp(v, [](uint64_t a, uint64_t b) RF_LAMBDA { return a + b; });
}

} // namespace cells

// rf_tile_cells_count adds one to the cell of each live item. On a GPU words of
// occupied, unless it is null, become 1 for the slots whose cells were 0.
//
// Phases: 1 count in threads, of few groups, or in warps; 2 add to the cells
// Barriers: 0, but every warp calls it whole
// Cost: 1 match an item and one atomic a warp and slot; of few groups 10 shuffles and one atomic a warp and group; no atomic if not shared
RF_PRIMITIVE void rf_tile_cells_count(int64_t *cells, int32_t words, const int64_t *slots, const uint8_t *live,
                                      uint64_t size, int32_t shared, int64_t *occupied, int32_t items) {
  bool together = cells::together(shared);
  if (size - 1 < cells::FEW) {
    uint64_t count = 0;
    cells::each_few(
        slots, live, size, items, [&count](int32_t, uint64_t mask) RF_LAMBDA { count += mask & 1; },
        [=, &count](uint64_t g) RF_LAMBDA {
          uint64_t all = cells::warp_sum(count);
          if (peers::lane() == 0 && all != 0)
            rf_cell_add(cells + (uint64_t)words * g, (int64_t)all, together);
          count = 0;
        });
    return;
  }
  if (target::WARP == 1)
    return cells::each(live, shared, items, [=](int32_t i, uint64_t mask) RF_LAMBDA {
      rf_cell_add(cells + words * (int64_t)(slots[i] & mask), (int64_t)(mask & 1), together);
    });
  uint64_t old[tile::MOST_ITEMS];
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    uint32_t lanes = peers::of((uint64_t)slots[i], live[i]);
    old[i] = 1;
    if (peers::leads(lanes))
      old[i] = target::add((uint64_t *)cells + words * slots[i], (uint64_t)__builtin_popcount(lanes));
  }
  if (!occupied)
    return;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (old[i] == 0)
      target::store(occupied + slots[i], (int64_t)1);
}

// rf_tile_cells_mark sets the words of live items' slots to 1. Any number of
// threads and workers mark at once.
//
// Cost: one read a live item, and one write where the word was 0
RF_PRIMITIVE void rf_tile_cells_mark(int64_t *occupied, const int64_t *slots, const uint8_t *live, int32_t items) {
  groups::mark(occupied, slots, live, items);
}

// rf_tile_cells_add adds live items' words, signed or unsigned, to sums of 128
// bits, low half first. On a GPU words of occupied, unless it is null, become 1 for the
// slots whose low halves were 0, as they are before a group's first row.
//
// Phases: 1 add in threads, of few groups, or in warps; 2 add to the cells
// Barriers: 0, but every warp calls it whole
// Cost: 1 match an item, 4 shuffles for each doubling of the peers, one or two atomics a warp and slot; of few groups 20 shuffles and one or two atomics a warp and group; no atomic if not shared
RF_PRIMITIVE void rf_tile_cells_add(uint64_t *cells, int32_t words, const int64_t *slots, const int64_t *values,
                                    const uint8_t *live, int32_t is_unsigned, uint64_t size, int32_t shared,
                                    int64_t *occupied, int32_t items) {
  bool together = cells::together(shared);
  if (size - 1 < cells::FEW) {
    cells::Sum sum = {{0, 0}};
    cells::each_few(
        slots, live, size, items,
        [=, &sum](int32_t i, uint64_t mask) RF_LAMBDA { sum.add((uint64_t)values[i] & mask, is_unsigned != 0); },
        [=, &sum](uint64_t g) RF_LAMBDA {
          sum.halves[0] = cells::warp_sum(sum.halves[0]);
          sum.halves[1] = cells::warp_sum(sum.halves[1]);
          int128::Int128 total = sum.total();
          if (peers::lane() == 0 && (total.lo | (uint64_t)total.hi) != 0)
            rf_cell_add_i128(cells + (uint64_t)words * g, total.lo, total.hi, together);
          sum = cells::Sum{{0, 0}};
        });
    return;
  }
  if (target::WARP == 1)
    return cells::each(live, shared, items, [=](int32_t i, uint64_t mask) RF_LAMBDA {
      int64_t value = (int64_t)((uint64_t)values[i] & mask);
      rf_cell_add_i128(cells + words * (int64_t)(slots[i] & mask), (uint64_t)value, is_unsigned ? 0 : value >> 63,
                       together);
    });
  cells::add_i128(cells, words, slots, occupied, items, [=](int32_t i, int128::Int128 *total) RF_LAMBDA {
    uint32_t lanes = peers::of((uint64_t)slots[i], live[i]);
    cells::Sum sum = {{0, 0}};
    sum.add((uint64_t)values[i], is_unsigned != 0);
    peers::sum(lanes, sum.halves);
    *total = sum.total();
    return peers::leads(lanes);
  });
}

// rf_tile_cells_add_i128 adds live items' numbers of 128 bits, in two arrays, to
// sums of 128 bits, low half first.
//
// Phases: 1 add in warps; 2 add to the cells
// Barriers: 0, but every warp calls it whole
// Cost: 1 match an item, 6 shuffles for each doubling of the peers, one or two atomics a warp and slot; no atomic if not shared
RF_PRIMITIVE void rf_tile_cells_add_i128(uint64_t *cells, int32_t words, const int64_t *slots, const int64_t *low,
                                         const int64_t *high, const uint8_t *live, int32_t shared, int32_t items) {
  if (target::WARP == 1)
    return cells::each(live, shared, items, [=](int32_t i, uint64_t mask) RF_LAMBDA {
      rf_cell_add_i128(cells + words * (int64_t)(slots[i] & mask), (uint64_t)low[i] & mask, (int64_t)(high[i] & mask),
                       shared);
    });
  cells::add_i128(cells, words, slots, nullptr, items, [=](int32_t i, int128::Int128 *total) RF_LAMBDA {
    uint32_t lanes = peers::of((uint64_t)slots[i], live[i]);
    uint64_t digits[3] = {(uint64_t)low[i] & 0xffffffffu, (uint64_t)low[i] >> 32, (uint64_t)high[i]};
    peers::sum(lanes, digits);
    *total = cells::total(digits[0], digits[1]);
    total->hi = (int64_t)((uint64_t)total->hi + digits[2]);
    return peers::leads(lanes);
  });
}

// rf_tile_cells_min lowers the cells of live items to their values, in the order
// of int64. Start from INT64_MAX.
//
// Cost: one read a live item, and one atomic where the value is less
RF_PRIMITIVE void rf_tile_cells_min(int64_t *cells, const int64_t *slots, const int64_t *values, const uint8_t *live,
                                    int32_t shared, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i] && values[i] < target::load(cells + slots[i]))
      rf_cell_min(cells + slots[i], values[i], cells::together(shared));
}

// rf_tile_cells_max raises the cells of live items to their values, in the order
// of int64. Start from INT64_MIN.
//
// Cost: one read a live item, and one atomic where the value is greater
RF_PRIMITIVE void rf_tile_cells_max(int64_t *cells, const int64_t *slots, const int64_t *values, const uint8_t *live,
                                    int32_t shared, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i] && values[i] > target::load(cells + slots[i]))
      rf_cell_max(cells + slots[i], values[i], cells::together(shared));
}
