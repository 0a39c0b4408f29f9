// A block's own groups: a table in shared memory in front of the one of all
// blocks. Rows are added to it as long as it has room for their group, and what
// it holds is added to the cells of all when the block is through. So a few
// groups, or one that most rows fall into, do not make the atomics of all blocks
// wait for each other.
//
// It has 2^bits places. own holds a word a place and one more, the number of
// places in use; 0 is a free place. Where groups have numbers and few of them
// (DIRECT), each has 2^copies places, one after the other, for lanes that would
// else wait for each other, and the word is 1. Else, copies being -1, own is a
// hash table with linear probing, and the word is the complement of the key. A key
// enters the table of all blocks when it gets a place.
//
// The cells of a place are digits of 32 bits, for which shared memory has
// atomics, digit d of place p at digits[d << bits | p]: a sum modulo 2^(32 count).
// Extremes are words of 64 bits, in the order of unsigned numbers, 0 for none. All
// is zero at first.

#pragma once

#include "fsum.h"
#include "group.h"

namespace own {

enum : int32_t {
  // A place further from home is not looked for.
  MOST_PROBES = 32,
  // A warp stops asking after so many rows without a place beyond those that come
  // with two rows that have one.
  PATIENCE = 4096,
};

struct Probe {
  int32_t at;
  uint64_t word;
};

RF_HELPER int32_t home(uint64_t key, int32_t bits) { return (int32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits)); }

// enter finds or makes a place for a key, or returns -1.
template <class F> RF_HELPER int32_t enter(uint64_t *own, int32_t bits, uint64_t key, Probe p, F fresh) {
  uint64_t stored = ~key;
  int32_t mask = (1 << bits) - 1;
  uint64_t most = (uint64_t)(mask - mask / 4);
  for (int32_t n = 0; n < MOST_PROBES && stored != 0; n++) {
    if (p.word == 0) {
      if (target::load(own + mask + 1) >= most)
        return -1;
      p.word = target::cas(own + p.at, (uint64_t)0, stored);
      if (p.word == 0) {
        target::add(own + mask + 1, (uint64_t)1);
        fresh();
        return p.at;
      }
    }
    if (p.word == stored)
      return p.at;
    p.at = (p.at + 1) & mask;
    p.word = target::load(own + p.at);
  }
  return -1;
}

// add adds a number, by its low word and what its sign fills up with.
RF_HELPER void add(uint32_t *digit, int32_t bits, int32_t count, uint64_t low, uint32_t sign) {
  uint64_t term = low & 0xffffffffu;
  uint32_t old = target::add(digit, (uint32_t)term);
  uint64_t carry = (uint32_t)(old + (uint32_t)term) < old;
  RF_UNROLL
  for (int32_t d = 1; d < count; d++) {
    term = (d == 1 ? low >> 32 : sign) + carry;
    carry = term >> 32;
    if ((uint32_t)term != 0) {
      old = target::add(digit + (d << bits), (uint32_t)term);
      carry += (uint32_t)(old + (uint32_t)term) < old;
    }
  }
}

// each_place calls with for every place, all lanes of a warp together, with the
// group's slot plus 1, 0 where the place is free. leads says that the caller is to
// add for all copies of the place.
template <class F> RF_HELPER void each_place(const uint64_t *own, int32_t bits, int32_t copies, int32_t threads, F with) {
  int32_t thread = target::thread();
  for (int32_t s = thread; s - thread < 1 << bits; s += threads) {
    uint64_t slot = s < 1 << bits ? own[s] : 0;
    with(s < 1 << bits ? s : 0, slot, slot != 0 && (copies <= 0 || (s & ((1 << copies) - 1)) == 0));
  }
}

// flipped maps words to unsigned numbers, above 0, in their order, or for the
// least in the opposite one. The one that would be 0 is the same as none.
RF_HELPER uint64_t flipped(uint64_t word, int32_t least) {
  word ^= 1ull << 63;
  return least ? ~word : word;
}

RF_HELPER uint64_t unflipped(uint64_t word, int32_t least) { return (least ? ~word : word) ^ 1ull << 63; }

} // namespace own

// rf_own_copies returns how many bits of a place tell the copies of a group of
// form DIRECT, with size groups, or -1 where they have not enough places.
//
// A CPU has one lane, and no copies.
//
// Cost: one count of leading zeroes
RF_PRIMITIVE int32_t rf_own_copies(int64_t form, uint64_t size, int32_t bits) {
  if (form != form::DIRECT || size > (uint64_t)1 << bits)
    return -1;
  int32_t copies = bits - (size <= 1 ? 0 : 64 - __builtin_clzll(size - 1));
  return target::WARP == 1 ? 0 : copies < 5 ? copies : 5;
}

