package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCodesOfTexts compares a lookup of texts in batches with one of single
// strings. Its texts repeat often, or are too many for lookups, or first the
// one and then the other; some are not valid text.
func TestCodesOfTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, different := range []int{3, 1000, 100_000} {
		batch, single := NewInterner(nil, ""), NewInterner(nil, "")
		for block := range 8 {
			var data []byte
			var words []int64
			var want []string
			for range 20_000 {
				n := rng.IntN(different)
				text := fmt.Sprintf("%d%.*s", n, n%12, " of the north")
				switch {
				case rng.IntN(50) == 0:
					words, want = append(words, 0), append(want, "") // a span of no bytes
					continue
				case n%97 == 1:
					text += "\xff"
				case block%2 == 1 && different > 50_000: // nearly all are new
					text += fmt.Sprint(rng.Uint32())
				}
				words = append(words, Span(len(data), len(text)))
				want = append(want, text)
				data = append(data, text...)
			}
			last := -1
			batch.CodesOfTexts(data, words, func(i int) int64 {
				if i <= last {
					t.Fatalf("text %d is refused after text %d", i, last)
				}
				last = i
				return -2
			})
			for i, w := range words {
				_, ok := single.CodeOfText([]byte(want[i]))
				if ok != (w != -2) || ok && batch.at(int(w)) != want[i] {
					t.Fatalf("%q is %d", want[i], w)
				}
			}
		}
		// Which strings are added without a lookup may differ by a batch.
		if a, b := batch.len(), single.len(); max(a-b, b-a) > batchTexts {
			t.Errorf("%d texts: %d strings in batches, %d one by one", different, a, b)
		}
	}
}

// TestCodesOfEmptyTexts looks the empty string up where the table has another
// string at the place of its hash, which may be the last one of all.
func TestCodesOfEmptyTexts(t *testing.T) {
	for n := range 3000 {
		var data []byte
		var words []int64
		for i := range 30 {
			text := fmt.Sprint("string ", n, " ", i)
			words = append(words, Span(len(data), len(text)))
			data = append(data, text...)
		}
		in := NewInterner(nil, "")
		in.CodesOfTexts(data, words, nil)
		words = append(words[:0], 0)
		in.CodesOfTexts(data, words, nil)
		if got := in.at(int(words[0])); got != "" {
			t.Fatalf("the empty string is %q", got)
		}
	}
}
