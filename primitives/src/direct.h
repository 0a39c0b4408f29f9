// Direct-address tables: for keys in a dense range, entry key - first holds the
// key's row number plus 1, or 0. Rows are numbered below 2^32 - 1.

#pragma once

#include "tile.h"

// rf_direct_insert enters a row under a key. It returns 1, 0 if the key has a
// row already (which stays), and -1 if the key is out of range.
//
// Cost: one atomic
RF_PRIMITIVE int32_t rf_direct_insert(uint32_t *table, int64_t first, uint64_t size, int64_t key, uint32_t row) {
  uint64_t at = (uint64_t)key - (uint64_t)first;
  if (at >= size)
    return -1;
  return target::cas(table + at, (uint32_t)0, row + 1) == 0;
}

// rf_direct_find returns the row of a key, or -1.
//
// Cost: one random access
RF_PRIMITIVE int64_t rf_direct_find(const uint32_t *table, int64_t first, uint64_t size, int64_t key) {
  uint64_t at = (uint64_t)key - (uint64_t)first;
  return at < size ? (int64_t)table[at] - 1 : -1;
}
