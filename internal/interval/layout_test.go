package interval

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLayout packs random tuples and unpacks them, in order and by number.
func TestLayout(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	words := map[int]int{}
	for range 3000 {
		ranges := make([]Interval, rng.IntN(6))
		for i := range ranges {
			lo := randomWord(rng)
			ranges[i] = Interval{lo, max(lo, lo+int64(rng.Uint64()>>(1+rng.IntN(63))))}
			if rng.IntN(6) == 0 {
				ranges[i].Hi = lo
			}
		}
		l := NewLayout(ranges)
		words[l.Words]++
		n := rng.IntN(9)
		cols := make([][]int64, len(ranges))
		for i, r := range ranges {
			for range n {
				w := r.Lo
				if span := uint64(r.Hi) - uint64(r.Lo); span > 0 {
					w += int64(rng.Uint64() % (span + min(1, ^span)))
				}
				cols[i] = append(cols[i], w)
			}
		}
		packed := make([]uint64, n*l.Words)
		for i := range packed {
			packed[i] = rng.Uint64() // what was there must not matter
		}
		l.Pack(packed, cols, n)
		checkUnpacked(t, rng, &l, ranges, cols, packed, n)
		if l.Words == 1 {
			checkOrder(t, ranges, cols, packed, n)
		}
	}
	for _, n := range []int{0, 1, 2, 3} {
		if words[n] == 0 {
			t.Errorf("no layout has %d words", n)
		}
	}
}

func checkUnpacked(t *testing.T, rng *rand.Rand, l *Layout, ranges []Interval, cols [][]int64,
	packed []uint64, n int) {
	t.Helper()
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(rng.IntN(n))
	}
	out := make([]int64, n)
	for i := range ranges {
		l.Unpack(out, packed, i, n)
		if !slices.Equal(out, cols[i][:n]) {
			t.Fatalf("column %d of %v is %v, was %v", i, ranges, out, cols[i])
		}
		l.UnpackAt(out, packed, numbers, i)
		for j, r := range numbers {
			if out[j] != cols[i][r] {
				t.Fatalf("column %d of %v, row %d, is %d, was %d", i, ranges, r, out[j], cols[i][r])
			}
		}
	}
}

// checkOrder sees that packed words order as their tuples do.
func checkOrder(t *testing.T, ranges []Interval, cols [][]int64, packed []uint64, n int) {
	t.Helper()
	for a := range n {
		for b := range n {
			order := 0
			for i := range ranges {
				if order == 0 {
					order = cmp.Compare(cols[i][a], cols[i][b])
				}
			}
			if cmp.Compare(packed[a], packed[b]) != order {
				t.Fatalf("tuples %d and %d of %v pack to %x and %x", a, b, ranges, packed[a],
					packed[b])
			}
		}
	}
}

func TestLayoutRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		n := 1 + rnd.IntN(7)
		ranges := make([]Interval, n)
		cols := make([][]int64, n)
		const rows = 9
		for i := range ranges {
			lo := int64(rnd.Uint64()) >> rnd.IntN(64)
			ranges[i] = Interval{Lo: lo, Hi: max(lo, lo+int64(rnd.Uint64()>>(1+rnd.IntN(63))))}
			for range rows {
				span := uint64(ranges[i].Hi) - uint64(ranges[i].Lo)
				w := rnd.Uint64()
				if span != 1<<64-1 {
					w = rnd.Uint64N(span + 1)
				}
				cols[i] = append(cols[i], lo+int64(w))
			}
		}
		l := NewLayout(ranges)
		packed := make([]uint64, rows*l.Words)
		l.Pack(packed, cols, rows)
		out := make([]int64, rows)
		for i := range cols {
			l.Unpack(out, packed, i, rows)
			for k := range out {
				if out[k] != cols[i][k] {
					t.Fatalf("column %d of %v: packed %d, unpacked %d", i, ranges, cols[i][k],
						out[k])
				}
			}
			l.UnpackAt(out[:2], packed, []uint32{3, 8}, i)
			if out[0] != cols[i][3] || out[1] != cols[i][8] {
				t.Fatalf("column %d of %v by number: %v", i, ranges, out[:2])
			}
		}
	}
}
