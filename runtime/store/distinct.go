package store

import (
	"math"
	"math/bits"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// countDistinct counts or estimates the distinct words of a column that has at
// least two. threads bounds the threads that it uses.
func countDistinct(c *Column, threads int) int64 {
	switch {
	case c.Width == 1:
		return countBitmap(c.U8, 1<<8, threads)
	case c.Width == 2:
		return countBitmap(c.U16, 1<<16, threads)
	case c.Stats.Ascending && c.Width == 4:
		return countChanges(c.U32, threads)
	case c.Stats.Ascending:
		return countChanges(c.U64, threads)
	case c.n <= exactDistinctRows:
		return countSet(c)
	case c.Width == 4:
		return estimateDistinct(c.U32, threads)
	}
	return estimateDistinct(c.U64, threads)
}

// countTables counts the distinct words of a planned column of one or two bytes
// by the tables of its chunks, if all chunks have one.
func (c *Column) countTables(chunks []Chunk) (n int64, ok bool) {
	if c.Width != 1 && c.Width != 2 ||
		slices.ContainsFunc(chunks, func(part Chunk) bool { return !part.Placed() }) {
		return 0, false
	}
	seen := make([]bool, 1<<(8*c.Width))
	for i := range chunks {
		words := chunks[i].table
		if words == nil {
			words = []int64{chunks[i].base}
		}
		for _, offset := range offsets[uint16](words, c.Base, uint64(c.Step)) {
			if !seen[offset] {
				seen[offset] = true
				n++
			}
		}
	}
	return n, true
}

// exactDistinctRows is the length of the longest column whose wide words are
// counted exactly, with a hash set.
const exactDistinctRows = 1 << 12

// partly divides n entries among threads. It calls count with the share of each
// thread.
func partly(n, threads int, count func(i, from, to int)) {
	parallel.Do(threads, threads, func(i int) {
		count(i, n/threads*i,
			n/threads*(i+1)+n%threads*((i+1)/threads))
	})
}

func countBitmap[T uint8 | uint16](entries []T, domain, threads int) int64 {
	seen := make([][]bool, threads)
	partly(len(entries), threads, func(i, from, to int) {
		here := make([]bool, domain)
		for _, v := range entries[from:to] {
			here[v] = true
		}
		seen[i] = here
	})
	var n int64
	for v := range domain {
		if slices.ContainsFunc(seen, func(here []bool) bool { return here[v] }) {
			n++
		}
	}
	return n
}

// countChanges counts the distinct entries of ascending ones.
func countChanges[T unsigned](entries []T, threads int) int64 {
	changes := make([]int64, threads)
	partly(len(entries)-1, threads, func(i, from, to int) {
		before, n := entries[from], int64(0)
		for _, v := range entries[from+1 : to+1] {
			if v != before {
				n++
			}
			before = v
		}
		changes[i] = n
	})
	n := int64(1)
	for _, c := range changes {
		n += c
	}
	return n
}

func countSet(c *Column) int64 {
	seen := make(map[int64]struct{}, c.n)
	for i := range c.n {
		seen[c.Word(i)] = struct{}{}
	}
	return int64(len(seen))
}

// hllBits is the number of hash bits that choose a register; 2^12 registers
// give a standard error of 1.6 %.
const hllBits = 12

// estimateDistinct is HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007),
// with linear counting if few registers are in use. Hashes have 64 bits, so
// large numbers need no correction.
func estimateDistinct[T unsigned](entries []T, threads int) int64 {
	parts := make([][1 << hllBits]uint8, threads)
	partly(len(entries), threads, func(i, from, to int) {
		registers := &parts[i]
		for _, v := range entries[from:to] {
			h := scalar.Mix(uint64(v))
			r := &registers[h>>(64-hllBits)]
			if rank := uint8(bits.LeadingZeros64(h<<hllBits|1<<(hllBits-1))) + 1; rank > *r {
				*r = rank
			}
		}
	})
	registers := &parts[0]
	for i := range parts[1:] {
		for j, r := range parts[i+1] {
			registers[j] = max(registers[j], r)
		}
	}
	const m = 1 << hllBits
	sum, zero := 0.0, 0
	for _, r := range registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zero++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && zero > 0 {
		estimate = m * math.Log(m/float64(zero))
	}
	return min(max(int64(estimate+0.5), 1), int64(len(entries)))
}