// rf_own_numbered gives each live item the place of its group, whose key is its
// number; others -1. copies is what rf_own_copies says, at least 0.
//
// Cost: one shared access an item
RF_PRIMITIVE void rf_own_numbered(int32_t *places, const uint8_t *live, const uint64_t *keys, uint64_t *own,
                                  int32_t copies, int32_t items) {
  int32_t copy = (target::WARP == 1 ? 0 : target::thread() % target::WARP) & ((1 << copies) - 1);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    places[i] = live[i] ? (int32_t)keys[i] << copies | copy : -1;
    if (live[i])
      target::store(own + places[i], (uint64_t)1);
  }
}

// rf_own_places gives live items the places of their groups where there is
// one, and else -1. rest is left live for those live items that have none. It returns whether
// there is one in the warp. misses, 0 at first, is the calling thread's memory of how
// that went before. Keys that are new enter the table of all blocks, of a form and
// with its cursor as rf_tile_group_slots has them.
//
// Phases: for each group of items: 1 fetch all home places; 2 go on where they are another key's
// Barriers: 0, but every warp calls it whole
// Cost: about 1.5 shared accesses of 8 bytes an item; one global insertion for a key that gets a place
RF_PRIMITIVE int32_t rf_own_places(int32_t *places, uint8_t *rest, const uint8_t *live, const uint64_t *keys,
                                   int64_t form, uint64_t *table, uint64_t size, int64_t *cursor, uint64_t *own,
                                   int32_t bits, int32_t *misses, int32_t items) {
  if (*misses > own::PATIENCE) {
    uint32_t any = 0;
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      places[i] = -1;
      rest[i] = live[i];
      any |= live[i];
    }
    return target::ballot(any != 0) != 0;
  }
  tile::in_groups<own::Probe>(
      items,
      [=](int32_t i) RF_LAMBDA {
        int32_t at = own::home(keys[i], bits);
        return own::Probe{at, live[i] ? target::load(own + at) : 0};
      },
      [=](int32_t i, own::Probe p) RF_LAMBDA {
        places[i] = live[i] ? p.at : -1;
        rest[i] = 0;
        return !live[i] || (p.word == ~keys[i] && p.word != 0);
      },
      [=](int32_t i, own::Probe p) RF_LAMBDA {
        places[i] = own::enter(own, bits, keys[i], p, [=]() RF_LAMBDA {
          int32_t is = set64::PRESENT;
          if (form == form::HASH)
            set64::insert(table, size, keys[i], set64::look(table, size, keys[i]), true, &is);
          if (is == set64::NEW)
            target::add((uint64_t *)cursor, (uint64_t)1);
        });
        rest[i] = places[i] < 0;
      });
  int32_t missed = 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    missed += __builtin_popcount(target::ballot(rest[i]));
  int32_t now = *misses + 3 * missed - 2 * target::WARP * items;
  *misses = now < -own::PATIENCE ? -own::PATIENCE : now;
  return missed != 0;
}

// rf_own_count adds 1 to the two digits of each item that has a place.
//
// Cost: one shared atomic an item
RF_PRIMITIVE void rf_own_count(uint32_t *digits, int32_t bits, const int32_t *places, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (places[i] >= 0)
      own::add(digits + places[i], bits, 2, 1, 0);
}

// rf_own_add adds words, signed or unsigned, to sums of count digits, a constant, of
// items that have a place.
//
// Cost: one shared atomic an item, more where it carries, and for each further digit that is not 0
RF_PRIMITIVE void rf_own_add(uint32_t *digits, int32_t bits, int32_t count, const int32_t *places,
                             const int64_t *values, int32_t is_unsigned, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (places[i] >= 0)
      own::add(digits + places[i], bits, count, (uint64_t)values[i],
               is_unsigned ? 0 : (uint32_t)(values[i] >> 63));
}

// rf_own_extreme raises the cells of items that have a place to their values, or
// lowers them for least = 1, in the order of int64.
//
// Cost: one shared read an item, and one atomic where the value changes the cell
RF_PRIMITIVE void rf_own_extreme(uint64_t *cells, const int32_t *places, const int64_t *values, int32_t least,
                                 int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (places[i] >= 0) {
      uint64_t word = own::flipped((uint64_t)values[i], least);
      if (word > target::load(cells + places[i]))
        target::largest(cells + places[i], word);
    }
}

