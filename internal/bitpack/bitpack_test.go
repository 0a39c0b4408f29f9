package bitpack

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestUnpack packs numbers of all types in all numbers of bits, and compares
// what is unpacked, bit by bit, and what Unpack makes of it.
func TestUnpack(t *testing.T) {
	testUnpack[uint8](t)
	testUnpack[uint16](t)
	testUnpack[uint32](t)
	testUnpack[uint64](t)
}

func testUnpack[T Unsigned](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for bits := range 8*int(unsafe.Sizeof(T(0))) + 1 {
		for _, n := range []int{0, 1, 7, 63, 64, 65, 127, 128, 200, 1000} {
			first := T(r.Uint64())
			mask := T(1)<<bits - 1 // all bits if none is left out
			numbers := make([]T, n)
			for i := range numbers {
				numbers[i] = T(r.Uint64())&mask + first
			}
			relative := make([]T, n)
			for i, v := range numbers {
				relative[i] = v - first
			}
			src := make([]byte, Bytes(n, bits))
			if size := Pack(src, relative, bits, 0); size != len(src) && bits > 0 {
				t.Fatalf("%d numbers of %d bits take %d bytes, want %d", n, bits, size, len(src))
			}
			for i, v := range relative {
				got := uint64(0)
				for b := range bits {
					at := i*bits + b
					got |= uint64(src[at/8]>>(at%8)&1) << b
				}
				if T(got) != v {
					t.Fatalf("number %d of %d in %d bits is %d, want %d", i, n, bits, got, v)
				}
			}
			got := make([]T, n)
			// No byte behind the words may be read.
			Unpack(got, slices.Clip(slices.Clone(src)), bits, first)
			if !slices.Equal(got, numbers) {
				t.Fatalf("%d numbers of %d bits from %d: %v, want %v", n, bits, first, got, numbers)
			}
		}
	}
}

// BenchmarkUnpack reports the bytes of the numbers that are unpacked.
func BenchmarkUnpack(b *testing.B) {
	b.Run("4bits/uint8", func(b *testing.B) { benchUnpack[uint8](b, 4) })
	b.Run("12bits/uint16", func(b *testing.B) { benchUnpack[uint16](b, 12) })
	b.Run("24bits/uint32", func(b *testing.B) { benchUnpack[uint32](b, 24) })
	b.Run("40bits/uint64", func(b *testing.B) { benchUnpack[uint64](b, 40) })
}

func benchUnpack[T Unsigned](b *testing.B, bits int) {
	dst := make([]T, 8192)
	src := make([]byte, Bytes(len(dst), bits))
	b.SetBytes(int64(len(dst)) * int64(unsafe.Sizeof(T(0))))
	for b.Loop() {
		Unpack(dst, src, bits, 3)
	}
}
