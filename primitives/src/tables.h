// Sets and indexes over packed keys, whatever their form: what kernels that
// probe, insert and build call for a tile.
//
//   set           DIRECT bit set below size, HASH set64, NONE: every tuple is new
//   unique index  DIRECT table of row number plus 1 below size, HASH map64,
//                 NONE: key k is of row k, below size
//   exists index  DIRECT bit set below size, HASH set64, NONE: all keys below size
//   multi index   begins and rows; the rows of key k, DIRECT, or of the key in
//                 slot k of a set64, HASH, are rows[begins[k]] to
//                 rows[begins[k + 1] - 1], in no particular order; begins has a word
//                 more than there are numbers k. If the index is spaced, begins
//                 are extents instead (extents.h), so that rows can be added
//
// size is the mask of HASH. Keys at or above the size of DIRECT are in no table.
// WIDE is as DIRECT where a key leads to rows; a set or an exists index of form
// WIDE is the row set alone, so that here nothing is left to do.
//
// A multi index is built in three steps from all zero, so that a key with many
// rows makes a long run, never a long chain:
//
//   1 rf_tile_build_count for every row;
//   2 begins from its second word on replaced by its exclusive running sums
//     (any device-wide scan);
//   3 rf_tile_build_fill for every row.

#pragma once

#include "bitset.h"
#include "direct.h"
#include "extents.h"
#include "keys.h"
#include "map.h"
#include "peers.h"

namespace bits {

// LARGE is the number of bits of 256 MB.
enum : uint64_t { LARGE = (uint64_t)1 << 31 };
// CACHED is the number of bits up to which a set stays in a core's own cache.
enum : uint64_t { CACHED = 1 << 23 };

// insert_tile leaves live only the live items whose bit was clear, and returns 1,
// or 0 if a key is no bit of the set. Without others that write, together = 0, a
// word is written whether its bit was clear or not: new keys cost no branch; and a set
// that a CPU's cache holds is not asked for in advance.
RF_HELPER int32_t insert_tile(uint8_t *live, const uint64_t *keys, uint32_t *words, uint64_t size, bool together,
                              int32_t items) {
  if (size == 0)
    return 0;
  bool room = true;
  if (target::WARP > 1) {
    // A set that the second-level cache does not hold is as fast to write as to read.
    bool looks = size < LARGE;
    uint32_t word[tile::MOST_ITEMS];
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      bool in = live[i] && keys[i] < size;
      room &= in == (live[i] != 0);
      live[i] = in;
      word[i] = 0;
      if (in && looks)
        word[i] = target::load(words + keys[i] / 32);
    }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      uint32_t flag = 1u << (keys[i] % 32);
      if (live[i] && !(word[i] & flag))
        word[i] = target::either(words + keys[i] / 32, flag);
    }
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      live[i] &= !(word[i] >> (keys[i] % 32) & 1);
    return room;
  }
  if (target::WARP == 1 && !together && size <= CACHED) {
    for (int32_t i = 0; i < items; i++) {
      bool wanted = live[i], in = wanted & (keys[i] < size);
      uint32_t bit = (uint32_t)keys[i] % 32, *at = words + (in ? keys[i] / 32 : 0);
      uint32_t clear = in & ~(*at >> bit);
      *at |= clear << bit;
      room &= in == wanted;
      live[i] = (uint8_t)clear;
    }
    return room;
  }
  tile::in_groups<uint32_t>(
      items,
      [=](int32_t i) RF_LAMBDA {
        bool in = live[i] && keys[i] < size;
        return tile::early<false>(words + (in ? keys[i] / 32 : 0), in);
      },
      [=, &room](int32_t i, uint32_t word) RF_LAMBDA {
        bool wanted = live[i], in = wanted & (keys[i] < size);
        uint32_t *at = words + (in ? keys[i] / 32 : 0);
        word = tile::late<false>(at, word);
        room &= in == wanted;
        bool clear = in & !(word >> (keys[i] % 32) & 1);
        if (!together)
          *at = word | (uint32_t)clear << (keys[i] % 32);
        live[i] = clear & !together;
        return !clear | !together;
      },
      [=](int32_t i, uint32_t) RF_LAMBDA { live[i] = (uint8_t)rf_bitset_insert(words, keys[i]); });
  return room;
}

} // namespace bits

