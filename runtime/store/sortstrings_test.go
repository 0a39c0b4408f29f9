package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
)

// TestSortStrings numbers strings by several interners, most of them by more
// than one, and by dictionaries, enough of them for many buckets.
func TestSortStrings(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	someThreads := short.Part(t, []int{4, 1}, "numbers of threads")
	kinds := map[string]func() string{
		"numbers":    func() string { return fmt.Sprint(rng.IntN(400_000)) },
		"one prefix": func() string { return fmt.Sprintf("Customer#%09d", rng.IntN(200_000)) },
		"few":        func() string { return strings.Repeat("x", rng.IntN(300)) },
		"long prefixes": func() string {
			return strings.Repeat("the same words ", rng.IntN(40)) +
				fmt.Sprint(rng.IntN(40_000))
		},
	}
	for name, draw := range kinds {
		for _, prefixes := range []bool{false, true} {
			var sources []dictSource
			all := map[string]bool{}
			for range 3 {
				in := NewInterner(nil, "")
				for range 40_000 {
					in.Code(draw())
				}
				sources = append(sources, in)
			}
			if prefixes {
				some := map[string]bool{}
				for range 1000 {
					some[draw()] = true
				}
				var list []string
				for s := range some {
					list = append(list, s)
				}
				slices.Sort(list)
				d := NewDict(list)
				for range 1000 {
					d.Intern(draw())
				}
				sources = append(sources, d)
			}
			for _, s := range sources {
				for i := range s.len() {
					all[s.at(i)] = true
				}
			}
			for _, threads := range someThreads {
				l, err := sortStrings(context.Background(), threads, sources, nil)
				if err != nil {
					t.Fatal(err)
				}
				if name != "few" && len(l.starts) < 4 {
					t.Errorf("%s: only %d buckets", name, len(l.starts)-1)
				}
				m, err := mergeSources(context.Background(), threads, slices.Clone(sources), nil, "")
				if err != nil {
					t.Fatal(err)
				}
				d, remaps := m.Dict, m.Remaps
				if d.Len() != len(all) || d.Sorted() != len(all) {
					t.Fatalf("%s: %d strings, %d sorted; want %d", name, d.Len(), d.Sorted(),
						len(all))
				}
				for c := 1; c < d.Len(); c++ {
					if d.String(uint32(c-1)) >= d.String(uint32(c)) {
						t.Fatalf("%s: %q does not come before %q", name, d.String(uint32(c-1)),
							d.String(uint32(c)))
					}
				}
				for i, s := range sources {
					for j := range s.len() {
						code := j
						if remaps[i] != nil {
							code = int(remaps[i][j])
						}
						if d.String(uint32(code)) != s.at(j) {
							t.Fatalf("%s: %q became %q", name, s.at(j), d.String(uint32(code)))
						}
					}
				}
			}
		}
	}
}

// TestLongDictionary makes a dictionary whose strings' places need 64 bits, as
// if that were the case from a megabyte on.
func TestLongDictionary(t *testing.T) {
	defer func(n int) { shortArena = n }(shortArena)
	shortArena = 1 << 20
	in := NewInterner(nil, "")
	for i := range 40_000 {
		in.Code(fmt.Sprintf("a string of a long dictionary: %d", i*7919%40_000))
	}
	m, err := mergeSources(context.Background(), 3, []dictSource{in}, nil, "")
	d, remaps := m.Dict, m.Remaps
	if err != nil || d.Len() != in.len() || d.sorted.wide == nil || d.sorted.ends != nil {
		t.Fatalf("%d strings of %d, wide %v: %v", d.Len(), in.len(), d.sorted.wide != nil, err)
	}
	for i := range in.len() {
		if got := d.String(remaps[0][i]); got != in.at(i) {
			t.Fatalf("%q became %q", in.at(i), got)
		}
	}
	merged, remaps := MergeDicts([]*Dict{d, NewDict([]string{"a", "z"})}, nil)
	if merged.Len() != d.Len()+2 || merged.sorted.wide == nil {
		t.Errorf("%d strings, wide %v", merged.Len(), merged.sorted.wide != nil)
	}
	for _, i := range []int{0, 1, 20_000, d.Len() - 1} {
		if got := merged.String(remaps[0][i]); got != d.String(uint32(i)) {
			t.Errorf("%q became %q", d.String(uint32(i)), got)
		}
	}
}

