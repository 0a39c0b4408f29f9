// The service kernels: what a GPU runtime needs beside woven kernels, to make
// tables, to make larger ones of them, and to sum up.

#pragma once

#include "grid.h"

#include "../../src/lookback.h"
#include "../../src/rowset.h"
#include "../../src/set64.h"

namespace service {

// skew is the number of words, 0 or 1, from the last 16-byte boundary to p. An
// array is taken as starting at that boundary, so that whole tiles of it are moved
// by accesses of 16 bytes; its first tile, like its last one, may be partial.
RF_HELPER int64_t skew(const uint64_t *p) { return (int64_t)((uintptr_t)p / 8 & 1); }

} // namespace service

namespace service {

// state is a word of the states of a launch's blocks, which abi.Entry.Start writes: of
// words words each; more than 3 if there are expansions, whose tiles are of tile rows.
// Each tile is worked on by sharing blocks.
RF_HELPER uint64_t state(int64_t i, int64_t blocks, int64_t words, int64_t tiles, int64_t sharing, int64_t tile) {
  int64_t teams = blocks / sharing, block = i / words, word = i - block * words;
  int64_t team = block / sharing, output = (block - team * sharing) * tile;
  if (word == 0)
    return (uint64_t)(team < teams ? team : tiles);
  if (word == 1)
    return (uint64_t)tiles;
  if (word == 2)
    return (uint64_t)teams;
  if (word == words - 1)
    return (uint64_t)(sharing * tile);
  return word == 3 || word == words - 2 ? (uint64_t)output : 0;
}

} // namespace service

// rf_states starts a launch: it writes the states of its blocks.
RF_KERNEL(rf_states, 8)(uint64_t *states, int64_t blocks, int64_t words, int64_t tiles, int64_t sharing, int64_t tile) {
  for (int64_t i = grid::block() * THREADS + target::thread(); i < blocks * words; i += grid::blocks() * THREADS)
    states[i] = service::state(i, blocks, words, tiles, sharing, tile);
}

// rf_states_of writes the states of count launches. Each is rf_states' parameters, in
// the same order.
RF_KERNEL(rf_states_of, 4)(const int64_t *launches, int64_t count) {
  for (int64_t l = grid::block(); l < count; l += grid::blocks()) {
    const int64_t *p = launches + 6 * l;
    uint64_t *states = (uint64_t *)grid::global<uint64_t>(p[0]);
    int64_t blocks = p[1], words = p[2], tiles = p[3], sharing = p[4], tile = p[5];
    for (int64_t i = target::thread(); i < blocks * words; i += THREADS)
      states[i] = service::state(i, blocks, words, tiles, sharing, tile);
  }
}

enum { FILL_ITEMS = 8 };

// rf_fill sets n words to value.
RF_KERNEL(rf_fill, 8)(uint64_t *to, int64_t n, uint64_t value) {
  enum { TILE = THREADS * FILL_ITEMS };
  int64_t first = service::skew(to), until = n + first;
  uint64_t *words = to - first;
  uint32_t twice[4] = {(uint32_t)value, (uint32_t)(value >> 32), (uint32_t)value, (uint32_t)(value >> 32)};
  for (int64_t start = grid::block() * TILE; start < until; start += grid::blocks() * TILE) {
    int32_t t = target::thread();
    if (start >= first && start + TILE <= until) {
      RF_UNROLL
      for (int32_t k = 0; k < FILL_ITEMS / 2; k++)
        target::store16(words + start + 2 * (k * THREADS + t), twice);
      continue;
    }
    for (int64_t w = start + t; w < start + TILE && w < until; w += THREADS)
      if (w >= first)
        words[w] = value;
  }
}

// A warp scans SCAN_ITEMS / 4 chunks of 128 words, each lane having 4 that follow
// each other.
enum { SCAN_ITEMS = 16, SCAN_CHUNK = 4 * target::WARP };

