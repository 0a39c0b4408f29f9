package bitpack

import "encoding/binary"

// Unsigned is a type of numbers that are packed.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// Rows is a number of numbers that fill whole words, whatever the number of
// bits.
const Rows = 64

// Bytes returns the size of n packed numbers, in whole words.
func Bytes(n, bits int) int { return (n*bits + 63) / 64 * 8 }

// Pack writes numbers, less first, in at most 64 bits each. It fills whole
// words, and returns the number of bytes. No number less first may have more
// bits.
func Pack[T Unsigned](dst []byte, numbers []T, bits int, first uint64) int {
	p := packer{dst: dst}
	// Numbers that fit a word are put together first, without a branch.
	n := uint(bits)
	switch {
	case bits <= 8:
		for ; len(numbers) >= 8; numbers = numbers[8:] {
			v := numbers[:8:8]
			p.put(four(v[:4:4], n, first)|four(v[4:8:8], n, first)<<(4*n&63), 8*bits)
		}
	case bits <= 16:
		for ; len(numbers) >= 4; numbers = numbers[4:] {
			p.put(four(numbers[:4:4], n, first), 4*bits)
		}
	case bits <= 32:
		for ; len(numbers) >= 2; numbers = numbers[2:] {
			v := numbers[:2:2]
			p.put(uint64(v[0])-first|(uint64(v[1])-first)<<(n&63), 2*bits)
		}
	}
	for _, v := range numbers {
		p.put(uint64(v)-first, bits)
	}
	if p.used > 0 {
		binary.LittleEndian.PutUint64(dst[p.at:], p.word)
		p.at += 8
	}
	return p.at
}

// four puts four numbers of at most 16 bits together.
func four[T Unsigned](v []T, bits uint, first uint64) uint64 {
	return uint64(v[0]) - first | (uint64(v[1])-first)<<(bits&63) |
		((uint64(v[2])-first)|(uint64(v[3])-first)<<(bits&63))<<(2*bits&63)
}

// packer fills words from their lowest bits.
type packer struct {
	dst      []byte
	word     uint64
	used, at int // bits of word, bytes of dst
}

// put adds a number of bits, at most 64.
func (p *packer) put(v uint64, bits int) {
	p.word |= v << (p.used & 63)
	p.used += bits
	if p.used < 64 {
		return
	}
	binary.LittleEndian.PutUint64(p.dst[p.at:], p.word)
	p.at += 8
	p.used -= 64
	p.word = v >> (bits - p.used)
}

// Extremes returns the least and the greatest of numbers, of which there is
// one.
func Extremes[T Unsigned](numbers []T) (least, greatest T) {
	lo, hi := numbers[0], numbers[0]
	a, b, c, d := lo, lo, lo, lo
	e, f, g, h := lo, lo, lo, lo
	// Each of four does not wait for the others.
	for ; len(numbers) >= 4; numbers = numbers[4:] {
		v := numbers[:4:4]
		a, b, c, d = min(a, v[0]), min(b, v[1]), min(c, v[2]), min(d, v[3])
		e, f, g, h = max(e, v[0]), max(f, v[1]), max(g, v[2]), max(h, v[3])
	}
	for _, v := range numbers {
		lo, hi = min(lo, v), max(hi, v)
	}
	return min(lo, a, b, c, d), max(hi, e, f, g, h)
}
