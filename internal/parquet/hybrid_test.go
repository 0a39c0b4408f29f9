package parquet

import (
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
