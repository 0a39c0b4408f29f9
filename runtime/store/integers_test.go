package store

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestPackedColumns compares columns of slices with those made word by word,
// for ranges around the limits of widths, on several threads.
func TestPackedColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	types := []scalar.Type{
		{Kind: scalar.Int, Bits: 8}, {Kind: scalar.Int, Bits: 32}, {Kind: scalar.Int, Bits: 64},
		{Kind: scalar.Uint, Bits: 16}, {Kind: scalar.Uint, Bits: 64},
	}
	for i, span := range []int64{0, 1, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 +
		1, math.MaxInt64} {
		for j, low := range []int64{0, 1, 7, -128, -1, math.MinInt32, math.MaxInt32} {
			for _, n := range []int{1, 2, 5, 70_000} {
				if span > math.MaxInt64-max(low, 0) {
					continue
				}
				words := make([]int64, n)
				for i := range words {
					words[i] = low + random.Int64N(max(span, 1))
				}
				words[n-1] = low + span
				words[n/2] = low
				if random.IntN(2) == 0 {
					slices.Sort(words)
				}
				for k, typ := range types {
					// With -short, one type has long columns of these bounds.
					if testing.Short() && n > 5 && (i+j)%len(types) != k {
						continue
					}
					comparePacked(t, typ, words)
					comparePacked(t, typ, convertAll[int32](words))
					comparePacked(t, typ, convertAll[uint8](words))
					comparePacked(t, typ, convertAll[uint64](words))
				}
			}
		}
	}
}

func convertAll[T integer](words []int64) []T {
	out := make([]T, len(words))
	for i, w := range words {
		out[i] = T(w)
	}
	return out
}

func comparePacked[T integer](t *testing.T, typ scalar.Type, values []T) {
	t.Helper()
	words := make([]int64, len(values))
	fit := true
	for i, v := range values {
		words[i] = int64(v)
		fit = fit && fits(typ, v)
	}
	got := Integers(typ, values)
	if (got != nil) != fit {
		t.Fatalf("%v of %T from %d: fits %v, packed %v", typ, values, words[0], fit, got != nil)
	}
	if got == nil {
		return
	}
	if want := ColumnOf(typ, words, nil); !reflect.DeepEqual(got, want) {
		t.Fatalf("%v of %T from %d: base %d width %d %+v, want base %d width %d %+v", typ, values,
			words[0],
			got.Base, got.Width, got.Stats, want.Base, want.Width, want.Stats)
	}
}
