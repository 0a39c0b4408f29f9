// A block's own groups: a table in shared memory in front of the one of all
// blocks. Rows are added to it as long as it has room for their group, and what
// it holds is added to the cells of all when the block is through. So a few
// groups, or one that most rows fall into, do not make the atomics of all blocks
// wait for each other.
//
// It is for GPUs; items are 32 at most.
//
// It has 2^bits places, bits at most 11, and the words own. Where groups have numbers
// and few of them (DIRECT), each has 2^copies places, one after the other, for lanes
// that would else wait for each other, and the place's word is 1. Else, copies being
// -1, own is a hash table with linear probing, of 2^slot_bits slots and the number
// of places in use behind them; a slot is 0, or a key plus 1 above 12 bits that hold
// the place plus 1. They are 0 while the place is not known, and 4095 if there was
// none. The caller enters a key that gets a place into the table of all blocks.
//
// Where groups have numbers and many of them, up to 65,536, the place is the number and
// there are no words, own being null and copies 0: what tells that a group has a row is
// that a witness, one of its sums, is not 0.
//
// The cells of a place are digits of 32 bits, for which shared memory has atomics, digit
// d of place p at digits[d * places + p]: a sum modulo 2^(32 count).
// Extremes are words of 64 bits, in the order of unsigned numbers, 0 for none. All
// is zero at first.

#pragma once

#include "fsum.h"
#include "group.h"

namespace own {

enum : int32_t {
  PLACE_BITS = 12, NONE = 4095,
  // A slot further from home is not looked at.
  MOST_PROBES = 16,
  // A warp stops asking after so many rows without a place beyond those that come
  // with two rows that have one.
  PATIENCE = 512,
};

RF_HELPER int32_t home(uint64_t key, int32_t slot_bits) {
  return (int32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - slot_bits));
}

// place_of is the place of a key whose slot reads word, if it is less than NONE.
RF_HELPER uint64_t place_of(uint64_t word, uint64_t stored) { return (word ^ stored) - 1; }

// search finds or makes the place of a key, from what its home slot reads on; the
// number is NONE or above if it has none. A key that another thread is entering gets
// its place soon: the thread does that before it waits for anything.
//
// Others read a slot while the one thread writes it that has claimed it by the atomic, with
// no barrier between: the word is written whole, and who reads what was there before asks
// again, at last by the atomic. compute-sanitizer's racecheck displays these as hazards.
RF_HELPER int32_t search(uint64_t *own, int32_t slot_bits, uint64_t places, uint64_t stored, int32_t at, uint64_t word,
                         uint32_t *fresh) {
  int32_t mask = (1 << slot_bits) - 1;
  for (int32_t n = 0; n < MOST_PROBES;) {
    uint64_t place = place_of(word, stored);
    if (place < NONE)
      return (int32_t)place;
    if (word == 0) {
      if (target::load(own + mask + 1) >= places)
        return NONE;
      word = target::cas(own + at, (uint64_t)0, stored);
      if (word == 0) {
        place = target::add(own + mask + 1, (uint64_t)1);
        place = place < places ? place : NONE - 1;
        target::store(own + at, stored | (place + 1));
        *fresh = place < places;
        return (int32_t)place;
      }
      continue;
    }
    if (word != stored) {
      at = (at + 1) & mask;
      n++;
    }
    word = target::load(own + at);
  }
  return NONE;
}

// add adds word(i) to the digits of the place of item i, with an instruction a digit
// and no branch: what a number has above its lowest digit, and what that one carried,
// is 0 for most rows and then not added. All lowest digits are under way before one of
// them is looked at.
template <class W>
RF_HELPER void add(uint32_t *digits, int32_t all, int32_t count, const int32_t *places, bool is_unsigned, int32_t items,
                   W word) {
  uint32_t old[tile::MOST_ITEMS];
  if (count == 1) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      target::add_shared_if(places[i] >= 0, digits + places[i], (uint32_t)word(i));
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    old[i] = target::fetch_add_shared_if(places[i] >= 0, digits + places[i], (uint32_t)word(i));
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    uint64_t w = (uint64_t)word(i);
    uint32_t low = (uint32_t)w, second = (uint32_t)(w >> 32), sign = is_unsigned ? 0 : (uint32_t)((int64_t)w >> 63);
    uint32_t carried = (uint32_t)(old[i] + low) < low, term = second + carried;
    carried = term < carried;
    RF_UNROLL
    for (int32_t d = 1; d < count; d++) {
      uint32_t *digit = digits + d * all + places[i];
      bool adds = places[i] >= 0 && term != 0;
      if (d == count - 1) {
        target::add_shared_if(adds, digit, term);
        break;
      }
      uint32_t before = target::fetch_add_shared_if(adds, digit, term);
      // Of the two carries there is one at most, as the term was 0 after the first.
      carried |= adds && (uint32_t)(before + term) < term;
      term = sign + carried;
      carried = term < carried;
    }
  }
}