// A set of form NUMBERED, of a CPU, is a bit set in which the values of the keys'
// lowest column are numbered as they come, from 1 on, so that values that never come
// take no memory. The bits of LINE numbers in a row lie beside each other, for one
// after the other of what the other columns can be: a cache line.
namespace numbered {

enum : uint64_t { LINE_BITS = 9, LINE = 1 << LINE_BITS };

// Set is what the set's address stands for. Package native writes it.
struct Set {
  uint32_t *words;   // the bits
  uint32_t *numbers; // of the lowest column's values; 0: none yet
  uint64_t shift;    // bits of the lowest column
  uint64_t rests;    // number of values of the other columns
  uint32_t given;    // numbers
  uint32_t held;     // whether a worker gives a number
};

// place returns the bit of a number and the other columns. Number 0 has bits that
// are never set.
RF_HELPER uint64_t place(const Set *s, uint64_t number, uint64_t rest) {
  return ((number >> LINE_BITS) * s->rests + rest) << LINE_BITS | (number & (LINE - 1));
}

// give numbers a value. Other workers may do so at the same time.
RF_HELPER uint32_t give(Set *s, uint32_t *at) {
  while (target::cas(&s->held, (uint32_t)0, (uint32_t)1) != 0)
    target::relax();
  uint32_t number = target::load(at);
  if (number == 0) {
    number = ++s->given;
    target::store(at, number);
  }
  target::fence();
  target::store(&s->held, (uint32_t)0);
  return number;
}

// STEP is how many keys become places at a time.
enum { STEP = 64 };

// insert_tile is bits::insert_tile of keys below size.
RF_HELPER int32_t insert_tile(uint8_t *live, const uint64_t *keys, Set *s, uint64_t size, bool together,
                              int32_t items) {
  bool room = true;
  uint64_t mask = ((uint64_t)1 << s->shift) - 1;
  for (int32_t from = 0; from < items; from += STEP) {
    int32_t n = items - from < STEP ? items - from : STEP;
    uint64_t places[STEP];
    for (int32_t i = 0; i < n; i++) {
      uint64_t key = keys[from + i];
      bool wanted = live[from + i], in = wanted & (key < size);
      room &= in == wanted;
      live[from + i] = in;
      key = in ? key : 0;
      uint32_t *at = s->numbers + (key & mask), number = target::load(at);
      if (in && number == 0)
        number = give(s, at);
      places[i] = place(s, number, key >> s->shift);
    }
    bits::insert_tile(live + from, places, s->words, ~(uint64_t)0, together, n);
  }
  return room;
}

} // namespace numbered

namespace multi {

// Place is where the rows of a number begin, and how many they are.
struct Place {
  int64_t begin, count;
};

// place returns the place of a number: no rows where it is not wanted. A CPU reads begins
// in any case, unless there are none.
RF_HELPER Place place(const uint64_t *begins, uint64_t number, bool wanted, int64_t spaced) {
  if (target::WARP == 1 && !spaced && begins) {
    uint64_t begin = tile::entry(begins, number, wanted);
    return {(int64_t)begin, (int64_t)(tile::entry(begins + 1, number, wanted) - begin)};
  }
  if (!wanted)
    return {0, 0};
  uint64_t begin = begins[number << spaced], end = begin >> 32;
  if (spaced)
    begin = (uint32_t)begin;
  else
    end = begins[number + 1];
  return {(int64_t)begin, (int64_t)(end - begin)};
}

// each_number calls with with each item and what number says of it, after begin
// has asked for what that takes; all lanes of a warp together.
template <class B, class N, class W> RF_HELPER void each_number(int32_t items, B begin, N number, W with) {
  tile::in_groups<set64::Probe>(
      items, begin, [](int32_t, set64::Probe) RF_LAMBDA { return false; },
      [=](int32_t i, set64::Probe p) RF_LAMBDA { with(i, number(i, p)); });
}

} // namespace multi

