package store

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestPack unpacks offsets of all numbers of bits, bit by bit.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for bits := 1; bits < 64; bits++ {
		for _, n := range []int{1, 63, 64, 65, 200} {
			words := make([]int64, n)
			for i := range words {
				words[i] = -7 + int64(r.Uint64()&(1<<bits-1))
			}
			words[n-1] = -7 + 1<<bits - 1
			c := NewPacked(scalar.IntType, nil, n, -7, words[n-1])
			for i, w := range words {
				switch c.Width {
				case 1:
					c.U8[i] = uint8(w + 7)
				case 2:
					c.U16[i] = uint16(w + 7)
				case 4:
					c.U32[i] = uint32(w + 7)
				case 8:
					c.U64[i] = uint64(w + 7)
				}
			}
			if got, _ := c.Packing(); got != bits {
				t.Fatalf("%d bits, want %d", got, bits)
			}
			dst := make([]byte, PackedBytes(n, bits))
			for from := 0; from < n; from += PackedRows {
				c.Pack(dst[from/8*bits:], from, min(from+PackedRows, n))
			}
			for i, w := range words {
				got := uint64(0)
				for b := range bits {
					at := i*bits + b
					got |= uint64(dst[at/8]>>(at%8)&1) << b
				}
				if int64(got)-7 != w {
					t.Fatalf("%d bits, row %d of %d: %d, want %d", bits, i, n, int64(got)-7, w)
				}
			}
		}
	}
}

// TestPacking has columns whose statistics do not bound their offsets, and
// columns whose offsets begin far from 0.
func TestPacking(t *testing.T) {
	of := func(t scalar.Type, base, step int64, width uint8, lo, hi int64) *Column {
		c := &Column{Type: t, Base: base, Step: step, Width: width, n: 1}
		c.view(unsafe.Pointer(&[1]uint64{}))
		c.Stats = ColumnStats{Min: lo, Max: hi}
		return c
	}
	for _, x := range []struct {
		c     *Column
		want  int
		first uint64
	}{
		{of(scalar.IntType, 0, 1, 2, 3, 300), 9, 0},
		{of(scalar.IntType, 3, 1, 1, 3, 3), 1, 0},
		{of(scalar.IntType, 4, 1, 1, 3, 9), 0, 0},
		{of(scalar.IntType, -1<<63, 1, 8, -1<<63, 1<<63-1), 64, 0},
		{of(scalar.DatetimeType, 0, 1000, 2, 0, 1000*1023), 10, 0},
		{of(scalar.DatetimeType, 0, 1<<40, 4, 0, 1<<40), 0, 0},
		{of(scalar.DatetimeType, 1<<63-1000, 1000, 1, 1<<63-1000, 1<<63-1000), 0, 0},
		{of(scalar.UintType, -2, 1, 1, -2, -1), 1, 0},
		{of(scalar.FloatType, 0, 1, 8, 0, 1), 0, 0},
		{ConstantColumn(scalar.IntType, nil, 3, 5), 0, 0},
		{of(scalar.DatetimeType, 0, 1000, 2, 1000*8036, 1000*10561), 12, 8036},
		{of(scalar.IntType, -3, 1, 4, 1<<20-3, 1<<20), 2, 1 << 20},
	} {
		if got, first := x.c.Packing(); got != x.want || first != x.first {
			t.Errorf("%+v: %d bits from %d, want %d from %d", x.c, got, first, x.want, x.first)
		}
	}
}
