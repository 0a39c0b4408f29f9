// A radix sort, pass by pass. It is a module of its own: few programs sort, and the
// driver takes a while to compile it.

#pragma once

#include "grid.h"

#include "../../src/lookback.h"
#include "../../src/scan.h"
#include "../../src/tile.h"

// Keys of 32 bits with payloads of 32 bits take one kernel a pass, and one that counts
// for all passes before ("Onesweep": Adinetz and Merrill, 2022).

//
// What limits a pass is the second-level cache, which takes a tile's pairs as runs of a
// digit: pairs that lie together make half as many runs, of twice the length, as keys and
// payloads apart.

enum {
  DIGITS = 256, // of a pass: 8 bits
  PAIR_ITEMS = 32, PAIR_TILE = THREADS * PAIR_ITEMS, PAIR_PASSES = 4, PAIR_WINDOW = 8,
  // The pairs of a tile in the order of digits, and the counters of its warps.
  PAIR_SHARED = 8 * PAIR_TILE + 4 * THREADS / target::WARP * DIGITS,
};

// rf_pairs_count adds the digits of n keys, of all passes, to counts[pass * 256 +
// digit]. With together, every other key belongs to the passes from PAIR_PASSES on.
RF_KERNEL(rf_pairs_count, 8)(const uint32_t *keys, int64_t n, int64_t together, uint64_t *counts) {
  enum { ITEMS = 16, TILE = THREADS * ITEMS, HALF = PAIR_PASSES * DIGITS, ALL = 2 * HALF };
  RF_SHARED(shared, 4 * ALL);
  uint32_t *found = (uint32_t *)shared;
  int32_t t = target::thread();
  for (int32_t d = t; d < ALL; d += THREADS)
    found[d] = 0;
  uint32_t *others = found + (together ? HALF : 0);
  target::barrier();
  // A block adds less than 2^32 keys, as there are no more.
  for (int64_t start = grid::block() * TILE; start < n; start += grid::blocks() * TILE) {
    uint32_t key[ITEMS];
    int32_t rows = grid::rows(n, start, TILE);
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k += 4) {
      int32_t r = k * THREADS + 4 * t;
      if (r + 4 <= rows) {
        target::load16(keys + start + r, key + k);
        continue;
      }
      RF_UNROLL
      for (int32_t j = 0; j < 4; j++)
        key[k + j] = r + j < rows ? keys[start + r + j] : 0;
    }
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++)
      if (k / 4 * 4 * THREADS + 4 * t + k % 4 < rows)
        RF_UNROLL
        for (int32_t pass = 0; pass < PAIR_PASSES; pass++)
          target::add((k % 2 ? others : found) + pass * DIGITS + (key[k] >> 8 * pass & (DIGITS - 1)), (uint32_t)1);
  }
  target::barrier();
  for (int32_t d = t; d < ALL; d += THREADS)
    if (found[d] != 0)
      target::add(counts + d, (uint64_t)found[d]);
}

