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

// digit is one digit of a quotient to base 2^32: that of rest and the next digit
// by a divisor whose digits are d1 and d0, where d1 has its highest bit set and
// the rest is below the divisor. The estimate by d1 alone is at most two too
// large (Knuth, TAOCP 4.3.1, theorem B).
RF_HELPER uint64_t digit(uint64_t rest, uint64_t next, uint64_t d1, uint64_t d0) {
  uint64_t q = rest / d1, r = rest - q * d1;
  for (int32_t i = 0; i < 2; i++)
    if (r >> 32 == 0 && (q >> 32 != 0 || q * d0 > (r << 32 | next))) {
      q--;
      r += d1;
    }
  return q;
}

// divide_words is the quotient of hi:lo by d, which is above hi, and its rest.
RF_HELPER uint64_t divide_words(uint64_t hi, uint64_t lo, uint64_t d, uint64_t *rest) {
  int32_t shift = __builtin_clzll(d);
  d <<= shift;
  hi = hi << shift | lo >> 1 >> (63 - shift);
  lo <<= shift;
  uint64_t d1 = d >> 32, d0 = (uint32_t)d;
  uint64_t q1 = digit(hi, lo >> 32, d1, d0);
  uint64_t r = (hi << 32 | lo >> 32) - q1 * d;
  uint64_t q0 = digit(r, (uint32_t)lo, d1, d0);
  *rest = ((r << 32 | (uint32_t)lo) - q0 * d) >> shift;
  return q1 << 32 | q0;
}

// Magnitude is a number without its sign.
struct Magnitude {
  uint64_t hi, lo;
};

