// Least-significant-digit radix sort of 64-bit keys with one 64-bit payload, 8
// bits a pass. A pass takes three kernels:
//
//   1 rf_radix_histogram for every tile, into counts[digit * tiles + tile];
//   2 counts replaced by its exclusive running sums (any device-wide scan);
//   3 rf_radix_scatter for every tile.
//
// It is stable. Items are taken striped over warps, not in the order of tiles:
// item i of lane l of warp w is row (w * items + i) * WARP + l, so that a warp
// ranks its rows in order. Ranking within a warp follows Ashkiani et al., "GPU
// multisplit" (2016): lanes of one digit find each other by a match.

#pragma once

#include "scan.h"
#include "tile.h"

namespace radix {

// On a GPU a thread has at most MOST_ITEMS items: they are kept in registers.
enum { DIGITS = 256, MOST_ITEMS = 32 };

RF_HELPER int32_t row(int32_t item, int32_t threads, int32_t items) {
  return threads == 1 ? item
                      : (target::warp(threads) * items + item) * target::WARP + target::lane(threads);
}

RF_HELPER uint32_t digit(uint64_t key, int32_t shift) { return (uint32_t)(key >> shift) & (DIGITS - 1); }

} // namespace radix

// rf_radix_histogram counts the digits, key >> shift modulo 256, of rows start
// to start + rows of keys, the rows of the given tile out of tiles.
//
// Phases: 1 clear; 2 count by shared atomics; 3 write the tile's column of counts
// Barriers: 3
// Scratch: 1024
// Cost: one access and one shared atomic an item, 256 writes of 8 bytes a tile
RF_PRIMITIVE void rf_radix_histogram(uint64_t *counts, const uint64_t *keys, int64_t start, int32_t rows,
                                     int32_t shift, int64_t tile, int64_t tiles, void *scratch, int32_t threads,
                                     int32_t items) {
  uint32_t *shared = (uint32_t *)scratch;
  int32_t t = threads == 1 ? 0 : target::thread();
  for (int32_t d = t; d < radix::DIGITS; d += threads)
    shared[d] = 0;
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t r = radix::row(i, threads, items);
    if (r < rows) {
      uint32_t *count = shared + radix::digit(keys[start + r], shift);
      if (threads == 1)
        ++*count;
      else
        target::add(count, (uint32_t)1);
    }
  }
  target::barrier();
  for (int32_t d = t; d < radix::DIGITS; d += threads)
    counts[(int64_t)d * tiles + tile] = shared[d];
  target::barrier();
}

// rf_radix_scatter moves the keys and payloads of a tile to their places by one
// digit, given the running sums of all tiles' counts. A null payload is none.
//
// Phases: 1 rank rows of equal digits within warps; 2 sum over warps and scan over digits; 3 keys, then payloads, to scratch in order of digits; 4 write runs of equal digits
// Barriers: 6 and those of a scan, 2 more with payloads; at most 32 items a thread and a power of two of threads on a GPU
// Scratch: 4 * 256 * warps + 8 * 256 + 8 * tile + 8 * warps
// Cost: items matches a thread; 2 accesses of 8 bytes a row and array
RF_PRIMITIVE void rf_radix_scatter(uint64_t *keys_out, uint64_t *payloads_out, const uint64_t *keys,
                                   const uint64_t *payloads, const uint64_t *counts, int64_t start, int32_t rows,
                                   int32_t shift, int64_t tile, int64_t tiles, void *scratch, int32_t threads,
                                   int32_t items) {
  int32_t warps = target::warps(threads), lane = target::lane(threads), warp = target::warp(threads);
  int32_t t = threads == 1 ? 0 : target::thread();
  // exchange holds the tile in order of digits; places[d] leads from there to
  // the output; below[w][d] counts the rows of a digit in earlier warps.
  uint64_t *exchange = (uint64_t *)scratch;
  uint64_t *places = exchange + threads * items;
  uint64_t *sums = places + radix::DIGITS;
  uint32_t *below = (uint32_t *)(sums + warps);

  // A CPU moves each row at once: it is the only one of its tile.
  if (threads == 1) {
    for (int32_t d = 0; d < radix::DIGITS; d++)
      places[d] = counts[(int64_t)d * tiles + tile];
    for (int32_t i = 0; i < rows; i++) {
      uint64_t key = keys[start + i];
      uint64_t to = places[radix::digit(key, shift)]++;
      keys_out[to] = key;
      if (payloads)
        payloads_out[to] = payloads[start + i];
    }
    return;
  }
  for (int32_t d = t; d < radix::DIGITS * warps; d += threads)
    below[d] = 0;
  target::barrier();
  uint32_t *counter = below + warp * radix::DIGITS;
  uint64_t key[radix::MOST_ITEMS];
  uint32_t rank[radix::MOST_ITEMS];
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    // Rows past the end get the last digit, and are the last of it.
    int32_t r = radix::row(i, threads, items);
    key[i] = r < rows ? keys[start + r] : ~(uint64_t)0;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    uint32_t d = radix::digit(key[i], shift);
    uint32_t peers = target::match_any(d);
    uint32_t seen = counter[d];
    rank[i] = seen + __builtin_popcount(peers & target::lanes_below(lane));
    target::warp_barrier();
    if (lane == __builtin_ctz(peers))
      counter[d] = seen + __builtin_popcount(peers);
    target::warp_barrier();
  }
  target::barrier();
  for (int32_t d = t; d < radix::DIGITS; d += threads) {
    uint32_t sum = 0;
    for (int32_t w = 0; w < warps; w++) {
      uint32_t count = below[w * radix::DIGITS + d];
      below[w * radix::DIGITS + d] = sum;
      sum += count;
    }
    places[d] = sum;
  }
  target::barrier();
  int32_t each = threads < radix::DIGITS ? radix::DIGITS / threads : 1;
  uint32_t mine = 0, all = 0;
  for (int32_t d = t * each; d < (t + 1) * each && d < radix::DIGITS; d++)
    mine += (uint32_t)places[d];
  uint32_t first = scan::exclusive<scan::Sum>(mine, (uint32_t)0, &all, sums, threads);
  for (int32_t d = t * each; d < (t + 1) * each && d < radix::DIGITS; d++) {
    uint32_t count = (uint32_t)places[d];
    for (int32_t w = 0; w < warps; w++)
      below[w * radix::DIGITS + d] += first;
    places[d] = counts[(int64_t)d * tiles + tile] - first;
    first += count;
  }
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    rank[i] += counter[radix::digit(key[i], shift)];
    exchange[rank[i]] = key[i];
  }
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t p = i * threads + t;
    uint64_t moved = exchange[p];
    // From here on, key holds where the item goes.
    key[i] = places[radix::digit(moved, shift)] + (uint64_t)p;
    if (p < rows)
      keys_out[key[i]] = moved;
  }
  target::barrier();
  if (!payloads)
    return;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t r = radix::row(i, threads, items);
    if (r < rows)
      exchange[rank[i]] = payloads[start + r];
  }
  target::barrier();
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t p = i * threads + t;
    if (p < rows)
      payloads_out[key[i]] = exchange[p];
  }
  target::barrier();
}