// each_place calls with for all places in use and some others, all lanes of a warp
// together, with the place and the group's slot plus 1, 0 where there is none. leads
// says that the caller is to add for all copies of the place.
template <class F>
RF_HELPER void each_place(const uint64_t *own, int32_t slots, int32_t copies, int32_t threads, F with) {
  int32_t thread = target::thread();
  RF_ROLLED
  for (int32_t s = thread; s - thread < slots; s += threads) {
    if (!own) {
      bool in = s < slots;
      with(in ? s : 0, in ? (uint64_t)s + 1 : 0, in);
      continue;
    }
    uint64_t word = s < slots ? own[s] : 0;
    int32_t place = word == 0 ? 0 : (int32_t)(word & NONE) - 1;
    with(place, word >> PLACE_BITS, word != 0 && (copies <= 0 || (s & ((1 << copies) - 1)) == 0));
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
// number; others -1. copies is what rf_own_copies says, at least 0. Places are marked
// in use, unless own is null: then an accumulator is to witness it, see rf_own_settle.
//
// Cost: one shared access an item, or none
RF_PRIMITIVE void rf_own_numbered(int32_t *places, const uint8_t *live, const uint64_t *keys, uint64_t *own,
                                  int32_t copies, int32_t items) {
  int32_t copy = (target::WARP == 1 ? 0 : target::thread() % target::WARP) & ((1 << copies) - 1);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    // That a place is not negative lets the compiler keep to the flags.
    places[i] = live[i] ? (int32_t)(((uint32_t)keys[i] << copies | (uint32_t)copy) & 0xffff) : -1;
    if (own && live[i])
      target::store(own + places[i], (uint64_t)1);
  }
}

// rf_own_places gives live items the places of their groups where there is one, and
// else -1. rest is left live for those live items that have none, enter for those and
// the ones whose keys got a place just now. It returns whether there is one in the
// warp. misses, 0 at first, is the calling thread's memory of how that went before.
//
// Phases: 1 fetch all home slots; 2 go on where they are another key's
// Barriers: 0, but every warp calls it whole
// Cost: little more than one shared access of 8 bytes an item; 1 ballot an item
RF_PRIMITIVE int32_t rf_own_places(int32_t *places, uint8_t *rest, uint8_t *enter, const uint8_t *live,
                                   const uint64_t *keys, uint64_t *own, int32_t bits, int32_t slot_bits,
                                   int32_t *misses, int32_t items) {
  bool asks = *misses <= own::PATIENCE;
  uint64_t word[tile::MOST_ITEMS];
  int32_t at[tile::MOST_ITEMS], missed = 0;
  uint32_t any = 0;
  if (asks) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      at[i] = own::home(keys[i], slot_bits);
      word[i] = target::load(own + at[i]);
    }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      uint64_t stored = (keys[i] + 1) << own::PLACE_BITS;
      uint32_t fresh = 0;
      places[i] = -1;
      if (live[i] && keys[i] + 1 < (uint64_t)1 << (64 - own::PLACE_BITS)) {
        uint64_t place = own::place_of(word[i], stored);
        if (place >= own::NONE)
          place = (uint64_t)own::search(own, slot_bits, (uint64_t)1 << bits, stored, at[i], word[i], &fresh);
        places[i] = place < (uint64_t)1 << bits ? (int32_t)place : -1;
      }
      rest[i] = live[i] && places[i] < 0;
      enter[i] = rest[i] | (uint8_t)fresh;
      any |= enter[i];
    }
  } else {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      places[i] = -1;
      rest[i] = live[i];
      enter[i] = live[i];
      any |= live[i];
    }
  }
  if (target::ballot(any != 0) == 0)
    return 0;
  if (asks) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      missed += __builtin_popcount(target::ballot(rest[i]));
    int32_t now = *misses + 3 * missed - 2 * target::WARP * items;
    *misses = now < -own::PATIENCE ? -own::PATIENCE : now;
  }
  return 1;
}

// rf_own_count adds 1 to the digits of each item that has a place, of all there are.
// The number of digits is a constant, 1 where the block adds less than 2^32 rows.
//
// Cost: one shared atomic an item, whose result is not waited for if there is one digit
RF_PRIMITIVE void rf_own_count(uint32_t *digits, int32_t all, int32_t count, const int32_t *places, int32_t items) {
  own::add(digits, all, count, places, true, items, [](int32_t) RF_LAMBDA { return (int64_t)1; });
}

