// Matching of `like` patterns, by an automaton whose set of states is a bit
// vector (Baeza-Yates and Gonnet, "A new approach to text searching", 1992).

#pragma once

#include "target.h"

namespace like {

// A byte that is not part of a code point in UTF-8 reads as BROKEN plus itself.
enum : uint32_t { BROKEN = 0x110000 };

enum { ASCII = 128, MOST_WORDS = 4 };

RF_HELPER bool continues(uint8_t b) { return (b & 0xc0) == 0x80; }

// decode reads one code point and moves at behind it.
RF_HELPER uint32_t decode(const uint8_t *text, int64_t size, int64_t *at) {
  const uint8_t *p = text + *at;
  int64_t left = size - *at;
  uint32_t b = p[0];
  *at += 1;
  if (b < 0x80)
    return b;
  if (b >= 0xc2 && b < 0xe0 && left >= 2 && continues(p[1])) {
    *at += 1;
    return (b & 0x1f) << 6 | (p[1] & 0x3fu);
  }
  if (b >= 0xe0 && b < 0xf0 && left >= 3 && continues(p[1]) && continues(p[2])) {
    uint32_t r = (b & 0x0f) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    // Neither overlong forms nor surrogates are UTF-8.
    if (r >= 0x800 && (r < 0xd800 || r > 0xdfff)) {
      *at += 2;
      return r;
    }
  }
  if (b >= 0xf0 && b < 0xf5 && left >= 4 && continues(p[1]) && continues(p[2]) && continues(p[3])) {
    uint32_t r = (b & 0x07) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
    if (r >= 0x10000 && r < BROKEN) {
      *at += 3;
      return r;
    }
  }
  return BROKEN + b;
}

} // namespace like

// rf_string_like says whether the whole of a text matches a pattern of length
// positions, a position being a character or an underscore; words = length / 64
// + 1, at most 4. A mask is words words: bit p of a character's mask says that
// position p accepts it, bit p of loops that a % stands before position p. masks
// holds those of the characters below 128, then the one of any other character,
// then those of the others characters of runes. A broken byte b of the pattern
// is the character 0x110000 + b.
//
// Cost: one step a character: words operations, one cached access of words words
RF_PRIMITIVE int32_t rf_string_like(const uint8_t *text, int64_t size, const uint64_t *masks,
                                    const uint64_t *loops, const uint32_t *runes, int32_t others, int32_t length,
                                    int32_t words) {
  uint64_t states[like::MOST_WORDS] = {1, 0, 0, 0};
  for (int64_t at = 0; at < size;) {
    uint32_t r = like::decode(text, size, &at);
    int32_t which = r < like::ASCII ? (int32_t)r : (int32_t)like::ASCII;
    if (r >= like::ASCII)
      for (int32_t i = 0; i < others; i++)
        which = runes[i] == r ? like::ASCII + 1 + i : which;
    const uint64_t *mask = masks + which * words;
    uint64_t carry = 0, alive = 0;
    RF_UNROLL
    for (int32_t w = 0; w < like::MOST_WORDS; w++) {
      if (w < words) {
        uint64_t passed = states[w] & mask[w];
        states[w] = passed << 1 | carry | (states[w] & loops[w]);
        carry = passed >> 63;
        alive |= states[w];
      }
    }
    if (alive == 0)
      return 0;
  }
  uint64_t last = 0;
  RF_UNROLL
  for (int32_t w = 0; w < like::MOST_WORDS; w++)
    last = w == length / 64 ? states[w] : last;
  return last >> (length % 64) & 1;
}
