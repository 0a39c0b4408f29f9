package rewrite

import (
	"math/bits"
	"slices"
)

// bitset is a set of small numbers: columns of a conjunction, variables of a
// plan. Sets that are used together have one length.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s bitset) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s bitset) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s bitset) clone() bitset  { return slices.Clone(s) }

// addAll adds the members of o and reports whether s grew.
func (s bitset) addAll(o bitset) bool {
	grew := false
	for w := range o {
		grew = grew || o[w]&^s[w] != 0
		s[w] |= o[w]
	}
	return grew
}

// hasAll reports whether every member of o is in s.
func (s bitset) hasAll(o bitset) bool {
	for w := range o {
		if o[w]&^s[w] != 0 {
			return false
		}
	}
	return true
}

// members yields the members in ascending order.
func (s bitset) members(yield func(int) bool) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