// rf_scan replaces n words by their running sums, which with inclusive = 0 leave
// a word's own value out. Words are at least 0, their sum is below 2^62.
//
// It is one pass with decoupled look-back (Merrill and Garland, 2016), by as many
// blocks as there are tiles. Scratch is a ticket counter, a counter of blocks that
// have looked back, and a status for each tile; it is zero at first, and the last
// block to look back leaves it so.
RF_KERNEL(rf_scan, 4)(uint64_t *counts, int64_t n, int64_t inclusive, uint64_t *scratch) {
  enum { WARPS = THREADS / target::WARP, CHUNKS = SCAN_ITEMS / 4, TILE = THREADS * SCAN_ITEMS };
  RF_SHARED(shared_sums, 8 * WARPS);
  RF_SHARED(shared, 8);
  int32_t t = target::thread(), lane = target::lane(THREADS), warp = target::warp(THREADS);
  int64_t first = service::skew(counts), until = n + first, tiles = grid::tiles(until, TILE);
  uint64_t *words = counts - first;
  int64_t tile = rf_block_ticket((int64_t *)scratch, shared, THREADS);
  int64_t start = tile * TILE + warp * (TILE / WARPS) + lane * 4;
  bool whole = tile * TILE >= first && (tile + 1) * TILE <= until;

  // sum[4 * c + j] becomes the sum of words 0 to j of the thread's in chunk c,
  // before[c] that of the warp's before those.
  uint64_t sum[SCAN_ITEMS], before[CHUNKS];
  if (whole) {
    RF_UNROLL
    for (int32_t c = 0; c < CHUNKS; c++)
      tile::load4(words + start + c * SCAN_CHUNK, sum + 4 * c);
  } else {
    RF_UNROLL
    for (int32_t i = 0; i < SCAN_ITEMS; i++) {
      int64_t w = start + i / 4 * SCAN_CHUNK + i % 4;
      sum[i] = w >= first && w < until ? words[w] : 0;
    }
  }
  uint64_t of_warp = 0;
  RF_UNROLL
  for (int32_t c = 0; c < CHUNKS; c++) {
    RF_UNROLL
    for (int32_t j = 1; j < 4; j++)
      sum[4 * c + j] += sum[4 * c + j - 1];
    uint64_t upto = scan::inclusive<scan::Sum>(sum[4 * c + 3], lane, target::WARP);
    before[c] = of_warp + upto - sum[4 * c + 3];
    of_warp += target::from_lane(upto, target::WARP - 1);
  }
  uint64_t *sums = (uint64_t *)shared_sums;
  if (lane == 0)
    sums[warp] = of_warp;
  target::barrier();
  uint64_t of_tile = 0, earlier = 0;
  RF_UNROLL
  for (int32_t w = 0; w < WARPS; w++) {
    earlier += w < warp ? sums[w] : 0;
    of_tile += sums[w];
  }
  // Where there are no words, a block still is.
  if (tile < tiles)
    earlier += (uint64_t)rf_block_lookback(scratch + 2, tile, (int64_t)of_tile, shared, THREADS);

  // The barrier that ends the look-back has all its reads come before this.
  if (t == 0) {
    target::fence();
    *(uint64_t *)shared = target::add(scratch + 1, (uint64_t)1) + 1;
    target::fence();
  }
  RF_UNROLL
  for (int32_t c = 0; c < CHUNKS; c++) {
    uint64_t base = before[c] + earlier, out[4];
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      out[j] = base + (inclusive ? sum[4 * c + j] : j > 0 ? sum[4 * c + j - 1] : 0);
    if (whole) {
      tile::store4(words + start + c * SCAN_CHUNK, out);
      continue;
    }
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      int64_t w = start + c * SCAN_CHUNK + j;
      if (w >= first && w < until)
        words[w] = out[j];
    }
  }
  target::barrier();
  if (*(uint64_t *)shared == (uint64_t)grid::blocks())
    for (int64_t w = t; w < tiles + 2; w += THREADS)
      scratch[w] = 0;
}

namespace service {

// seat puts the words of a thread's items, 0 for none, into a table. at has the
// items' home slots and gets the slots that they found.
//
// Home slots and their neighbours are free for the most part, so that exchanges do
// not look there first. Beyond them runs are long, and are read, several slots with
// one access. What is read may be old: another thread's word is seen by the exchange.
template <int32_t ITEMS>
RF_HELPER void seat(uint64_t *slots, uint64_t mask, const uint64_t *words, uint64_t *at) {
  uint64_t seen[ITEMS];
  RF_UNROLL
  for (int32_t k = 0; k < ITEMS; k++)
    seen[k] = words[k] != 0 ? target::cas(slots + at[k], (uint64_t)0, words[k]) : 0;
  RF_UNROLL
  for (int32_t k = 0; k < ITEMS; k++)
    for (bool near = true; seen[k] != 0 && seen[k] != words[k]; near = false) {
      at[k] = (at[k] + 1) & mask;
      seen[k] = near ? 0 : slots[at[k]];
      if (seen[k] == 0)
        seen[k] = target::cas(slots + at[k], (uint64_t)0, words[k]);
    }
}

} // namespace service

enum { REHASH_ITEMS = 4 };

