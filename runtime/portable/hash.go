package portable

import "math/bits"

// Odd multipliers of hash functions.
const (
	mixA = 0x9E3779B97F4A7C15
	mixB = 0xD1B54A32D192ED03
)

// hashWord spreads a word over 64 bits.
func hashWord(k uint64) uint64 {
	hi, lo := bits.Mul64(k^mixB, mixA)
	return hi ^ lo
}

// hashWords hashes a tuple of several words.
func hashWords(row []uint64) uint64 {
	h := uint64(len(row)) * mixB
	for _, w := range row {
		hi, lo := bits.Mul64(h^w, mixA)
		h = hi ^ lo ^ w*mixB
	}
	return hashWord(h)
}

// hashKey hashes a packed key of at least one word.
func hashKey(key []uint64) uint64 {
	if len(key) == 1 {
		return hashWord(key[0])
	}
	return hashWords(key)
}

// equalWords compares two tuples of one length.
func equalWords(a, b []uint64) bool {
	b = b[:len(a)]
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
