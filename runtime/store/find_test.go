package store

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// dictOf returns a dictionary of random strings over few letters, some of them
// empty or long.
func dictOf(rnd *rand.Rand, n int, letters string) *Dict {
	var list []string
	for range n {
		s := make([]byte, rnd.IntN(12))
		for i := range s {
			s[i] = letters[rnd.IntN(len(letters))]
		}
		list = append(list, string(s))
	}
	slices.Sort(list)
	return NewDict(slices.Compact(list))
}

// TestFinder compares what is found, in parts of the dictionary, with a look at
// each string: texts of bytes that are rare and of bytes that are in every
// string, and texts that one string ends with and the next begins with.
func TestFinder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, letters := range []string{"ab", "abcdefghijklmnopqrstuvwxyz", strings.Repeat("a", 60) +
		"b"} {
		d := dictOf(rnd, 3000, letters)
		for range 200 {
			texts := make([]string, 1+rnd.IntN(2))
			for i := range texts {
				for range 1 + rnd.IntN(4) {
					texts[i] += letters[rnd.IntN(len(letters)):][:1]
				}
			}
			f := d.Finder(texts...)
			if !slices.Contains(texts, f.text) {
				t.Fatalf("%q is none of %q", f.text, texts)
			}
			from := rnd.IntN(d.Len() + 1)
			to := from + rnd.IntN(d.Len()-from+1)
			var got, want []int
			f.Find(from, to, func(code int, _ string) { got = append(got, code) })
			for code := from; code < to; code++ {
				if strings.Contains(d.String(uint32(code)), f.text) {
					want = append(want, code)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q from %d to %d is in %v, want %v", f.text, from, to, got, want)
			}
		}
	}
}

func TestWithPrefix(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	d := dictOf(rnd, 500, "ab\xff")
	for _, prefix := range []string{"", "a", "ab", "b", "\xff", "\xff\xff", "bbbbbbbbbbbbb", "c"} {
		from, to := d.WithPrefix(prefix)
		for code := range d.Len() {
			if in, want := from <= code && code < to,
				strings.HasPrefix(d.String(uint32(code)), prefix); in != want {
				t.Errorf("%q is among those that begin with %q: %t", d.String(uint32(code)), prefix,
					in)
			}
		}
	}
}

func TestBooleanColumn(t *testing.T) {
	for _, values := range [][]uint8{nil, {0}, {1}, {0, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 1, 1},
		{0, 1, 0}, {1, 0, 1}} {
		words := make([]int64, len(values))
		for i, v := range values {
			words[i] = int64(v)
		}
		got, want := BooleanColumn(values), ColumnOf(scalar.BooleanType, words, nil)
		if got.Len() != want.Len() || got.Width != want.Width || got.Stats != want.Stats ||
			got.Base != want.Base || got.Step != want.Step {
			t.Errorf("%v: %+v, want %+v", values, got, want)
		}
		for i := range values {
			if got.Word(i) != want.Word(i) {
				t.Errorf("%v: word %d is %d", values, i, got.Word(i))
			}
		}
	}
}

func BenchmarkFinder(b *testing.B) {
	rnd := rand.New(rand.NewPCG(7, 8))
	nouns := strings.Fields(
		"packages requests accounts deposits foxes ideas theodolites pinto beans " +
			"instructions dependencies excuses platelets asymptotes courts dolphins")
	verbs := strings.Fields(
		"sleep wake are cajole haggle nag use boost affix detect integrate maintain " +
			"special furious sly careful blithe quick fluffy slow quiet ruthless")
	var list []string
	for range 100_000 {
		s := ""
		for range 7 {
			s += nouns[rnd.IntN(len(nouns))] + " " + verbs[rnd.IntN(len(verbs))] + " "
		}
		list = append(list, s[:49])
	}
	slices.Sort(list)
	d := NewDict(slices.Compact(list))
	for _, text := range []string{"requests", "special", "e", "zebra"} {
		b.Run(text, func(b *testing.B) {
			b.SetBytes(int64(d.sorted.start(d.Len())))
			f := d.Finder(text)
			for b.Loop() {
				found := 0
				f.Find(0, d.Len(), func(int, string) { found++ })
			}
		})
	}
}
