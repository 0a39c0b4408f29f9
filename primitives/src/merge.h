// Merging of two ascending arrays of words by merge path (Green, McColl and
// Bader, "GPU merge path", 2012): where the merge of two arrays is cut is found
// by a search along a diagonal, so that blocks and threads get equal parts. Of
// equal words, those of a come first.

#pragma once

#include "search.h"

namespace merge {

// split returns how many of the first diagonal outputs come from a.
RF_HELPER int64_t split(const int64_t *a, int64_t na, const int64_t *b, int64_t nb, int64_t diagonal) {
  int64_t lo = diagonal > nb ? diagonal - nb : 0;
  int64_t hi = diagonal < na ? diagonal : na;
  return search::lower(lo, hi, [=](int64_t i) RF_LAMBDA { return a[i] <= b[diagonal - 1 - i]; });
}

} // namespace merge

// rf_merge_split returns how many of the first outputs of the merge, diagonal in
// number, come from a; the others come from b.
//
// Cost: log2(diagonal) dependent accesses to each array
RF_PRIMITIVE int64_t rf_merge_split(const int64_t *a, int64_t na, const int64_t *b, int64_t nb, int64_t diagonal) {
  return merge::split(a, na, b, nb, diagonal);
}

// rf_block_merge gives the tile's items the outputs from first on of the merge
// of a and b, and their sources: the entry of a, or na plus the entry of b. It
// returns the number of rows the tile has.
//
// Phases: 1 two threads cut at the tile's ends; 2 both parts to scratch; 3 each thread cuts its own outputs and merges them; 4 words and sources through scratch into the tile's order
// Barriers: 7
// Scratch: 16 + 8 * tile
// Cost: 2 accesses to each array's part; log2(tile) + 2 * items shared ones a thread
RF_PRIMITIVE int32_t rf_block_merge(int64_t *words, int64_t *sources, const int64_t *a, int64_t na,
                                    const int64_t *b, int64_t nb, int64_t first, void *scratch, int32_t threads,
                                    int32_t items) {
  int64_t rest = na + nb - first;
  int32_t rows = rest < threads * items ? (int32_t)rest : threads * items;
  if (threads == 1) {
    int64_t i = merge::split(a, na, b, nb, first), j = first - i;
    for (int32_t k = 0; k < rows; k++) {
      bool from_a = i < na && (j == nb || a[i] <= b[j]);
      words[k] = from_a ? a[i] : b[j];
      sources[k] = from_a ? i++ : na + j++;
    }
    return rows;
  }
  int64_t *cuts = (int64_t *)scratch, *shared = cuts + 2;
  int32_t t = target::thread();
  if (t < 2)
    cuts[t] = merge::split(a, na, b, nb, t == 0 ? first : first + rows);
  target::barrier();
  int64_t a_from = cuts[0], b_from = first - a_from;
  int32_t a_rows = (int32_t)(cuts[1] - a_from), b_rows = rows - a_rows;
  for (int32_t i = t; i < rows; i += threads)
    shared[i] = i < a_rows ? a[a_from + i] : b[b_from + i - a_rows];
  target::barrier();
  int32_t at = t * items < rows ? t * items : rows;
  const int64_t *pa = shared, *pb = shared + a_rows;
  int32_t i = (int32_t)merge::split(pa, a_rows, pb, b_rows, at), j = at - i;
  RF_UNROLL
  for (int32_t k = 0; k < items; k++) {
    words[k] = sources[k] = 0;
    if (at + k < rows) {
      bool from_a = i < a_rows && (j == b_rows || pa[i] <= pb[j]);
      words[k] = from_a ? pa[i] : pb[j];
      sources[k] = from_a ? a_from + i++ : na + b_from + j++;
    }
  }
  target::barrier();
  // Each thread holds consecutive outputs; the tile's order is another one.
  RF_UNROLL
  for (int32_t pass = 0; pass < 2; pass++) {
    int64_t *items_of = pass == 0 ? words : sources;
    RF_UNROLL
    for (int32_t k = 0; k < items; k++)
      shared[t * items + k] = items_of[k];
    target::barrier();
    RF_UNROLL
    for (int32_t k = 0; k < items; k++)
      items_of[k] = shared[tile::row(k, threads)];
    target::barrier();
  }
  return rows;
}