// rf_tile_find_unique finds the rows of live items' keys in a unique index and
// leaves live only those that have one; the others' rows are -1.
//
// Phases: of HASH for each group of items: 1 fetch all home slots; 2 go on where they are another key's
// Cost: one random access a live item, of 4 bytes (DIRECT) or about 1.5 of 16 bytes (HASH), the first ones in flight together; none (NONE)
RF_PRIMITIVE void rf_tile_find_unique(int64_t *rows, uint8_t *live, const uint64_t *keys, int64_t form,
                                      const void *table, uint64_t size, int32_t items) {
  if (form == form::HASH)
    return map64::find_tile(rows, live, keys, (const uint64_t *)table, size, items);
  if (form == form::NONE) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++) {
      live[i] &= keys[i] < size;
      rows[i] = live[i] ? (int64_t)keys[i] : -1;
    }
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    bool in = live[i] && keys[i] < size;
    rows[i] = (size == 0 ? 0 : (int64_t)tile::entry((const uint32_t *)table, keys[i], in)) - 1;
    live[i] = rows[i] >= 0;
  }
}

// rf_tile_find_exists leaves live the live items whose key is in a set or an
// exists index, or for absent = 1 those whose is not.
//
// Phases: as rf_tile_find_unique
// Cost: as rf_tile_find_unique, with accesses of 4 or 8 bytes
RF_PRIMITIVE void rf_tile_find_exists(uint8_t *live, const uint64_t *keys, int64_t form, const void *table,
                                      uint64_t size, int32_t absent, int32_t items) {
  if (form == form::HASH) {
    set64::find_tile(live, keys, (const uint64_t *)table, size, items,
                     [=](int32_t i, bool wanted, int64_t slot) RF_LAMBDA {
                       live[i] = wanted & ((slot >= 0) != (absent != 0));
                     });
    return;
  }
  if (form == form::NONE) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i++)
      live[i] &= (keys[i] < size) != (absent != 0);
    return;
  }
  if (form != form::DIRECT)
    return;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    bool in = live[i] && keys[i] < size;
    uint32_t word = size == 0 ? 0 : tile::entry((const uint32_t *)table, keys[i] / 32, in);
    live[i] &= (word >> (keys[i] % 32) & 1) != (absent != 0);
  }
}

// rf_tile_find_bits leaves live the live items whose key is in a bit set, which has a bit
// for each of these keys.
//
// Phases: 1 fetch all words; 2 look at the bits
// Cost: one random access of 4 bytes a live item, all in flight together, and about 8 operations of 32 bits
RF_PRIMITIVE void rf_tile_find_bits(uint8_t *live, const uint32_t *keys, const uint32_t *set, int32_t items) {
  if (target::WARP == 1) {
    for (int32_t i = 0; i < items; i++)
      live[i] = tile::entry(set, keys[i] / 32, live[i]) >> (keys[i] % 32) & 1;
    return;
  }
  uint32_t words[tile::MOST_ITEMS];
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    words[i] = target::load_if(set + keys[i] / 32, live[i]);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    live[i] = words[i] >> (keys[i] % 32) & 1;
}

