// Search in sorted columns, for ranges, merges and worst-case optimal joins.

#pragma once

#include "tile.h"

namespace search {

// lower is the number of leading entries in lo to hi for which before holds,
// plus lo: the loop halves without a branch on the data.
template <class F> RF_HELPER int64_t lower(int64_t lo, int64_t hi, F before) {
  int64_t n = hi - lo;
  while (n > 0) {
    int64_t half = n / 2;
    bool right = before(lo + half);
    lo = right ? lo + half + 1 : lo;
    n = right ? n - half - 1 : half;
  }
  return lo;
}

} // namespace search

// rf_lower_bound returns the first of the ascending entries from to until of a
// column that is not less than word, in the order of int64, or until.
//
// Cost: log2(until - from) dependent accesses
RF_PRIMITIVE int64_t rf_lower_bound(const void *column, int32_t width, int64_t base, int64_t step, int64_t from,
                                    int64_t until, int64_t word) {
  return search::lower(from, until, [=](int64_t i) RF_LAMBDA {
    return rf_column_word(column, width, base, step, i) < word;
  });
}

// rf_upper_bound returns the first of the ascending entries from to until of a
// column that is greater than word, or until.
//
// Cost: log2(until - from) dependent accesses
RF_PRIMITIVE int64_t rf_upper_bound(const void *column, int32_t width, int64_t base, int64_t step, int64_t from,
                                    int64_t until, int64_t word) {
  return search::lower(from, until, [=](int64_t i) RF_LAMBDA {
    return rf_column_word(column, width, base, step, i) <= word;
  });
}

// rf_seek is rf_lower_bound for a place that is probably near: it doubles its
// stride before it halves, as leapfrog joins want it (Veldhuizen, 2014).
//
// Cost: 2 log2(distance) dependent accesses
RF_PRIMITIVE int64_t rf_seek(const void *column, int32_t width, int64_t base, int64_t step, int64_t from,
                             int64_t until, int64_t word) {
  int64_t stride = 1;
  while (stride < until - from && rf_column_word(column, width, base, step, from + stride - 1) < word) {
    from += stride;
    stride *= 2;
  }
  int64_t end = until - from < stride ? until : from + stride;
  return rf_lower_bound(column, width, base, step, from, end, word);
}
