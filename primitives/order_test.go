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
