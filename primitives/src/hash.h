// Hashing of words and tuples.

#pragma once

#include "target.h"

namespace hashing {

// mix is the finaliser of MurmurHash3 (Appleby, 2011): a bijection in which each
// bit of the input changes each bit of the output about half of the time.
RF_HELPER uint64_t mix(uint64_t v) {
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdull;
  v ^= v >> 33;
  v *= 0xc4ceb9fe1a85ec53ull;
  v ^= v >> 33;
  return v;
}

} // namespace hashing

// rf_hash64 hashes one word. It is a bijection.
//
// Cost: 2 multiplications of 64 bits
RF_PRIMITIVE uint64_t rf_hash64(uint64_t word) { return hashing::mix(word); }

// rf_hash_combine extends the hash of a tuple by one more word. The hash of
// (a, b, c) is combine(combine(hash64(a), b), c).
//
// Cost: 3 multiplications of 64 bits
RF_PRIMITIVE uint64_t rf_hash_combine(uint64_t hash, uint64_t word) {
  return hashing::mix(hash * 0x9e3779b97f4a7c15ull + word);
}

// rf_hash_words hashes a tuple of width words, as rf_hash_combine does.
//
// Cost: 3 multiplications of 64 bits a word
RF_PRIMITIVE uint64_t rf_hash_words(const int64_t *tuple, int32_t width) {
  uint64_t hash = width > 0 ? hashing::mix((uint64_t)tuple[0]) : 0;
  RF_UNROLL
  for (int32_t i = 1; i < width; i++)
    hash = rf_hash_combine(hash, (uint64_t)tuple[i]);
  return hash;
}
