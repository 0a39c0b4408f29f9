package ssbgen

import "math/bits"

// source is a sequence of random numbers: SplitMix64 (Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", OOPSLA 2014).
type source uint64

// scatter is SplitMix64's output function, a bijection whose outputs look
// random.
func scatter(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sourceOf returns the sequence of one row of a table. Neighbouring rows begin
// at scattered places, so that their sequences do not overlap.
func sourceOf(seed uint64, table byte, row int64) source {
	return source(scatter(scatter(seed+uint64(table)) + uint64(row)))
}

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return scatter(uint64(*s))
}

// below returns a number of 0 to n-1 (Lemire, "Fast random integer generation
// in an interval", TOMACS 2019, without the rejection: n is small beside 2^64).
func (s *source) below(n int) int {
	high, _ := bits.Mul64(s.next(), uint64(n))
	return int(high)
}

// between returns a number of low to high, both included.
func (s *source) between(low, high int) int { return low + s.below(high-low+1) }
