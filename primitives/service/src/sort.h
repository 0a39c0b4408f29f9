// A radix sort, pass by pass. It is a module of its own: few programs sort, and the
// driver takes a while to compile it.

#pragma once

#include "grid.h"

#include "../../src/lookback.h"
#include "../../src/radix.h"

// A pass is rf_sort_count, an exclusive rf_scan of the counts, and
// rf_sort_scatter; ../../src/radix.h says how.
enum { SORT_ITEMS = 16, SORT_TILE = THREADS * SORT_ITEMS };

// rf_sort_count counts the digits key >> shift modulo 256 of each tile of n keys.
RF_KERNEL(rf_sort_count, 4)(const uint64_t *keys, int64_t n, int64_t shift, uint64_t *counts) {
  RF_SHARED(scratch, 4 * radix::DIGITS);
  int64_t tiles = grid::tiles(n, SORT_TILE);
  for (int64_t tile = grid::block(); tile < tiles; tile += grid::blocks())
    rf_radix_histogram(counts, keys, tile * SORT_TILE, grid::rows(n, tile * SORT_TILE, SORT_TILE), (int32_t)shift,
                       tile, tiles, scratch, THREADS, SORT_ITEMS);
}

// rf_sort_scatter moves keys, and payloads where that is not 0, to their places by
// the digit.
RF_KERNEL(rf_sort_scatter, 2)(uint64_t *keys_out, uint64_t *payloads_out, const uint64_t *keys,
                              const uint64_t *payloads, const uint64_t *counts, int64_t n, int64_t shift) {
  enum { WARPS = THREADS / target::WARP };
  RF_SHARED(scratch, (4 * WARPS + 8) * radix::DIGITS + 8 * SORT_TILE + 8 * WARPS);
  int64_t tiles = grid::tiles(n, SORT_TILE);
  for (int64_t tile = grid::block(); tile < tiles; tile += grid::blocks())
    rf_radix_scatter(keys_out, payloads_out, keys, payloads, counts, tile * SORT_TILE,
                     grid::rows(n, tile * SORT_TILE, SORT_TILE), (int32_t)shift, tile, tiles, scratch, THREADS,
                     SORT_ITEMS);
}

// Keys of 32 bits with payloads of 32 bits take one kernel a pass, and one that counts
// for all passes before ("Onesweep": Adinetz and Merrill, 2022).

enum { PAIR_ITEMS = 32, PAIR_TILE = THREADS * PAIR_ITEMS, PAIR_PASSES = 4, PAIR_WINDOW = 8 };

// rf_pairs_count adds the digits of n keys, of all passes, to counts[pass * 256 +
// digit].
RF_KERNEL(rf_pairs_count, 8)(const uint32_t *keys, int64_t n, uint64_t *counts) {
  enum { ITEMS = 16, TILE = THREADS * ITEMS, ALL = PAIR_PASSES * radix::DIGITS };
  RF_SHARED(shared, 4 * ALL);
  uint32_t *found = (uint32_t *)shared;
  int32_t t = target::thread();
  for (int32_t d = t; d < ALL; d += THREADS)
    found[d] = 0;
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
          target::add(found + pass * radix::DIGITS + (key[k] >> 8 * pass & (radix::DIGITS - 1)), (uint32_t)1);
  }
  target::barrier();
  for (int32_t d = t; d < ALL; d += THREADS)
    if (found[d] != 0)
      target::add(counts + d, (uint64_t)found[d]);
}

namespace pairs {

// A tile's word for a digit: how many keys it has, or they and all before.
enum : uint32_t { VALUE = (1u << 30) - 1, AGGREGATE = 1u << 30, PREFIX = 2u << 30 };

} // namespace pairs

