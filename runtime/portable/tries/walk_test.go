package tries

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSeek compares the search with the obvious one.
func TestSeek(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var list []uint32
		for v := uint32(0); v < 60; v++ {
			if rng.IntN(3) == 0 {
				list = append(list, v)
			}
		}
		at, v := rng.IntN(len(list)+1), uint32(rng.IntN(64))
		want := at
		for want < len(list) && list[want] < v {
			want++
		}
		if got := seek(list, at, v); got != want {
			t.Fatalf("seek(%v, %d, %d) is %d, want %d", list, at, v, got, want)
		}
	}
}

// TestCommon compares the intersections of lists with the obvious one, with
// results longer and shorter than there is room for.
func TestCommon(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	list := func(n int) []uint32 {
		var out []uint32
		for v := uint32(0); v < 300; v++ {
			if rng.IntN(300) < n {
				out = append(out, v)
			}
		}
		return out
	}
	for range 2000 {
		x, y := list(1+rng.IntN(200)), list(1+rng.IntN(200))
		if len(x) > len(y) {
			x, y = y, x
		}
		var want []int64
		for _, v := range x {
			if slices.Contains(y, v) {
				want = append(want, int64(v)-7)
			}
		}
		if n := countCommon(x, y); n != len(want) {
			t.Fatalf("%v and %v have %d in common, want %d", x, y, n, len(want))
		}
		var got []int64
		room := make([]int64, 1+rng.IntN(40))
		for a, b := x, y; len(a) > 0 && len(b) > 0; {
			n, i, j := common(room, a, b, -7)
			got = append(got, room[:n]...)
			a, b = a[i:], b[j:]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v and %v have %v in common, want %v", x, y, got, want)
		}
	}
}
