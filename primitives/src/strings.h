// Strings in Arrow's layout: bytes, and an offset a row with one more at the end.
// Order and equality are those of the bytes.

#pragma once

#include "hash.h"

// rf_string_compare returns -1, 0 or 1 as a is before, equal to or after b.
//
// Cost: one access a byte of each up to the first difference
RF_PRIMITIVE int32_t rf_string_compare(const uint8_t *a, int64_t a_size, const uint8_t *b, int64_t b_size) {
  int64_t n = a_size < b_size ? a_size : b_size;
  for (int64_t i = 0; i < n; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return a_size == b_size ? 0 : a_size < b_size ? -1 : 1;
}

// rf_string_equal compares lengths before bytes.
//
// Cost: one access a byte of each up to the first difference
RF_PRIMITIVE int32_t rf_string_equal(const uint8_t *a, int64_t a_size, const uint8_t *b, int64_t b_size) {
  if (a_size != b_size)
    return 0;
  for (int64_t i = 0; i < a_size; i++)
    if (a[i] != b[i])
      return 0;
  return 1;
}

// rf_string_starts says whether text starts with prefix.
//
// Cost: one access a byte of the prefix
RF_PRIMITIVE int32_t rf_string_starts(const uint8_t *text, int64_t size, const uint8_t *prefix, int64_t length) {
  return size >= length && rf_string_equal(text, length, prefix, length);
}

// rf_string_hash hashes the bytes of a string, eight at a time.
//
// Cost: 3 multiplications of 64 bits for 8 bytes
RF_PRIMITIVE uint64_t rf_string_hash(const uint8_t *text, int64_t size) {
  uint64_t hash = rf_hash64((uint64_t)size);
  for (int64_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    for (int32_t j = 0; j < 8; j++)
      word |= i + j < size ? (uint64_t)text[i + j] << (8 * j) : 0;
    hash = rf_hash_combine(hash, word);
  }
  return hash;
}
