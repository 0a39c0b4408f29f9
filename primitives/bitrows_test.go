package primitives

import (
	"math/rand/v2"
	"testing"
)

// bitRows are rows of bits as bitrows.h has them, over some keys.
func bitRows(keys, width int, bits func(key, bit int) bool) []uint64 {
	out := make([]uint64, 8+keys*(width+1))
	out[0] = uint64(keys)
	for k := range keys {
		row := out[8+k*(width+1):][:width+1]
		for b := range 64 * width {
			if !bits(k, b) {
				continue
			}
			at := uint64(b / 64)
			if row[0] == 0 {
				row[0] = at
			}
			row[0] = row[0]&(1<<32-1) | (at+1)<<32
			row[1+at] |= 1 << (b % 64)
		}
	}
	return out
}

// TestBitRows joins rows of a tile with bit rows, of any density and in rounds
// of any size, and wants each word once for each other part of a tuple, at the
// first row that finds it.
func TestBitRows(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, items := range []int{1, 7, 64, 1024} {
			for _, density := range []float64{0.001, 0.1, 0.9, 1} {
				keys, rests, width := 1+r.IntN(6), 1+r.IntN(5), 1+r.IntN(6)
				const base = -70
				rows := bitRows(keys, width,
					func(int, int) bool { return r.Float64() < density })
				seen := make([]uint64, 8+rests*width)
				seen[0] = uint64(rests)
				for i := range seen[8:] {
					seen[8+i] = r.Uint64() & r.Uint64() & r.Uint64()
				}
				count := r.IntN(40)
				key, rest := make([]int64, count), make([]int64, count)
				live := make([]byte, count+1)
				for i := range count {
					// Some are out of range.
					key[i], rest[i] = int64(r.IntN(keys+2)-1), int64(r.IntN(rests+1))
					live[i] = byte(min(r.IntN(5), 1))
				}
				var wantRows []uint32
				var wantWords []int64
				known := append([]uint64(nil), seen...)
				for i := range count {
					if live[i] == 0 || key[i] < 0 || key[i] >= int64(keys) ||
						rest[i] >= int64(rests) {
						continue
					}
					for b := range 64 * width {
						at := int(rest[i])*width + b/64
						if rows[8+int(key[i])*(width+1)+1+b/64]>>(b%64)&1 == 1 &&
							known[8+at]>>(b%64)&1 == 0 {
							known[8+at] |= 1 << (b % 64)
							wantRows = append(wantRows, uint32(i))
							wantWords = append(wantWords, base+int64(b))
						}
					}
				}
				gotRows, gotWords := make([]uint32, len(wantRows)+1), make([]int64, len(wantRows)+1)
				number := make([]int64, 1)
				d.run(t, "bitrows", key, rest, live, rows, seen, width, base, count, items,
					gotRows, gotWords, number)
				equal(t, "number", number, []int64{int64(len(wantRows))})
				if t.Failed() {
					return
				}
				equal(t, "rows", gotRows[:len(wantRows)], wantRows)
				equal(t, "words", gotWords[:len(wantRows)], wantWords)
				equal(t, "seen", seen, known)
			}
		}
	})
}