namespace pairs {

// Tile is what a block knows of its tile.
struct Tile {
  int64_t number, start;
  int32_t rows;
};

// again is v, of which the compiler does not know that it is: what was made of it
// before is then made anew, and not kept in a register.
RF_HELPER uint32_t again(uint32_t v) {
  __asm__ volatile("" : "+r"(v));
  return v;
}

RF_HELPER uint32_t digit(uint32_t key, int32_t shift) { return key >> shift & (radix::DIGITS - 1); }

// Ranks are numbers of 16 bits, two in a register.
struct Ranks {
  uint32_t pair[PAIR_ITEMS / 2];

  RF_MEMBER void set(int32_t k, uint32_t rank) {
    pair[k / 2] = k % 2 == 0 ? rank : pair[k / 2] | rank << 16;
  }
  RF_MEMBER uint32_t get(int32_t k) const { return k % 2 == 0 ? pair[k / 2] & 0xffff : pair[k / 2] >> 16; }
};

// move moves the rows of a tile; WHOLE says that it has all of them.
template <bool WHOLE>
RF_HELPER void move(uint32_t *keys_out, uint32_t *payloads_out, const uint32_t *keys, const uint32_t *payloads,
                    int32_t shift, const uint64_t *counts, uint32_t *scratch, Tile tile, uint32_t *exchange,
                    uint32_t *places, void *sums) {
  enum { WARPS = THREADS / target::WARP };
  static_assert(2 * WARPS * radix::DIGITS <= PAIR_TILE, "counters and masks fit where keys are exchanged");
  uint32_t *counters = exchange, *lanes_of = exchange + WARPS * radix::DIGITS;
  int32_t t = target::thread(), lane = t % target::WARP, warp = t / target::WARP;
  int32_t first_row = warp * PAIR_ITEMS * target::WARP + lane;
  uint32_t *status = scratch + 2 + tile.number * radix::DIGITS + t;
  uint32_t key[PAIR_ITEMS];
  pairs::Ranks ranks;
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    // Rows past the end get the last digit, and are the last of it.
    int32_t r = first_row + k * target::WARP;
    key[k] = WHOLE || r < tile.rows ? keys[tile.start + r] : ~0u;
  }
  RF_UNROLL
  for (int32_t w = 0; w < 2 * WARPS; w++)
    counters[w * radix::DIGITS + t] = 0;
  target::barrier();
  uint32_t *counter = counters + warp * radix::DIGITS, *mine = lanes_of + warp * radix::DIGITS;
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++)
    target::add(counter + pairs::digit(key[k], shift), (uint32_t)1);
  target::barrier();
  uint32_t sum = 0;
  RF_UNROLL
  for (int32_t w = 0; w < WARPS; w++) {
    uint32_t of_warp = counters[w * radix::DIGITS + t];
    counters[w * radix::DIGITS + t] = sum;
    sum += of_warp;
  }
  target::store(status, sum | (tile.number == 0 ? pairs::PREFIX : pairs::AGGREGATE));
  uint32_t all;
  uint32_t first = scan::exclusive<scan::Sum>(sum, (uint32_t)0, &all, sums, THREADS);
  uint32_t base = scan::exclusive<scan::Sum>((uint32_t)counts[shift / 8 * radix::DIGITS + t], (uint32_t)0, &all, sums, THREADS);
  RF_UNROLL
  for (int32_t w = 0; w < WARPS; w++)
    counters[w * radix::DIGITS + t] += first;
  target::barrier();
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    key[k] = again(key[k]);
    uint32_t d = pairs::digit(key[k], shift);
    target::either(mine + d, 1u << lane);
    target::warp_barrier();
    uint32_t peers = target::load(mine + d);
    int32_t leader = __builtin_ctz(peers);
    uint32_t seen = 0;
    if (lane == leader) {
      seen = counter[d];
      counter[d] = seen + __builtin_popcount(peers);
    }
    // All lanes have read the mask when they meet here.
    ranks.set(k, target::shuffle(seen, leader) + __builtin_popcount(peers & target::lanes_below(lane)));
    if (lane == leader)
      mine[d] = 0;
    target::warp_barrier();
  }
  // A window of words is read at once: with one read after the other, blocks would
  // wait for nothing else.
  uint32_t before = 0;
  bool found = tile.number == 0;
  for (int64_t p = tile.number - 1; !found; p -= PAIR_WINDOW) {
    const uint32_t *at = scratch + 2 + p * radix::DIGITS + t;
    uint32_t seen[PAIR_WINDOW];
    RF_UNROLL
    for (int32_t j = 0; j < PAIR_WINDOW; j++)
      seen[j] = p >= j ? target::load(at - j * radix::DIGITS) : (uint32_t)pairs::PREFIX;
    RF_UNROLL
    for (int32_t j = 0; j < PAIR_WINDOW; j++) {
      while (!found && seen[j] == 0) {
        target::relax();
        seen[j] = target::load(at - j * radix::DIGITS);
      }
      before += found ? 0 : seen[j] & pairs::VALUE;
      found |= (seen[j] & pairs::PREFIX) != 0;
    }
  }
  if (tile.number > 0)
    target::store(status, (before + sum) | pairs::PREFIX);
  places[t] = base + before - first;
  target::barrier();
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++)
    exchange[ranks.get(k)] = key[k];
  uint32_t payload[PAIR_ITEMS];
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    int32_t r = first_row + k * target::WARP;
    payload[k] = (uint32_t)(tile.start + r);
    if (payloads && (WHOLE || r < tile.rows))
      payload[k] = payloads[tile.start + r];
  }
  target::barrier();
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    int32_t p = k * THREADS + t;
    uint32_t moved = exchange[p];
    // From here on, key holds where the row goes.
    key[k] = places[pairs::digit(moved, shift)] + (uint32_t)p;
    if (WHOLE || p < tile.rows)
      keys_out[key[k]] = moved;
  }
  target::barrier();
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++)
    exchange[ranks.get(k)] = payload[k];
  target::barrier();
  RF_UNROLL
  for (int32_t k = 0; k < PAIR_ITEMS; k++) {
    int32_t p = k * THREADS + t;
    if (WHOLE || p < tile.rows)
      payloads_out[key[k]] = exchange[p];
  }
}

} // namespace pairs