RF_HELPER bool less(Magnitude a, Magnitude b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

RF_HELPER Magnitude minus(Magnitude a, Magnitude b) { return Magnitude{a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo}; }

// divide returns the quotient of n by d, which is not 0, and its rest. Above 64
// bits the leading 64 of the divisor give an estimate that is at most one too
// small.
RF_HELPER Magnitude divide(Magnitude n, Magnitude d, Magnitude *rest) {
  if (d.hi == 0) {
    uint64_t r = n.hi, high = 0;
    if (n.hi != 0) {
      high = n.hi / d.lo;
      r = n.hi - high * d.lo;
    }
    rest->hi = 0;
    if (r == 0) {
      uint64_t low = n.lo / d.lo;
      rest->lo = n.lo - low * d.lo;
      return Magnitude{high, low};
    }
    uint64_t low = divide_words(r, n.lo, d.lo, &rest->lo);
    return Magnitude{high, low};
  }
  int32_t shift = __builtin_clzll(d.hi);
  uint64_t top = d.hi << shift | d.lo >> 1 >> (63 - shift), unused;
  uint64_t q = divide_words(n.hi >> 1, n.hi << 63 | n.lo >> 1, top, &unused) >> (63 - shift);
  if (q > 0)
    q--;
  *rest = minus(n, Magnitude{target::multiply_high(q, d.lo) + q * d.hi, q * d.lo});
  if (!less(*rest, d)) {
    q++;
    *rest = minus(*rest, d);
  }
  return Magnitude{0, q};
}

RF_HELPER Magnitude magnitude(Int128 a) {
  if (a.hi < 0)
    a = negate(a);
  return Magnitude{(uint64_t)a.hi, a.lo};
}

// divide_round divides by a number other than 0, rounding half away from zero, and
// says whether the quotient fits.
RF_HELPER int32_t divide_round(Int128 *a, Int128 b) {
  bool negative = (a->hi < 0) != (b.hi < 0);
  Magnitude d = magnitude(b), rest;
  Magnitude q = divide(magnitude(*a), d, &rest);
  // rest >= d - rest is 2 * rest >= d without its overflow.
  if (!less(rest, minus(d, rest))) {
    q.lo++;
    q.hi += q.lo == 0;
  }
  *a = Int128{q.lo, (int64_t)q.hi};
  if (negative)
    *a = negate(*a);
  return negative || a->hi >= 0;
}

// add_carry adds two words and a carry of 0 or 1, which it replaces.
RF_HELPER uint64_t add_carry(uint64_t a, uint64_t b, uint64_t *carry) {
  uint64_t partial = a + b, sum = partial + *carry;
  *carry = (partial < a) | (sum < partial);
  return sum;
}

// multiply_carry multiplies two words and adds a carry of one word, which it
// replaces.
RF_HELPER uint64_t multiply_carry(uint64_t a, uint64_t b, uint64_t *carry) {
  uint64_t low = a * b, sum = low + *carry;
  *carry = target::multiply_high(a, b) + (sum < low);
  return sum;
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
// Cost: 2 divisions of 64 bits; 4 if the number needs more
RF_PRIMITIVE void rf_i128_divide_round(uint64_t *lo, int64_t *hi, uint64_t divisor) {
  int128::Int128 q = {*lo, *hi};
  int128::divide_round(&q, {divisor, 0});
  *lo = q.lo, *hi = q.hi;
}

// rf_i128_quotient divides by any number, rounding half away from zero. It returns
// 0 where that has no value: for a divisor of 0, which leaves the dividend, and
// for the least number divided by -1.
//
// Cost: as rf_i128_divide_round
RF_PRIMITIVE int32_t rf_i128_quotient(uint64_t *lo, int64_t *hi, uint64_t b_lo, int64_t b_hi) {
  if ((b_lo | (uint64_t)b_hi) == 0)
    return 0;
  int128::Int128 q = {*lo, *hi};
  int32_t fits = int128::divide_round(&q, {b_lo, b_hi});
  *lo = q.lo, *hi = q.hi;
  return fits;
}

// rf_i128_mean is unit times the mean of n numbers of 128 bits, rounded half away
// from zero. Given are the sum of their upper halves, which the mean replaces, and
// that of their lower halves less 2^63 each: the sum of the numbers is
// 2^64 * high + low + 2^63 * n. It returns 0 where the mean has no value: if n is
// not positive, which leaves the sum, or the mean does not fit. The unit is at
// most 10^6, so 256 bits hold what is divided.
//
// Cost: 8 divisions of 64 bits and 8 multiplications
RF_PRIMITIVE int32_t rf_i128_mean(uint64_t *lo, int64_t *hi, uint64_t low_lo, int64_t low_hi, int64_t n, uint64_t unit) {
  if (n <= 0)
    return 0;
  uint64_t count = (uint64_t)n, sign = (uint64_t)(low_hi >> 63);
  uint64_t carry = 0;
  uint64_t w0 = int128::add_carry(low_lo, count << 63, &carry);
  uint64_t w1 = int128::add_carry((uint64_t)low_hi, count >> 1, &carry);
  uint64_t w2 = int128::add_carry(sign, 0, &carry);
  uint64_t w3 = sign + carry;
  carry = 0;
  w1 = int128::add_carry(w1, *lo, &carry);
  w2 = int128::add_carry(w2, (uint64_t)*hi, &carry);
  w3 += (uint64_t)(*hi >> 63) + carry;
  bool negative = (int64_t)w3 < 0;
  if (negative) {
    carry = 1;
    w0 = int128::add_carry(~w0, 0, &carry);
    w1 = int128::add_carry(~w1, 0, &carry);
    w2 = int128::add_carry(~w2, 0, &carry);
    w3 = ~w3 + carry;
  }
  carry = 0;
  w0 = int128::multiply_carry(w0, unit, &carry);
  w1 = int128::multiply_carry(w1, unit, &carry);
  w2 = int128::multiply_carry(w2, unit, &carry);
  w3 = int128::multiply_carry(w3, unit, &carry);
  uint64_t rest = 0;
  w3 = int128::divide_words(rest, w3, count, &rest);
  w2 = int128::divide_words(rest, w2, count, &rest);
  w1 = int128::divide_words(rest, w1, count, &rest);
  w0 = int128::divide_words(rest, w0, count, &rest);
  // rest >= count - rest is 2 * rest >= count without its overflow.
  carry = rest >= count - rest;
  w0 = int128::add_carry(w0, 0, &carry);
  w1 = int128::add_carry(w1, 0, &carry);
  w2 = int128::add_carry(w2, 0, &carry);
  w3 += carry;
  int128::Int128 mean = {w0, (int64_t)w1};
  if (negative)
    mean = int128::negate(mean);
  *lo = mean.lo, *hi = mean.hi;
  return (w2 | w3) == 0 && ((mean.hi < 0) == negative || (w0 | w1) == 0);
}
