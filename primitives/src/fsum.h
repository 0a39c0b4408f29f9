// Exact sums of doubles: superaccumulators (Neal, "Fast Exact Summation Using
// Small and Large Superaccumulators", 2015). The result is the exact sum, rounded
// once, and so depends on no order of additions.
//
// A cell is 68 words, all zero at first:
//
//   word 0 to 65   digits: the sum is that of digit i * 2^(32 i - 1074), a fixed-point
//                  number in units of the least subnormal. Digits are signed and
//                  of 64 bits, so that no carry need be passed on: an addition changes
//                  three of them by less than 2^32 each.
//   word 66, 67    how many terms were +Inf and -Inf; NaN counts as both, and so as
//                  their sum
//
// Two cells are merged by adding their words. A digit overflows after 2^31
// additions at the earliest, those of merged cells taken together; whoever adds
// more passes carries on before, digit i + 1 += digit i >> 32, digit i &= 2^32 - 1,
// for all but the last.

#pragma once

#include "cells.h"

namespace fsum {

enum { DIGITS = 66, PLUS = 66, MINUS = 67 };

enum : uint64_t { FRACTION = (1ull << 52) - 1, INFINITE = 0x7ffull << 52, NOT_A_NUMBER = INFINITE | 1ull << 51 | 1 };

// Term is what a finite double adds to a sum: words to three digits from at on.
struct Term {
  int32_t at;
  uint64_t words[3];
};

RF_HELPER bool is_finite(uint64_t bits) { return (bits & INFINITE) != INFINITE; }

RF_HELPER Term term(uint64_t bits) {
  uint64_t sign = 0 - (bits >> 63);
  uint64_t exponent = bits >> 52 & 0x7ff, fraction = bits & FRACTION;
  // Subnormals have the exponent of the least normal numbers, and no hidden bit.
  uint64_t mantissa = exponent == 0 ? fraction : fraction | 1ull << 52;
  uint64_t place = exponent == 0 ? 0 : exponent - 1;
  int32_t shift = (int32_t)(place % 32);
  uint64_t low = mantissa << shift, upper = mantissa >> 32 >> (32 - shift);
  return Term{(int32_t)(place / 32),
              {((low & 0xffffffffu) ^ sign) - sign, ((low >> 32) ^ sign) - sign, (upper ^ sign) - sign}};
}

RF_HELPER void add_term(uint64_t *cell, Term t, bool together) {
  RF_UNROLL
  for (int32_t k = 0; k < 3; k++)
    // Spares an atomic that would change nothing; a plain addition is not worth
    // the branch.
    if (!together || t.words[k] != 0)
      rf_cell_add((int64_t *)cell + t.at + k, (int64_t)t.words[k], together);
}

// add_special adds an infinity or NaN.
RF_HELPER void add_special(uint64_t *cell, uint64_t bits, bool together) {
  bool nan = (bits & FRACTION) != 0, negative = bits >> 63;
  if (nan || !negative)
    rf_cell_add((int64_t *)cell + PLUS, 1, together);
  if (nan || negative)
    rf_cell_add((int64_t *)cell + MINUS, 1, together);
}

// Leading is the leading 96 bits of a sum's absolute value: the first digit that
// is not 0, at place top, and the two after it. rest says whether any bit follows.
struct Leading {
  uint32_t first, second, third;
  int32_t top;
  bool rest, negative;
};

// leading passes carries on from the last digit up. sign is 1, or -1 to look at
// the sum's negation.
RF_HELPER Leading leading(const uint64_t *cell, int64_t sign) {
  Leading out = {0, 0, 0, -1, false, false};
  int64_t carry = 0;
  uint32_t below = 0, second_below = 0;
  bool rest = false;
  // What the last digit carries fills at most one digit more.
  for (int32_t i = 0; i <= DIGITS; i++) {
    int64_t sum = carry + (i < DIGITS ? sign * (int64_t)cell[i] : 0);
    uint32_t digit = (uint32_t)sum;
    carry = sum >> 32;
    if (digit != 0)
      out = Leading{digit, below, second_below, i, rest, false};
    rest |= second_below != 0;
    second_below = below;
    below = digit;
  }
  out.negative = carry < 0;
  return out;
}

} // namespace fsum

// rf_tile_cells_float adds live items' doubles, given as their bits, to exact
// sums of 68 words each.
//
// Phases: 1 add those of the same digits in warps; 2 add to the cells
// Barriers: 0, but every warp calls it whole
// Cost: 1 match an item, 6 shuffles for each doubling of the peers, two or three atomics a warp, slot and range of 2^32; no atomic if not shared
RF_PRIMITIVE void rf_tile_cells_float(uint64_t *cells, int32_t words, const int64_t *slots, const int64_t *values,
                                      const uint8_t *live, int32_t shared, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    uint64_t bits = (uint64_t)values[i];
    uint64_t *cell = cells + words * slots[i];
    bool finite = live[i] && fsum::is_finite(bits);
    if (live[i] && !finite)
      fsum::add_special(cell, bits, cells::together(shared));
    fsum::Term t = fsum::term(bits);
    if (target::WARP == 1) {
      if (finite)
        fsum::add_term(cell, t, shared);
      continue;
    }
    uint32_t lanes = peers::of((uint64_t)slots[i] * 64 + (uint64_t)t.at, finite);
    peers::sum(lanes, t.words);
    if (peers::leads(lanes))
      fsum::add_term(cell, t, true);
  }
}

// rf_fsum_round returns the bits of the double nearest to an exact sum, of two
// the even one; beyond the largest, infinity. A sum with a NaN or with both
// infinities is NaN; 0 is +0.
//
// Phases: 1 the sign; 2 the leading bits; 3 round
// Cost: two passes over 66 words
RF_PRIMITIVE int64_t rf_fsum_round(const uint64_t *cell) {
  if (cell[fsum::PLUS] != 0 && cell[fsum::MINUS] != 0)
    return (int64_t)fsum::NOT_A_NUMBER;
  uint64_t infinity = fsum::INFINITE;
  if (cell[fsum::PLUS] != 0)
    return (int64_t)infinity;
  if (cell[fsum::MINUS] != 0)
    return (int64_t)(infinity | 1ull << 63);
  fsum::Leading sum = fsum::leading(cell, 1);
  uint64_t sign = 0;
  if (sum.negative) {
    sum = fsum::leading(cell, -1);
    sign = 1ull << 63;
  }
  if (sum.top < 0)
    return 0;
  // The first 64 bits; bit 63 stands for 2^place units.
  int32_t lead = __builtin_clzll((uint64_t)sum.first) - 32;
  uint64_t upper = target::wide(sum.second, sum.first) << lead | (uint64_t)sum.third << lead >> 32;
  bool rest = sum.rest || (uint32_t)(sum.third << lead) != 0;
  int32_t place = 32 * sum.top + 31 - lead;
  // Below 2^53 units the bits of a double are the number of units.
  if (place < 53)
    return (int64_t)(sign | upper >> (63 - place));
  uint64_t bits = (uint64_t)(place - 52) << 52;
  bits += upper >> 11;
  uint64_t half = upper & 0x7ff;
  bits += half > 0x400 || (half == 0x400 && (rest || (upper >> 11 & 1)));
  return (int64_t)(sign | (bits < infinity ? bits : infinity));
}
