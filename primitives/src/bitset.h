// Bit sets over dense keys: bit i is bit i % 32 of 32-bit word i / 32. Callers
// check that keys are in range.

#pragma once

#include "tile.h"

// rf_bitset_insert sets a bit and says whether it was clear. Of threads that set
// it at once exactly one is told so.
//
// Cost: one atomic
RF_PRIMITIVE int32_t rf_bitset_insert(uint32_t *words, uint64_t bit) {
  uint32_t flag = 1u << (bit % 32);
  return (target::either(words + bit / 32, flag) & flag) == 0;
}

// rf_bitset_insert_seldom is rf_bitset_insert for bits that are mostly set
// already: it looks before it writes. On an H200 it is the faster one for sets
// up to some 100 MB, and slower beyond.
//
// Cost: one read, and one atomic where the bit was clear
RF_PRIMITIVE int32_t rf_bitset_insert_seldom(uint32_t *words, uint64_t bit) {
  uint32_t flag = 1u << (bit % 32);
  if (target::load(words + bit / 32) & flag)
    return 0;
  return (target::either(words + bit / 32, flag) & flag) == 0;
}

// rf_bitset_contains returns a bit of a set that nobody writes.
//
// Cost: one access
RF_PRIMITIVE int32_t rf_bitset_contains(const uint32_t *words, uint64_t bit) {
  return words[bit / 32] >> (bit % 32) & 1;
}

// rf_tile_bitset_ballot writes the live flags of a tile as bits start to start +
// tile of a bit set; start is a multiple of 32, and so is items for one thread. It is how a
// filter's result is kept.
//
// Phases: 1 four bits a thread and chunk; 2 eight threads' bits meet in a word by shuffles
// Barriers: 0, but every warp calls it whole
// Cost: 3 shuffles and 1/8 access of 4 bytes a chunk
RF_PRIMITIVE void rf_tile_bitset_ballot(uint32_t *words, int64_t start, const uint8_t *live, int32_t threads,
                                        int32_t items) {
  if (threads == 1) {
    for (int32_t i = 0; i < items; i += 32) {
      uint32_t word = 0;
      for (int32_t j = 0; j < 32 && i + j < items; j++)
        word |= (uint32_t)live[i + j] << j;
      words[(start + i) / 32] = word;
    }
    return;
  }
  int32_t lane = target::lane(threads);
  RF_UNROLL
  for (int32_t c = 0; c < items; c += 4) {
    uint32_t word = 0;
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      word |= (uint32_t)live[c + j] << (lane % 8 * 4 + j);
    RF_UNROLL
    for (int32_t d = 1; d < 8; d *= 2)
      word |= target::from_partner(word, d);
    if (lane % 8 == 0)
      words[(start + tile::row(c, threads)) / 32] = word;
  }
}
