package store

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// countDistinct counts or estimates the different words of a column that has at
// least two.
func countDistinct(c *Column) int64 {
	switch {
	case c.Width == 1:
		return countBitmap(c.U8, 1<<8)
	case c.Width == 2:
		return countBitmap(c.U16, 1<<16)
	case c.Stats.Ascending && c.Width == 4:
		return countChanges(c.U32)
	case c.Stats.Ascending:
		return countChanges(c.U64)
	case c.n <= exactDistinctRows:
		return countSet(c)
	case c.Width == 4:
		return estimateDistinct(c.U32)
	}
	return estimateDistinct(c.U64)
}

// exactDistinctRows is the longest column whose wide words are counted with a
// hash set.
const exactDistinctRows = 1 << 12

func countBitmap[T uint8 | uint16](entries []T, domain int) int64 {
	seen := make([]bool, domain)
	for _, v := range entries {
		seen[v] = true
	}
	var n int64
	for _, s := range seen {
		if s {
			n++
		}
	}
	return n
}

func countChanges[T unsigned](entries []T) int64 {
	n := int64(1)
	for i := 1; i < len(entries); i++ {
		if entries[i] != entries[i-1] {
			n++
		}
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

// hllBits is the number of hash bits that choose a register; 2^12 registers give
// a standard error of 1.6 %.
const hllBits = 12

// estimateDistinct is HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with
// linear counting where few registers are in use. Hashes have 64 bits, so that
// no correction for large numbers is needed.
func estimateDistinct[T unsigned](entries []T) int64 {
	var registers [1 << hllBits]uint8
	for _, v := range entries {
		h := scalar.Mix(uint64(v))
		r := &registers[h>>(64-hllBits)]
		if rank := uint8(bits.LeadingZeros64(h<<hllBits|1<<(hllBits-1))) + 1; rank > *r {
			*r = rank
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