// rf_tile_find_rows finds the rows of live items' keys in a table of form DIRECT, which has
// an entry for each of these keys, and leaves live only those that have one.
//
// Phases: 1 fetch all entries; 2 look at them
// Cost: one random access of 4 bytes a live item, all in flight together
RF_PRIMITIVE void rf_tile_find_rows(int64_t *rows, uint8_t *live, const uint32_t *keys, const uint32_t *table,
                                    int32_t items) {
  if (target::WARP == 1) {
    for (int32_t i = 0; i < items; i++) {
      rows[i] = (int64_t)tile::entry(table, keys[i], live[i]) - 1;
      live[i] = rows[i] >= 0;
    }
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    rows[i] = target::load_if(table + keys[i], live[i]);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    live[i] = rows[i] != 0;
    rows[i] = (uint32_t)rows[i] - 1;
  }
}

// rf_tile_find_multi returns where in a multi index the rows of each live item's
// key begin, and how many they are: 0 where the key has none or the item is not
// live. Spaced is 1 if the index has extents, else 0.
//
// Phases: of HASH: 1 as rf_tile_find_unique; 2 fetch where the rows begin
// Cost: two neighbouring words a live item (DIRECT), and before them about 1.5 random accesses of 8 bytes (HASH); of extents one word
RF_PRIMITIVE void rf_tile_find_multi(int64_t *begins_out, int64_t *counts, const uint8_t *live, const uint64_t *keys,
                                     int64_t form, const void *table, uint64_t size, const uint64_t *begins,
                                     int64_t spaced, int32_t items) {
  if (form == form::HASH)
    set64::find_tile(live, keys, (const uint64_t *)table, size, items, [=](int32_t i, bool, int64_t slot) RF_LAMBDA {
      begins_out[i] = slot;
      target::prefetch(begins + ((slot < 0 ? 0 : slot) << spaced));
    });
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    uint64_t number = form == form::HASH ? (uint64_t)begins_out[i] : keys[i];
    bool in = form == form::HASH ? begins_out[i] >= 0 : live[i] && keys[i] < size;
    multi::Place at = multi::place(begins, number, in && size != 0, spaced);
    begins_out[i] = at.begin;
    counts[i] = at.count;
  }
}

// rf_tile_match_rows turns live items' positions in the rows of a multi index
// into row numbers. Where all rows stand in order, index_rows is null. The other
// items' rows are unspecified.
//
// Cost: one random access of 4 bytes a live item, all independent
RF_PRIMITIVE void rf_tile_match_rows(int64_t *rows, const uint8_t *live, const int64_t *positions,
                                     const uint32_t *index_rows, int32_t items) {
  if (index_rows)
    return tile::gather(rows, live, positions, index_rows, 0, 1, items);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    rows[i] = positions[i];
}

// rf_tile_insert inserts the keys of live items into a set and leaves live only
// those that were new. It returns 1, or 0 if the set was full, which voids the
// result. The new items are not in the order of rows: among equal keys of
// different threads any one wins. With shared = 0 a CPU's worker is the only one to
// write the set, and needs no atomics; a GPU's threads always share it.
//
// Phases: for each group of items: 1 fetch all words or home slots; 2 insert those that are not there
// Cost: one random access (DIRECT) or about 1.5 (HASH) a live item, the first ones in flight together, and one atomic for a new key where the set is shared
RF_PRIMITIVE int32_t rf_tile_insert(uint8_t *live, const uint64_t *keys, int64_t form, void *table, uint64_t size,
                                    int32_t shared, int32_t items) {
  bool together = target::WARP > 1 || shared;
  if (form == form::HASH) {
    bool room = true;
    set64::insert_tile(live, keys, (uint64_t *)table, size, together, items,
                       [=, &room](int32_t i, int64_t slot, bool is_new) RF_LAMBDA {
                         room &= slot >= 0;
                         live[i] = is_new;
                       });
    return room;
  }
  if (form == form::DIRECT)
    return bits::insert_tile(live, keys, (uint32_t *)table, size, together, items);
  if (target::WARP == 1 && form == form::NUMBERED)
    return numbered::insert_tile(live, keys, (numbered::Set *)table, size, together, items);
  return 1;
}

