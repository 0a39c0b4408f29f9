// Bit rows: an index whose keys have a bit for each value of a column instead of
// a list of rows. A join by them finds 64 matches at a time, and leaves out those
// that an earlier match has had the same tuple from.
//
// rows: the number of keys, 7 words of padding, and for each key a word and width
// more: where its bits begin and end, in words, as the lower and the upper half,
// and the bits.
// seen: the number of other parts of tuples, 7 words of padding, and for each of
// them width words, the bits of the values that have been found with it.

#pragma once

#include "tile.h"

// rf_bitrows_round gives the next items of an expansion by bit rows the row of
// the tile that they come from and the word that they found, and returns their
// number: at most items. It leaves out rows that are not live or out of range,
// and words that were seen, and marks the others as seen.
// Next is the row of the tile * width + the first word of bits to look at, and
// moves on; it is count * width when nothing is left. It is for one thread.
// Threads that share seen may find a word twice.
//
// Cost: 2 accesses and 3 operations for 64 bits, and 2 writes for each item
RF_PRIMITIVE int64_t rf_bitrows_round(int32_t *row, int64_t *words, int64_t *next, const int64_t *keys,
                                      const int64_t *rests, const uint8_t *live, const uint64_t *rows, uint64_t *seen,
                                      int64_t width, int64_t base, int64_t count, int32_t items) {
  int64_t n = 0, r = *next / width, at = *next % width;
  for (; r < count; r++, at = 0) {
    uint64_t key = (uint64_t)keys[r], rest = (uint64_t)rests[r];
    if (!live[r] || key >= rows[0] || rest >= seen[0])
      continue;
    const uint64_t *bits = rows + 8 + key * (uint64_t)(width + 1);
    int64_t from = (int64_t)(uint32_t)bits[0], until = (int64_t)(bits[0] >> 32);
    bits++;
    uint64_t *known = seen + 8 + rest * (uint64_t)width;
    if (at < from)
      at = from;
    while (at < until) {
      if (at + 4 <= until && ((bits[at] & ~known[at]) | (bits[at + 1] & ~known[at + 1]) |
                              (bits[at + 2] & ~known[at + 2]) | (bits[at + 3] & ~known[at + 3])) == 0) {
        at += 4;
        continue;
      }
      uint64_t before = target::load(known + at), fresh = bits[at] & ~before;
      if (fresh != 0) {
        uint64_t left = fresh;
        for (; left != 0 && n < items; left &= left - 1) {
          row[n] = (int32_t)r;
          words[n++] = base + 64 * at + __builtin_popcountll(~left & (left - 1));
        }
        target::store(known + at, before | (fresh & ~left));
        if (left != 0) {
          *next = r * width + at;
          return n;
        }
      }
      at++;
    }
  }
  *next = count * width;
  return n;
}