// rf_rehash enters the keys of an rf_set64 into a zeroed one that has at least as
// many slots. Where moved is not 0, it gets for each of the from_mask + 2 slots the
// key's slot in the new set, or -1 for a free slot.
//
// The low bits of a key's home do not change, so that keys which follow each other
// go to as many runs of neighbours as the new set is larger.
RF_KERNEL(rf_rehash, 4)(const uint64_t *from, uint64_t from_mask, uint64_t *to, uint64_t to_mask, int64_t *moved) {
  enum { TILE = THREADS * REHASH_ITEMS };
  int32_t t = target::thread();
  int64_t slots = (int64_t)from_mask + 1;
  for (int64_t start = grid::block() * TILE; start < slots; start += grid::blocks() * TILE) {
    uint64_t key[REHASH_ITEMS], at[REHASH_ITEMS];
    RF_UNROLL
    for (int32_t k = 0; k < REHASH_ITEMS; k++) {
      int64_t slot = start + k * THREADS + t;
      key[k] = slot < slots ? from[slot] : 0;
    }
    RF_UNROLL
    for (int32_t k = 0; k < REHASH_ITEMS; k++)
      at[k] = rf_hash64(key[k]) & to_mask;
    service::seat<REHASH_ITEMS>(to, to_mask, key, at);
    if (!moved)
      continue;
    RF_UNROLL
    for (int32_t k = 0; k < REHASH_ITEMS; k++) {
      int64_t slot = start + k * THREADS + t;
      if (slot < slots)
        moved[slot] = key[k] != 0 ? (int64_t)at[k] : -1;
    }
  }
  if (grid::block() == 0 && t == 0) {
    uint64_t zero = from[slots];
    to[to_mask + 1] = zero;
    if (moved)
      moved[slots] = zero != 0 ? (int64_t)to_mask + 1 : -1;
  }
}

// rf_extents writes the extents (extents.h) of n numbers, whose rows follow each other, and
// which have no room for more: begins has n + 1 words.
RF_KERNEL(rf_extents, 4)(const uint64_t *begins, int64_t n, uint64_t *extents) {
  for (int64_t i = grid::block() * THREADS + target::thread(); i < n; i += grid::blocks() * THREADS) {
    uint64_t begin = begins[i], end = begins[i + 1];
    extents[2 * i] = begin | end << 32;
    extents[2 * i + 1] = end;
  }
}

enum { MOVE_ITEMS = 4, MOVE_SLOTS = 1024 };

// rf_move copies the cells, of words words each, of slots slots to where moved
// has the slots go; -1 is nowhere.
RF_KERNEL(rf_move, 6)(const int64_t *moved, int64_t slots, int64_t words, const uint64_t *from, uint64_t *to) {
  for (int64_t start = grid::block() * MOVE_SLOTS; start < slots; start += grid::blocks() * MOVE_SLOTS) {
    // A tile's words are numbered with 32 bits, whose division costs little.
    uint32_t each = (uint32_t)words, count = (uint32_t)grid::rows(slots, start, MOVE_SLOTS) * each;
    for (uint32_t first = (uint32_t)target::thread(); first < count; first += THREADS * MOVE_ITEMS) {
      int64_t place[MOVE_ITEMS];
      uint64_t word[MOVE_ITEMS];
      RF_UNROLL
      for (int32_t k = 0; k < MOVE_ITEMS; k++) {
        uint32_t i = first + k * THREADS, slot = each == 1 ? i : i / each;
        int64_t target = i < count ? moved[start + slot] : -1;
        place[k] = target < 0 ? -1 : target * words + (i - slot * each);
        word[k] = target < 0 ? 0 : from[start * words + i];
      }
      RF_UNROLL
      for (int32_t k = 0; k < MOVE_ITEMS; k++)
        if (place[k] >= 0)
          to[place[k]] = word[k];
    }
  }
}

enum { ROWSET_ITEMS = 4 };

// rf_rowset enters rows 0 to rows - 1 of width columns of words, no two rows equal,
// into a zeroed row set.
RF_KERNEL(rf_rowset, 5)(uint64_t *slots, uint64_t mask, const int64_t *columns, int64_t width, int64_t rows) {
  enum { TILE = THREADS * ROWSET_ITEMS };
  int32_t t = target::thread();
  for (int64_t start = grid::block() * TILE; start < rows; start += grid::blocks() * TILE) {
    uint64_t hash[ROWSET_ITEMS], word[ROWSET_ITEMS];
    RF_UNROLL
    for (int32_t k = 0; k < ROWSET_ITEMS; k++)
      hash[k] = 0;
    for (int64_t c = 0; c < width; c++) {
      const uint64_t *column = grid::global<uint64_t>(columns[c]);
      RF_UNROLL
      for (int32_t k = 0; k < ROWSET_ITEMS; k++) {
        int64_t row = start + k * THREADS + t;
        word[k] = row < rows ? column[row] : 0;
      }
      RF_UNROLL
      for (int32_t k = 0; k < ROWSET_ITEMS; k++)
        hash[k] = c == 0 ? rf_hash64(word[k]) : rf_hash_combine(hash[k], word[k]);
    }
    RF_UNROLL
    for (int32_t k = 0; k < ROWSET_ITEMS; k++) {
      int64_t row = start + k * THREADS + t;
      uint64_t tag = hash[k] & ~(uint64_t)rowset::ROW_MASK;
      word[k] = row < rows ? tag | (uint64_t)row + rowset::FIRST_ROW : 0;
      hash[k] &= mask;
    }
    service::seat<ROWSET_ITEMS>(slots, mask, word, hash);
  }
}