// build_rows enters the rows of live items into a table of one row a key: by
// hashed, which gets an item, or by direct, which gets a place and an item.
template <class H, class D>
RF_HELPER void build_rows(const uint64_t *keys, const uint8_t *live, int64_t form, void *table, uint64_t size,
                          int32_t items, H hashed, D direct) {
  if (form == form::HASH) {
    tile::in_groups<bool>(
        items,
        [=](int32_t i) RF_LAMBDA {
          target::prefetch((uint64_t *)table + 2 * set64::home_if(size, keys[i], live[i]));
          return live[i] != 0;
        },
        [=](int32_t, bool wanted) RF_LAMBDA { return !wanted; }, [=](int32_t i, bool) RF_LAMBDA { hashed(i); });
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i] && keys[i] < size)
      direct((uint32_t *)table + keys[i], i);
}

// rf_tile_build_unique enters the rows of live items into a unique index. Of
// several rows of a key any one stays.
//
// Cost: one random write of 4 bytes a live item (DIRECT), or about 1.5 random accesses and one atomic (HASH)
RF_PRIMITIVE void rf_tile_build_unique(const uint64_t *keys, const int64_t *rows, const uint8_t *live, int64_t form,
                                       void *table, uint64_t size, int32_t items) {
  build_rows(
      keys, live, form, table, size, items,
      [=](int32_t i) RF_LAMBDA { rf_map64_insert((uint64_t *)table, size, keys[i], (uint64_t)rows[i]); },
      [=](uint32_t *place, int32_t i) RF_LAMBDA { target::store(place, (uint32_t)rows[i] + 1); });
}

// rf_tile_build_last is rf_tile_build_unique, but of several rows of a key the
// greatest stays.
//
// Cost: one random atomic a live item (DIRECT), or about 1.5 random accesses and two atomics (HASH)
RF_PRIMITIVE void rf_tile_build_last(const uint64_t *keys, const int64_t *rows, const uint8_t *live, int64_t form,
                                     void *table, uint64_t size, int32_t items) {
  build_rows(
      keys, live, form, table, size, items,
      [=](int32_t i) RF_LAMBDA { rf_map64_raise((uint64_t *)table, size, keys[i], (uint64_t)rows[i]); },
      [=](uint32_t *place, int32_t i) RF_LAMBDA { target::largest(place, (uint32_t)rows[i] + 1); });
}

// rf_tile_build_exists enters the keys of live items into an exists index.
//
// Phases: as rf_tile_insert
// Cost: as rf_tile_insert
RF_PRIMITIVE void rf_tile_build_exists(const uint64_t *keys, const uint8_t *live, int64_t form, void *table,
                                       uint64_t size, int32_t items) {
  if (form == form::HASH)
    set64::insert_tile(live, keys, (uint64_t *)table, size, true, items, [](int32_t, int64_t, bool) RF_LAMBDA {});
  if (form != form::DIRECT)
    return;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    if (live[i] && keys[i] < size)
      rf_bitset_insert_seldom((uint32_t *)table, keys[i]);
}

