package work

import "math/bits"

// Odd multipliers of hash functions.
const (
	MixA = 0x9E3779B97F4A7C15
	MixB = 0xD1B54A32D192ED03
)

// HashWord spreads a word over 64 bits.
func HashWord(k uint64) uint64 {
	hi, lo := bits.Mul64(k^MixB, MixA)
	return hi ^ lo
}

// HashWords hashes a tuple of several words.
func HashWords(row []uint64) uint64 {
	h := uint64(len(row)) * MixB
	for _, w := range row {
		hi, lo := bits.Mul64(h^w, MixA)
		h = hi ^ lo ^ w*MixB
	}
	return HashWord(h)
}

// HashKey hashes a packed key of at least one word.
func HashKey(key []uint64) uint64 {
	if len(key) == 1 {
		return HashWord(key[0])
	}
	return HashWords(key)
}

// EqualWords compares two tuples of one length.
func EqualWords(a, b []uint64) bool {
	b = b[:len(a)]
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
