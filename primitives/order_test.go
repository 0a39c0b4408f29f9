package primitives

import (
	"cmp"
	"slices"
	"sort"
	"testing"
)

func TestSearch(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for _, width := range []int{0, 2, 8} {
			base, step := int64(-4), int64(2)
			sorted := clipped(words, width, base, step)
			slices.Sort(sorted)
			n := len(sorted)
			probes := []int64{base - 1, 1 << 40, 0}
			for i := 0; i < n; i += 7 {
				probes = append(probes, sorted[i]-1, sorted[i], sorted[i]+1)
			}
			m := len(probes)
			lower, upper, seek := make([]int64, m), make([]int64, m), make([]int64, m)
			d.run(t, "search_sorted", narrow(sorted, width, base, step), width, base, step, n,
				probes, m, lower, upper, seek)
			wantLower, wantUpper := make([]int64, m), make([]int64, m)
			for i, p := range probes {
				wantLower[i] = int64(sort.Search(n, func(k int) bool { return sorted[k] >= p }))
				wantUpper[i] = int64(sort.Search(n, func(k int) bool { return sorted[k] > p }))
			}
			equal(t, "lower bounds", lower, wantLower)
			equal(t, "upper bounds", upper, wantUpper)
			equal(t, "seeks", seek, wantLower)
		}
	})
}

func TestMerge(t *testing.T) {
	type entry struct{ word, source int64 }
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for _, cut := range []int{0, len(words) / 3, len(words)} {
			a, b := slices.Clone(words[:cut]), slices.Clone(words[cut:])
			slices.Sort(a)
			slices.Sort(b)
			var want []entry
			for i, w := range slices.Concat(a, b) {
				want = append(want, entry{w, int64(i)})
			}
			slices.SortStableFunc(want, func(x, y entry) int { return cmp.Compare(x.word, y.word) })
			n := len(words)
			merged, sources := make([]int64, n), make([]int64, n)
			d.run(t, "merge_block", a, len(a), b, len(b), merged, sources)
			got := make([]entry, n)
			for i := range got {
				got[i] = entry{merged[i], sources[i]}
			}
			equal(t, "merged", got, want)
		}
	})
}

func TestSegments(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		keys := slices.Clone(words)
		slices.Sort(keys)
		n := len(keys)
		heads, sums := make([]int64, n), make([]int64, n)
		d.run(t, "segment_block", keys, words, n, heads, sums)
		wantHeads, wantSums := make([]int64, n), make([]int64, n)
		for i, key := range keys {
			wantSums[i] = words[i]
			if i == 0 || keys[i-1] != key {
				wantHeads[i] = 1
			} else if i%d.tile() != 0 {
				wantSums[i] += wantSums[i-1]
			}
		}
		equal(t, "heads", heads, wantHeads)
		equal(t, "sums", sums, wantSums)
	})
}

func TestRadixSort(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		tile := d.tile()
		if d.threads == 1024 {
			tile = d.threads
		}
		tiles := (n + tile - 1) / tile
		type row struct{ key, payload int64 }
		rows := make([]row, n)
		keys, payloads := slices.Clone(words), make([]int64, n)
		for i := range rows {
			payloads[i] = int64(i) + 1000
			rows[i] = row{words[i], payloads[i]}
		}
		// A distribution of small words needs few passes, the last digit of a
		// large word is reached by the last.
		for _, shift := range []int{0, 8, 56} {
			counts := make([]uint64, 256*tiles)
			d.run(t, "radix_histogram", keys, n, shift, counts)
			sum := uint64(0)
			for i, c := range counts {
				counts[i] = sum
				sum += c
			}
			if sum != uint64(n) {
				t.Fatalf("the histogram counts %d of %d rows", sum, n)
			}
			sorted, moved := make([]int64, n), make([]int64, n)
			d.run(t, "radix_scatter", keys, payloads, n, shift, counts, sorted, moved)
			digit := func(key int64) int64 { return key >> shift & 255 }
			slices.SortStableFunc(rows, func(a, b row) int {
				return cmp.Compare(digit(a.key), digit(b.key))
			})
			got := make([]row, n)
			for i := range got {
				got[i] = row{sorted[i], moved[i]}
			}
			equal(t, "sorted by a digit", got, rows)

			alone := make([]int64, n)
			d.run(t, "radix_scatter", keys, 0, n, shift, counts, alone, 0)
			equal(t, "sorted without payloads", alone, sorted)
			keys, payloads = sorted, moved
		}
	})
}
