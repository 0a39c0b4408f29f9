package main

import (
	"math"
	"math/bits"
	goruntime "runtime"
	"sync"
	"sync/atomic"
)

// mix is a permutation of 64 bits, the finaliser of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014). It makes columns pseudo-random, and equal in each run.
func mix(i uint64) uint64 {
	i += 0x9e3779b97f4a7c15
	i = (i ^ i>>30) * 0xbf58476d1ce4e5b9
	i = (i ^ i>>27) * 0x94d049bb133111eb
	return i ^ i>>31
}

// below maps a uniformly distributed word to a number below n.
func below(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n)
	return hi
}

// everywhere calls do with shares of n rows, on all cores.
func everywhere(n int, do func(from, to int)) {
	var wg sync.WaitGroup
	threads := goruntime.GOMAXPROCS(0)
	for t := range threads {
		wg.Go(func() { do(n/threads*t, n/threads*(t+1)+n%threads*((t+1)/threads)) })
	}
	wg.Wait()
}

// column returns n numbers.
func column[T uint8 | uint16 | uint32 | uint64](n int, f func(i uint64) uint64) []T {
	out := make([]T, n)
	everywhere(n, func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = T(f(uint64(i)))
		}
	})
	return out
}

// sum adds up a function of the rows.
func sum(n int, f func(i int) int64) int64 {
	var all atomic.Int64
	everywhere(n, func(from, to int) {
		s := int64(0)
		for i := from; i < to; i++ {
			s += f(i)
		}
		all.Add(s)
	})
	return all.Load()
}

// row numbers the rows of a table.
func row(i uint64) uint64 { return i }

// numbers is a generated column of a table.
type numbers struct {
	values any // a slice, for redfox.Facts
	at     func(i int) uint64
}

// randomNumbers returns n pseudo-random numbers between least and
// least+count-1. Columns with different seeds are independent.
func randomNumbers(n int, seed, least, count uint64) numbers {
	f := func(i uint64) uint64 { return least + below(mix(i+seed<<40), count) }
	switch most := least + count - 1; {
	case most <= math.MaxUint8:
		return numbersOf(column[uint8](n, f))
	case most <= math.MaxUint16:
		return numbersOf(column[uint16](n, f))
	default:
		return numbersOf(column[uint32](n, f))
	}
}

func numbersOf[T uint8 | uint16 | uint32](values []T) numbers {
	return numbers{values, func(i int) uint64 { return uint64(values[i]) }}
}
