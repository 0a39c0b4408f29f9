// 128-bit two's complement numbers in two words: what exact sums of 64-bit words
// need. Results come through pointers, low half before high half.

#pragma once

#include "target.h"

namespace int128 {

struct Int128 {
  uint64_t lo;
  int64_t hi;
};

RF_HELPER Int128 add(Int128 a, Int128 b) {
  uint64_t lo = a.lo + b.lo;
  return Int128{lo, (int64_t)((uint64_t)a.hi + (uint64_t)b.hi + (lo < a.lo))};
}

RF_HELPER Int128 negate(Int128 a) {
  return Int128{0 - a.lo, (int64_t)(0 - (uint64_t)a.hi - (a.lo != 0))};
}

} // namespace int128

// rf_i128_add adds b to a and says whether the sum fits; it is modulo 2^128
// where it does not.
//
// Cost: 3 additions of 64 bits
RF_PRIMITIVE int32_t rf_i128_add(uint64_t *lo, int64_t *hi, uint64_t b_lo, int64_t b_hi) {
  int64_t a_hi = *hi;
  int128::Int128 sum = int128::add({*lo, a_hi}, {b_lo, b_hi});
  *lo = sum.lo, *hi = sum.hi;
  return ((a_hi ^ sum.hi) & (b_hi ^ sum.hi)) >= 0;
}

// rf_i128_add_word adds a 64-bit word, which cannot overflow in 2^63 additions.
//
// Cost: 3 additions of 64 bits
RF_PRIMITIVE void rf_i128_add_word(uint64_t *lo, int64_t *hi, int64_t word) {
  int128::Int128 sum = int128::add({*lo, *hi}, {(uint64_t)word, word >> 63});
  *lo = sum.lo, *hi = sum.hi;
}

// rf_i128_multiply is the full product of two 64-bit numbers.
//
// Cost: 2 multiplications of 64 bits
RF_PRIMITIVE void rf_i128_multiply(uint64_t *lo, int64_t *hi, int64_t a, int64_t b) {
  uint64_t high = target::multiply_high((uint64_t)a, (uint64_t)b);
  high -= a < 0 ? (uint64_t)b : 0;
  high -= b < 0 ? (uint64_t)a : 0;
  *lo = (uint64_t)a * (uint64_t)b;
  *hi = (int64_t)high;
}

// rf_i128_compare returns -1, 0 or 1.
//
// Cost: 3 comparisons
RF_PRIMITIVE int32_t rf_i128_compare(uint64_t a_lo, int64_t a_hi, uint64_t b_lo, int64_t b_hi) {
  if (a_hi != b_hi)
    return a_hi < b_hi ? -1 : 1;
  return a_lo == b_lo ? 0 : a_lo < b_lo ? -1 : 1;
}

// rf_i128_fits_word says whether a number is in the range of int64.
//
// Cost: 1 comparison
RF_PRIMITIVE int32_t rf_i128_fits_word(uint64_t lo, int64_t hi) { return hi == (int64_t)lo >> 63; }

// rf_i128_divide_round divides by a positive 64-bit number, rounding half away
// from zero: the mean of a sum, or a decimal brought to a smaller scale.
//
// Cost: 128 steps of shift and subtract
RF_PRIMITIVE void rf_i128_divide_round(uint64_t *lo, int64_t *hi, uint64_t divisor) {
  bool negative = *hi < 0;
  int128::Int128 a = {*lo, *hi};
  if (negative)
    a = int128::negate(a);
  uint64_t high = (uint64_t)a.hi, low = a.lo, rest = 0;
  for (int32_t i = 0; i < 128; i++) {
    uint64_t carry = rest >> 63;
    rest = rest << 1 | high >> 63;
    high = high << 1 | low >> 63;
    low <<= 1;
    if (carry || rest >= divisor) {
      rest -= divisor;
      low |= 1;
    }
  }
  // rest >= divisor - rest is 2 * rest >= divisor without its overflow.
  if (rest >= divisor - rest) {
    low++;
    high += low == 0;
  }
  int128::Int128 q = {low, (int64_t)high};
  if (negative)
    q = int128::negate(q);
  *lo = q.lo, *hi = q.hi;
}
