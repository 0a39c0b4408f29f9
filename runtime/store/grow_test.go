package store

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestGrow grows columns at random, at times two from one, and compares them
// with slices of words.
func TestGrow(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	inPlace := 0
	for range 200 {
		step := []int64{1, 1, 1000}[r.IntN(3)]
		bound := int64(1) << r.IntN(40)
		draw := func(n int) []int64 {
			out := make([]int64, n)
			for i := range out {
				out[i] = (r.Int64N(bound) - 3) * step
			}
			return out
		}
		words := draw(1 + r.IntN(50))
		c := ColumnOf(scalar.IntType, words, nil)
		for range 30 {
			more := draw(1 + r.IntN(3))
			a, ok := c.Grow(more)
			if !ok {
				continue
			}
			b, _ := c.Grow(draw(1)) // another one over the same entries
			all := append(slices.Clone(words), more...)
			got := make([]int64, a.Len())
			a.Read(got, 0)
			if !slices.Equal(got, all) {
				t.Fatalf("%v and %v are %v", words, more, got)
			}
			if b != nil && b.Len() != len(words)+1 {
				t.Fatalf("the other column has %d entries, want %d", b.Len(), len(words)+1)
			}
			sorted := slices.Compact(slices.Sorted(slices.Values(all)))
			s := a.Stats
			if s.Min != slices.Min(all) || s.Max != slices.Max(all) ||
				s.Ascending && (!slices.IsSorted(all) || s.Distinct != int64(len(sorted))) ||
				s.Distinct == int64(len(all)) && len(sorted) < len(all) {
				t.Fatalf("%v: %+v", all, s)
			}
			if c.used != nil && a.used == c.used {
				inPlace++
			}
			words, c = all, a
		}
	}
	if inPlace < 100 {
		t.Errorf("%d columns grow in place", inPlace)
	}
}

func TestGrowRefuses(t *testing.T) {
	c := ColumnOf(scalar.IntType, []int64{10, 20, 40}, nil)
	for _, words := range [][]int64{{-1}, {1 << 20}, {15, -5}} {
		if _, ok := c.Grow(words); ok {
			t.Errorf("%v fit a column of 10, 20 and 40 with %d bytes", words, c.Width)
		}
	}
	constant := ColumnOf(scalar.IntType, []int64{7, 7}, nil)
	if _, ok := constant.Grow([]int64{7}); ok {
		t.Error("a column without entries grows")
	}
}