// rf_own_add adds words, signed or unsigned, to sums of count digits, a constant, of
// items that have a place, of all there are.
//
// Cost: one shared atomic an item, and one for each further digit that changes
RF_PRIMITIVE void rf_own_add(uint32_t *digits, int32_t all, int32_t count, const int32_t *places,
                             const int64_t *values, int32_t is_unsigned, int32_t items) {
  own::add(digits, all, count, places, is_unsigned != 0, items, [=](int32_t i) RF_LAMBDA { return values[i]; });
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

// rf_own_settle puts the slots that groups have in the table of all blocks, plus 1,
// in place of their keys, and marks these as occupied. Then the accumulators are to be
// passed on, by those that follow. There are so many slots, as many as places where groups
// have numbers. Places of those are in use, too, if one of the digits of witness, a number
// that may be 0, is not 0.
//
// Phases: 1 all have added; 2 one slot a thread
// Barriers: 1, at the start
// Cost: for a place in use one look-up, one read and perhaps a write
RF_PRIMITIVE void rf_own_settle(uint64_t *own, int32_t slots, int32_t copies, int64_t form, uint64_t *table,
                                uint64_t size, int64_t *occupied, const uint32_t *witness, int32_t digits,
                                int32_t threads) {
  if (threads != 1)
    target::barrier();
  int32_t thread = target::thread();
  RF_ROLLED
  for (int32_t s = thread; s - thread < slots; s += threads) {
    uint64_t word = own && s < slots ? own[s] : 0;
    if (copies >= 0 && s < slots) {
      RF_UNROLL
      for (int32_t d = 0; d < digits; d++)
        word |= witness[d * slots + s];
    }
    // A copy leads for the others, which may be the only ones in use.
    for (int32_t d = 1; copies > 0 && d < 1 << copies; d *= 2)
      word |= target::from_partner(word, d);
    if (word == 0)
      continue;
    uint64_t place = copies >= 0 ? (uint64_t)s + 1 : word & own::NONE;
    int64_t slot = copies >= 0 ? s >> copies : (int64_t)(word >> own::PLACE_BITS) - 1;
    if (own && place == own::NONE)
      slot = -1;
    else if (copies < 0 && form == form::HASH)
      slot = rf_slot_insert(table, size, (uint64_t)slot);
    if (own)
      own[s] = slot < 0 ? 0 : (uint64_t)(slot + 1) << own::PLACE_BITS | place;
    if (slot >= 0 && target::load(occupied + slot) == 0)
      target::store(occupied + slot, (int64_t)1);
  }
}

// rf_own_pass_sums adds sums of count digits, a constant, of all places there are to
// cells of words words: of 128 bits, or of 64 for count_only = 1.
//
// Barriers: 0, but all threads call it, behind rf_own_settle
// Cost: count shared reads a place, 4 shuffles for each doubling of the copies, one or two atomics a group
RF_PRIMITIVE void rf_own_pass_sums(uint64_t *cells, int32_t words, const uint32_t *digits, int32_t all,
                                   int32_t count, int32_t is_unsigned, int32_t count_only, const uint64_t *own,
                                   int32_t slots, int32_t copies, int32_t threads) {
  own::each_place(own, slots, copies, threads, [=](int32_t s, uint64_t slot, bool leads) RF_LAMBDA {
    uint32_t d[4];
    RF_UNROLL
    for (int32_t k = 0; k < 4; k++) {
      if (k < count)
        d[k] = slot != 0 ? digits[k * all + s] : 0;
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
RF_PRIMITIVE void rf_own_pass_extremes(int64_t *cells, const uint64_t *extremes, int32_t least, const uint64_t *own,
                                       int32_t slots, int32_t copies, int32_t threads) {
  own::each_place(own, slots, copies, threads, [=](int32_t s, uint64_t slot, bool) RF_LAMBDA {
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
RF_PRIMITIVE void rf_own_pass_words(uint64_t *cells, int32_t words, const uint64_t *kept, int32_t passed,
                                    const uint64_t *own, int32_t slots, int32_t copies, int32_t threads) {
  own::each_place(own, slots, copies, threads, [=](int32_t s, uint64_t slot, bool) RF_LAMBDA {
    if (slot == 0)
      return;
    RF_ROLLED
    for (int32_t w = 0; w < passed; w++) {
      uint64_t word = kept[(int64_t)s * passed + w];
      if (word != 0)
        rf_cell_add((int64_t *)cells + (uint64_t)words * (slot - 1) + w, (int64_t)word, 1);
    }
  });
}