namespace pairs {

// A tile's word for a digit: how many keys it has, or they and all before.
enum : uint32_t { VALUE = (1u << 30) - 1, AGGREGATE = 1u << 30, PREFIX = 2u << 30 };

// Pass is a pass of the sort: the number of the byte that is its digit, and the arrays.
// With upper, the byte is one of payloads, which lie together with keys.
struct Pass {
  uint32_t *keys_out, *payloads_out;
  const uint32_t *keys, *payloads;
  int32_t byte;
  bool upper;
  const uint64_t *counts;
  uint32_t *scratch;
};

// together reports whether payloads lie behind their keys, in the same array.
RF_HELPER bool together(const uint32_t *payloads) { return (uint64_t)payloads == 1; }

// Tile is what a block knows of its tile.
struct Tile {
  int64_t number, start;
  int32_t rows;
};

// before adds up what the tiles before have of the calling thread's digit. A window of
// words is read at once: with one read after the other, blocks would wait for nothing
// else.
RF_HELPER uint32_t before(const uint32_t *status, int64_t tile) {
  uint32_t sum = 0;
  bool found = tile == 0;
  for (int64_t p = tile - 1; !found; p -= PAIR_WINDOW) {
    const uint32_t *at = status + p * DIGITS;
    uint32_t seen[PAIR_WINDOW];
    RF_UNROLL
    for (int32_t j = 0; j < PAIR_WINDOW; j++)
      seen[j] = p >= j ? target::load(at - j * DIGITS) : (uint32_t)PREFIX;
    RF_UNROLL
    for (int32_t j = 0; j < PAIR_WINDOW; j++) {
      while (!found && seen[j] == 0) {
        target::relax();
        seen[j] = target::load(at - j * DIGITS);
      }
      sum += found ? 0 : seen[j] & VALUE;
      found |= (seen[j] & PREFIX) != 0;
    }
  }
  return sum;
}

// read reads the rows of a tile that are the calling thread's, from the first one on. Those
// past the end get the last digit, and are the last of it.
template <bool WHOLE>
RF_HELPER void read(const Pass &p, int64_t first, int32_t rows, uint32_t *key, uint32_t *payload) {
  if (together(p.payloads)) {
    RF_UNROLL
    for (int32_t k = 0; k < PAIR_ITEMS; k++) {
      int32_t r = k * target::WARP;
      uint32_t pair[2] = {~0u, ~0u};
      if (WHOLE || r < rows)
        target::load8(p.keys + 2 * (first + r), pair);
      key[k] = p.upper ? pair[1] : pair[0], payload[k] = p.upper ? pair[0] : pair[1];
    }
    return;
  }
  const uint32_t *keys = p.keys + first, *payloads = p.payloads + first;
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    int32_t r = k * target::WARP;
    key[k] = WHOLE || r < rows ? keys[r] : ~0u;
    payload[k] = (uint32_t)first + r;
    if (p.payloads && p.payloads_out && (WHOLE || r < rows))
      payload[k] = payloads[r];
  }
}

