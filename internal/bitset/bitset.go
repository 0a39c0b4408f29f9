package bitset

import (
	"math/bits"
	"slices"
)

// Set is a set of small numbers, such as the columns of a join or the variables
// of a plan. Sets that are used together have one length.
type Set []uint64

// New returns an empty set for numbers below n.
func New(n int) Set { return make(Set, (n+63)/64) }

// Add adds i.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Remove removes i.
func (s Set) Remove(i int) { s[i/64] &^= 1 << (i % 64) }

// Has reports whether i is in s.
func (s Set) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Clone returns a copy.
func (s Set) Clone() Set { return slices.Clone(s) }

// AddAll adds the members of o and reports whether s grew.
func (s Set) AddAll(o Set) bool {
	grew := false
	for w := range o {
		grew = grew || o[w]&^s[w] != 0
		s[w] |= o[w]
	}
	return grew
}

// KeepAll removes what is not in o and reports whether s shrank.
func (s Set) KeepAll(o Set) bool {
	shrank := false
	for w := range o {
		shrank = shrank || s[w]&^o[w] != 0
		s[w] &= o[w]
	}
	return shrank
}

// RemoveAll removes the members of o.
func (s Set) RemoveAll(o Set) {
	for w := range o {
		s[w] &^= o[w]
	}
}

// HasAll reports whether every member of o is in s.
func (s Set) HasAll(o Set) bool {
	for w := range o {
		if o[w]&^s[w] != 0 {
			return false
		}
	}
	return true
}

// Members yields the members in ascending order.
func (s Set) Members(yield func(int) bool) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
