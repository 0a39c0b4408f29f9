// Keys: tuples of words packed into one word, and the forms that tables of such
// keys take.
//
// A tile's keys and live flags are arrays of items. What a key of an item that is
// not live holds is unspecified everywhere.

#pragma once

#include "tile.h"

namespace form {

// The forms are numbered as package harmony/abi numbers them. A table of form
// WIDE has a row set beside it, by which rf_tile_wide_find and
// rf_tile_wide_insert have replaced each tuple by its number before.
enum : int64_t { NONE, DIRECT, HASH, WIDE, ORDERED, NUMBERED };

} // namespace form

namespace keys {

// field_mask has as many low bits set as a field has; from 64 on all.
RF_HELPER uint64_t field_mask(int64_t bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }

} // namespace keys

// rf_tile_pack adds one column to the packed keys of a tile: word - base, shifted
// to its place, which is bits wide; the first column starts the keys. It leaves
// live only items whose offset fits, as those of 64 bits always do. A column of
// 0 bits may have any shift.
//
// Cost: 3 integer operations an item
RF_PRIMITIVE void rf_tile_pack(uint64_t *keys, uint8_t *live, const int64_t *words, int64_t shift, int64_t base,
                               int64_t bits, int32_t first, int32_t items) {
  uint64_t most = keys::field_mask(bits);
  // Shifts of 64 come with 0 bits only, whose offsets are 0.
  int32_t by = (int32_t)(shift & 63);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    uint64_t offset = (uint64_t)words[i] - (uint64_t)base;
    live[i] &= offset <= most;
    keys[i] = (first ? 0 : keys[i]) | offset << by;
  }
}