// move moves the rows of a tile; WHOLE says that it has all of them.
template <bool WHOLE>
RF_HELPER void move(const Pass &p, Tile tile, uint32_t *exchange, uint32_t *places, void *sums) {
  enum { WARPS = THREADS / target::WARP };
  uint32_t *counters = exchange + 2 * PAIR_TILE;
  int32_t t = target::thread(), lane = t % target::WARP, warp = t / target::WARP;
  int32_t first_row = warp * PAIR_ITEMS * target::WARP + lane, byte = p.byte;
  uint32_t *status = p.scratch + 2 + t;
  uint32_t key[PAIR_ITEMS], payload[PAIR_ITEMS];
  read<WHOLE>(p, tile.start + first_row, tile.rows - first_row, key, payload);
  RF_UNROLL
  for (int32_t w = 0; w < WARPS; w++)
    counters[w * DIGITS + t] = 0;
  target::barrier();
  uint32_t *counter = counters + warp * DIGITS;
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++)
    target::add(counter + target::byte(key[k], byte), (uint32_t)1);
  target::barrier();
  uint32_t sum = 0;
  RF_UNROLL
  for (int32_t w = 0; w < WARPS; w++) {
    uint32_t of_warp = counters[w * DIGITS + t];
    counters[w * DIGITS + t] = sum;
    sum += of_warp;
  }
  target::store(status + tile.number * DIGITS, sum | (tile.number == 0 ? PREFIX : AGGREGATE));
  // One scan for two sums: that of the tile's counts, and that of the counts of all keys.
  uint64_t all;
  uint64_t both = scan::exclusive<scan::Sum>(p.counts[byte * DIGITS + t] << 32 | sum, (uint64_t)0, &all, sums, THREADS);
  uint32_t first = (uint32_t)both, base = (uint32_t)(both >> 32);
  RF_UNROLL
  for (int32_t w = 0; w < WARPS; w++)
    counters[w * DIGITS + t] += first;
  target::barrier();
  // The assembler does not know that these are the same as before. It would keep the
  // addresses of all counters in registers.
  byte = (int32_t)target::shuffle((uint32_t)byte, 0);
  counter = counters + (int32_t)target::shuffle((uint32_t)warp, 0) * DIGITS;
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    uint32_t digit = target::byte(key[k], byte), peers = target::match_byte(digit);
    uint32_t below = peers & target::lanes_below(lane);
    uint32_t seen = target::load(counter + digit);
    target::warp_barrier();
    if (below == 0)
      target::store(counter + digit, seen + __builtin_popcount(peers));
    target::warp_barrier();
    uint32_t pair[2] = {key[k], payload[k]};
    target::store8(exchange + 2 * (seen + __builtin_popcount(below)), pair);
  }
  uint32_t sooner = before(status, tile.number);
  if (tile.number > 0)
    target::store(status + tile.number * DIGITS, (sooner + sum) | PREFIX);
  places[t] = base + sooner - first;
  target::barrier();
  bool at_once = together(p.payloads_out);
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    int32_t r = k * THREADS + t;
    uint32_t pair[2];
    target::load8(exchange + 2 * r, pair);
    uint32_t to = places[target::byte(pair[0], byte)] + (uint32_t)r;
    if (!WHOLE && r >= tile.rows)
      continue;
    if (p.upper) {
      uint32_t key = pair[0];
      pair[0] = pair[1], pair[1] = key;
    }
    if (at_once) {
      target::store8(p.keys_out + 2 * (uint64_t)to, pair);
      continue;
    }
    if (p.keys_out)
      p.keys_out[to] = pair[0];
    if (p.payloads_out)
      p.payloads_out[to] = pair[1];
  }
}

} // namespace pairs

// rf_pairs_move moves n < 2^30 keys and payloads, the numbers of their rows where that
// is 0, to their places by the digit key >> shift modulo 256. Where payloads or
// payloads_out is 1, payloads lie behind their keys, in the array of these; where
// payloads_out is 0, keys go alone, and payloads where keys_out is. With a shift from 32 on, the digit is payload >> shift -
// 32, and payloads lie behind their keys. counts are those of rf_pairs_count, scratch a ticket of
// two words and 256 words a tile, all zero.
//
// Phases: 1 count digits in warps; 2 publish the tile's counts; 3 rank within warps, in
// which ballots bring lanes of a digit together, and put pairs in order of digits in
// shared memory; 4 look back for the counts of the tiles before; 5 write runs of a digit
RF_KERNEL(rf_pairs_move, 2)(uint32_t *keys_out, uint32_t *payloads_out, const uint32_t *keys,
                            const uint32_t *payloads, int64_t n, int64_t shift, const uint64_t *counts,
                            uint32_t *scratch) {
  RF_DYNAMIC(exchange, PAIR_SHARED);
  RF_SHARED(places, 4 * DIGITS);
  RF_SHARED(sums, 8 * THREADS / target::WARP);
  int64_t number = rf_block_ticket((int64_t *)scratch, sums, THREADS), start = number * PAIR_TILE;
  if (start >= n)
    return;
  pairs::Pass pass = {keys_out, payloads_out, keys, payloads, (int32_t)shift / 8 % PAIR_PASSES, shift >= 32, counts + shift / 32 * PAIR_PASSES * DIGITS, scratch};
  pairs::Tile tile = {number, start, grid::rows(n, start, PAIR_TILE)};
  if (tile.rows == PAIR_TILE)
    pairs::move<true>(pass, tile, (uint32_t *)exchange, (uint32_t *)places, sums);
  else
    pairs::move<false>(pass, tile, (uint32_t *)exchange, (uint32_t *)places, sums);
}