// rf_pairs_move moves n < 2^30 keys and payloads, the numbers of their rows where that
// is 0, to their places by the digit key >> shift modulo 256. counts are those of
// rf_pairs_count, scratch a ticket of two words and 256 words a tile, all zero.
//
// Phases: 1 count digits in warps; 2 publish the tile's counts; 3 rank within warps, by
// shared atomics that bring lanes of a digit together; 4 look back for the counts of
// the tiles before; 5 keys, then payloads, in order of digits through shared memory
RF_KERNEL(rf_pairs_move, 2)(uint32_t *keys_out, uint32_t *payloads_out, const uint32_t *keys,
                            const uint32_t *payloads, int64_t n, int64_t shift, const uint64_t *counts,
                            uint32_t *scratch) {
  RF_SHARED(exchange, 4 * PAIR_TILE);
  RF_SHARED(places, 4 * radix::DIGITS);
  RF_SHARED(sums, 8 * THREADS / target::WARP);
  int64_t number = rf_block_ticket((int64_t *)scratch, sums, THREADS), start = number * PAIR_TILE;
  if (start >= n)
    return;
  pairs::Tile tile = {number, start, grid::rows(n, start, PAIR_TILE)};
  if (tile.rows == PAIR_TILE)
    pairs::move<true>(keys_out, payloads_out, keys, payloads, (int32_t)shift, counts, scratch, tile,
                      (uint32_t *)exchange, (uint32_t *)places, sums);
  else
    pairs::move<false>(keys_out, payloads_out, keys, payloads, (int32_t)shift, counts, scratch, tile,
                       (uint32_t *)exchange, (uint32_t *)places, sums);
}