// rf_own_settle replaces the words of places in use by their groups' slots in the
// table of all blocks, plus 1, and marks these as occupied. Then the accumulators are
// to be passed on, by those that follow.
//
// Phases: 1 all have added; 2 one place a thread
// Barriers: 1, at the start
// Cost: for a place in use one look-up, one read and perhaps a write
RF_PRIMITIVE void rf_own_settle(uint64_t *own, int32_t bits, int32_t copies, int64_t form, uint64_t *table,
                                uint64_t size, int64_t *occupied, int32_t threads) {
  if (threads != 1)
    target::barrier();
  own::each_place(own, bits, copies, threads, [=](int32_t s, uint64_t word, bool) RF_LAMBDA {
    // A copy leads for the others, which may be the only ones in use.
    for (int32_t d = 1; copies > 0 && d < 1 << copies; d *= 2)
      word |= target::from_partner(word, d);
    if (word == 0)
      return;
    int64_t slot = copies >= 0 ? s >> copies : (int64_t)~word;
    if (copies < 0 && form == form::HASH)
      slot = rf_slot_insert(table, size, (uint64_t)slot);
    if (slot < 0)
      return;
    own[s] = (uint64_t)slot + 1;
    if (target::load(occupied + slot) == 0)
      target::store(occupied + slot, (int64_t)1);
  });
}

// rf_own_pass_sums adds sums of count digits, a constant, to cells of words words:
// of 128 bits, or of 64 for count_only = 1.
//
// Barriers: 0, but all threads call it, behind rf_own_settle
// Cost: count shared reads a place, 4 shuffles for each doubling of the copies, one or two atomics a group
RF_PRIMITIVE void rf_own_pass_sums(uint64_t *cells, int32_t words, const uint32_t *digits, int32_t bits,
                                   int32_t count, int32_t is_unsigned, int32_t count_only, const uint64_t *own,
                                   int32_t copies, int32_t threads) {
  own::each_place(own, bits, copies, threads, [=](int32_t s, uint64_t slot, bool leads) RF_LAMBDA {
    uint32_t d[4];
    RF_UNROLL
    for (int32_t k = 0; k < 4; k++) {
      if (k < count)
        d[k] = slot != 0 ? digits[k << bits | s] : 0;
      else
        d[k] = is_unsigned ? 0 : (uint32_t)((int32_t)d[k - 1] >> 31);
    }
    int128::Int128 sum = {target::wide(d[0], d[1]), (int64_t)target::wide(d[2], d[3])};
    for (int32_t by = 1; copies > 0 && by < 1 << copies; by *= 2)
      sum = int128::add(sum, {target::from_partner(sum.lo, by), (int64_t)target::from_partner((uint64_t)sum.hi, by)});
    if (!leads || (sum.lo | (uint64_t)sum.hi) == 0)
      return;
    uint64_t *cell = cells + (uint64_t)words * (slot - 1);
    if (count_only)
      rf_cell_add((int64_t *)cell, (int64_t)sum.lo, 1);
    else
      rf_cell_add_i128(cell, sum.lo, sum.hi, 1);
  });
}

// rf_own_pass_extremes raises cells to what rf_own_extreme has kept, or lowers them
// for least = 1.
//
// Barriers: 0, but all threads call it, behind rf_own_settle
// Cost: one shared read a place, and one read and perhaps an atomic for one in use
RF_PRIMITIVE void rf_own_pass_extremes(int64_t *cells, const uint64_t *extremes, int32_t bits, int32_t least,
                                       const uint64_t *own, int32_t copies, int32_t threads) {
  own::each_place(own, bits, copies, threads, [=](int32_t s, uint64_t slot, bool) RF_LAMBDA {
    if (slot == 0 || extremes[s] == 0)
      return;
    int64_t *cell = cells + (slot - 1), word = (int64_t)own::unflipped(extremes[s], least);
    if (least && word < target::load(cell))
      rf_cell_min(cell, word, 1);
    if (!least && word > target::load(cell))
      rf_cell_max(cell, word, 1);
  });
}

// rf_own_pass_words adds the words of each place's cell, as rf_tile_cells_float
// fills it, to cells of words words; passed of them have something to add.
//
// Barriers: 0, but all threads call it, behind rf_own_settle
// Cost: passed shared reads a place, and an atomic for each word that is not 0
RF_PRIMITIVE void rf_own_pass_words(uint64_t *cells, int32_t words, const uint64_t *kept, int32_t passed, int32_t bits,
                                    const uint64_t *own, int32_t copies, int32_t threads) {
  own::each_place(own, bits, copies, threads, [=](int32_t s, uint64_t slot, bool) RF_LAMBDA {
    if (slot == 0)
      return;
    for (int32_t w = 0; w < passed; w++) {
      uint64_t word = kept[(int64_t)s * passed + w];
      if (word != 0)
        rf_cell_add((int64_t *)cells + (uint64_t)words * (slot - 1) + w, (int64_t)word, 1);
    }
  });
}