// TestUniqueRows compares all proofs with a set, for rows enough that several
// threads look at them.
func TestUniqueRows(t *testing.T) {
	const rows = 3 * orderRows
	rng := rand.New(rand.NewPCG(8, 2))
	ascending, shuffled := make([]int64, rows), make([]int64, rows)
	wide := make([]int64, rows)
	for i := range rows {
		ascending[i], wide[i] = int64(i/4), int64(i)<<40
	}
	for i, p := range rng.Perm(rows) {
		shuffled[i] = int64(p)
	}
	within := func(n int) []int64 {
		out := make([]int64, rows)
		for i := range out {
			out[i] = int64(i % n)
		}
		return out
	}
	with := func(words []int64, at int, as int) []int64 {
		words = slices.Clone(words)
		words[at] = words[as]
		return words
	}
	scattered := slices.Clone(shuffled)
	for i := range scattered {
		scattered[i] <<= 20
	}
	// falling makes runs of equal words whose other column descends; each runs
	// over a border between two shares.
	falling := func(n int) (lead, other []int64) {
		lead, other = make([]int64, rows), make([]int64, rows)
		for i := range rows {
			lead[i], other[i] = int64((i+n/2)/n), int64(n-(i+n/2)%n)
		}
		return lead, other
	}
	short, ofShort := falling(6)
	middle, ofMiddle := falling(50)
	long := slices.Clone(short) // with one run that is too long
	for i := range 2 * longestRun {
		long[orderRows-5+i] = long[orderRows-5]
	}
	for i := orderRows - 5 + 2*longestRun; long[i] < long[i-1]; i++ {
		long[i] = long[i-1]
	}
	for name, c := range map[string]struct {
		cols [][]int64
		want bool
	}{
		"runs":                     {[][]int64{short, ofShort}, true},
		"runs with a repeat":       {[][]int64{short, with(ofShort, orderRows+1, orderRows-2)}, false},
		"runs with another repeat": {[][]int64{short, with(ofShort, orderRows+7, orderRows)}, false},
		"middle runs":              {[][]int64{ofMiddle, middle}, true},
		"middle runs with a repeat": {[][]int64{with(ofMiddle, 2*orderRows+9, 2*orderRows-9), middle},
			false},
		"a long run":               {[][]int64{scattered, long}, true},
		"a long run with a repeat": {[][]int64{with(scattered, orderRows, orderRows+5000), long}, false},
		"ascending":                {[][]int64{ascending, within(4)}, true},
		"ascending with repeats":   {[][]int64{ascending, within(2)}, false},
		"repeat between two shares": {[][]int64{with(ascending, orderRows, orderRows-1),
			with(within(4), orderRows, orderRows-1)}, false},
		"bitmap":                   {[][]int64{shuffled}, true},
		"bitmap with a repeat":     {[][]int64{with(shuffled, rows-1, 5)}, false},
		"sort":                     {[][]int64{scattered}, true},
		"sort with a repeat":       {[][]int64{with(scattered, rows-1, 5)}, false},
		"two groups":               {[][]int64{wide, scattered}, true},
		"two groups with a repeat": {[][]int64{with(wide, 7, 6), with(scattered, 7, 6)}, false},
		"one row out of order":     {[][]int64{with(ascending, orderRows, 4), within(8)}, true},
	} {
		var cols []*Column
		seen := map[string]bool{}
		for _, words := range c.cols {
			cols = append(cols, ColumnOf(scalar.IntType, words, nil))
		}
		for i := range rows {
			var row []int64
			for _, words := range c.cols {
				row = append(row, words[i])
			}
			seen[fmt.Sprint(row)] = true
		}
		if (len(seen) == rows) != c.want {
			t.Errorf("%s: the rows are not as the test says", name)
		}
		for _, threads := range []int{1, 3} {
			if got, err := UniqueRows(context.Background(), Sorting{Threads: threads}, cols,
				rows); got != c.want || err != nil {
				t.Errorf("%s, %d threads: %v, %v", name, threads, got, err)
			}
		}
	}
}

// TestInternerTrials numbers strings that are all different and then come again
// and again: few of the first ones are looked up, and all of the others.
func TestInternerTrials(t *testing.T) {
	const different, again = 40 * trialStrings, 100 * trialStrings
	in := NewInterner(nil, "")
	codes := make([]uint32, 0, different+again)
	text := func(i int) string { return fmt.Sprintf("string %d", i) }
	for i := range different {
		codes = append(codes, in.Code(text(i)))
	}
	if in.len() != different || in.held > different/8 {
		t.Errorf("%d different strings: %d numbers, %d of them in the table", different, in.len(),
			in.held)
	}
	for i := range again {
		codes = append(codes, in.Code(text(i%1000)))
	}
	if max := different + trialStrings*(trialRepeats+2); in.len() > max {
		t.Errorf("%d strings, want at most %d", in.len(), max)
	}
	m, err := mergeSources(context.Background(), 2, []dictSource{in}, nil, "")
	d, remaps := m.Dict, m.Remaps
	if err != nil || d.Len() != different {
		t.Fatalf("%d different strings, want %d: %v", d.Len(), different, err)
	}
	for i, code := range codes {
		want := i
		if i >= different {
			want = (i - different) % 1000
		}
		if got := d.String(remaps[0][code]); got != text(want) {
			t.Fatalf("string %d is %q, want %q", i, got, text(want))
		}
	}
}
