package parquet

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHybrid(t *testing.T) {
	// A run of three fives, a packed group of eight numbers, a run, a cut
	// packed group.
	data := []byte{3 << 1, 5, 1<<1 | 1, 0b10_001_000, 0b1_100_011_0, 0b111_110_10, 2 << 1, 1,
		1<<1 | 1,
		0b11_010_001}
	want := []uint32{5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 2}
	for batch := 1; batch <= len(want); batch++ {
		h := Hybrid{data: data, width: 3}
		var got []uint32
		for len(got) < len(want) {
			part := make([]uint32, min(batch, len(want)-len(got)))
			if err := h.Read(part); err != nil {
				t.Fatal(err)
			}
			got = append(got, part...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %v, want %v", batch, got, want)
		}
		if err := h.Read(make([]uint32, 9)); err == nil {
			t.Error("read past the end")
		}
	}
	zeros := make([]uint32, 16)
	if h := (Hybrid{data: []byte{2<<1 | 1}}); h.Read(zeros) != nil || slices.Max(zeros) > 0 {
		t.Error("numbers of no bits are not zeros")
	}
}

// TestUnpack decodes packed numbers of every width, from every place on.
func TestUnpack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for width := 1; width <= 32; width++ {
		want := make([]uint32, 83)
		for i := range want {
			want[i] = uint32(rng.Uint64() & (1<<width - 1))
		}
		data := appendPacked(nil, want, width)
		for from := range want {
			unpackAs[uint32](t, data, want, width, from)
			if width <= 16 {
				unpackAs[uint16](t, data, want, width, from)
			}
			if width <= 8 {
				unpackAs[uint8](t, data, want, width, from)
			}
		}
	}
}

func unpackAs[T Number](t *testing.T, data []byte, want []uint32, width, from int) {
	t.Helper()
	got := make([]T, len(want))
	h := packed(data, width, len(want))
	if err := ReadNumbers(&h, got[:from]); err != nil {
		t.Fatal(err)
	}
	if err := ReadNumbers(&h, got[from:]); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if uint32(v) != want[i] {
			t.Fatalf("%d bits, from %d: number %d is %d, want %d", width, from, i, v, want[i])
		}
	}
}

func TestReadNumbersAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for width := 0; width <= 32; width++ {
		for _, share := range []int{1, 2, 20, 99} {
			numbers := make([]uint32, 3000)
			for i := range numbers {
				if numbers[i] = rng.Uint32() & uint32(uint64(1)<<width-1); i > 500 && i < 900 {
					numbers[i] = numbers[i-1]
				}
			}
			data := appendHybrid(nil, numbers, width)
			h := Hybrid{data: data, width: width}
			for from := 0; from < len(numbers); {
				n := min(1+rng.IntN(700), len(numbers)-from)
				var places, want []uint32
				for i := range n {
					if rng.IntN(100) < share {
						places, want = append(places, uint32(i)), append(want, numbers[from+i])
					}
				}
				dst := make([]uint32, n)
				if err := ReadNumbersAt(&h, dst, places); err != nil {
					t.Fatal(err)
				}
				if got := dst[:len(places)]; !slices.Equal(got, want) {
					t.Fatalf("width %d, numbers %d to %d: %v, want %v", width, from, from+n, got, want)
				}
				from += n
			}
		}
	}
}