// rf_tile_build_count counts live items under their keys in a multi index, one
// word after the key's own: begins[k + 1].
//
// Phases: 1 of HASH as rf_tile_insert; 2 count in warps; 3 add to begins
// Barriers: 0, but every warp calls it whole
// Cost: 1 match an item, one atomic a warp and key (a CPU one an item), and before it about 1.5 random accesses (HASH)
RF_PRIMITIVE void rf_tile_build_count(const uint64_t *keys, const uint8_t *live, int64_t form, void *table,
                                      uint64_t size, uint64_t *begins, int32_t items) {
  auto count = [=](int32_t, int64_t k) RF_LAMBDA {
    uint32_t lanes = peers::of((uint64_t)k, k >= 0);
    if (peers::leads(lanes))
      target::add(begins + k + 1, (uint64_t)__builtin_popcount(lanes));
  };
  if (form == form::HASH) {
    uint64_t *slots = (uint64_t *)table;
    multi::each_number(
        items, [=](int32_t i) RF_LAMBDA { return set64::begin<false>(slots, size, keys[i], live[i]); },
        [=](int32_t i, set64::Probe p) RF_LAMBDA {
          int32_t is;
          return live[i] ? set64::insert(slots, size, keys[i], set64::look_late<false>(slots, p), true, &is) : -1;
        },
        count);
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    count(i, live[i] && keys[i] < size ? (int64_t)keys[i] : -1);
}

// rf_tile_build_fill enters the rows of live items, which were counted, into
// their keys' runs: each takes the place begins[k + 1] and moves that on, so that in
// the end it is where the next key's run begins. If the index is spaced, rows that were not
// counted are added to the extents of their keys; the gauge counts the rows of the array
// that are taken, and is beyond its limit if there is no room for some. One block adds to a
// spaced index at a time.
//
// Phases: 1 of HASH as rf_tile_find_unique; 2 the first of a warp's equal keys takes places for all; 3 write
// Barriers: 0, but every warp calls it whole; 4 if the index is spaced
// Cost: 1 match and 2 shuffles an item, one atomic a warp and key (a CPU one an item), one random write of 4 bytes, and before them about 1.5 random accesses (HASH)
RF_PRIMITIVE void rf_tile_build_fill(const uint64_t *keys, const int64_t *rows, const uint8_t *live, int64_t form,
                                     void *table, uint64_t size, uint64_t *begins, uint32_t *index_rows,
                                     int64_t spaced, int64_t *gauge, int32_t threads, int32_t items) {
  uint64_t *slots = (uint64_t *)table;
  if (spaced) {
    extents::Extent *all = (extents::Extent *)begins;
    if (threads == 1) {
      for (int32_t i = 0; i < items; i++) {
        if (!live[i])
          continue;
        int64_t number = keys[i] < size ? (int64_t)keys[i] : -1;
        if (form == form::HASH)
          number = rf_slot_insert(slots, size, keys[i]);
        if (number >= 0)
          extents::add_one(number, rows[i], all, index_rows, gauge);
        else if (form == form::HASH)
          extents::fail(gauge);
      }
      return;
    }
    int64_t numbers[tile::MOST_ITEMS];
    if (form == form::HASH) {
      set64::insert_tile(live, keys, slots, size, true, items, [&](int32_t i, int64_t slot, bool) RF_LAMBDA {
        numbers[i] = slot;
      });
      RF_UNROLL
      for (int32_t i = 0; i < items; i++) {
        if (live[i] && numbers[i] < 0)
          extents::fail(gauge);
        numbers[i] = live[i] ? numbers[i] : -1;
      }
    } else {
      RF_UNROLL
      for (int32_t i = 0; i < items; i++)
        numbers[i] = live[i] && keys[i] < size ? (int64_t)keys[i] : -1;
    }
    extents::add(numbers, rows, all, index_rows, gauge, threads, items);
    return;
  }
  auto enter = [=](int32_t i, int64_t k) RF_LAMBDA {
    uint32_t lanes = peers::of((uint64_t)k, k >= 0);
    uint64_t place = 0;
    if (peers::leads(lanes))
      place = target::add(begins + k + 1, (uint64_t)__builtin_popcount(lanes));
    place = target::from_lane(place, lanes != 0 ? __builtin_ctz(lanes) : 0);
    if (k >= 0)
      index_rows[place + (uint64_t)peers::rank(lanes)] = (uint32_t)rows[i];
  };
  if (form == form::HASH) {
    multi::each_number(
        items, [=](int32_t i) RF_LAMBDA { return set64::begin<true>(slots, size, keys[i], live[i]); },
        [=](int32_t i, set64::Probe p) RF_LAMBDA {
          return live[i] ? set64::find(slots, size, keys[i], set64::look_late<true>(slots, p)) : -1;
        },
        enter);
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    enter(i, live[i] && keys[i] < size ? (int64_t)keys[i] : -1);
}
