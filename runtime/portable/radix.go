package portable

import "slices"

const (
	// radixDigit is the bits that a pass of the sort looks at: 2048 counters fit
	// the first-level cache.
	radixDigit = 11
	// parallelSort is the number of words from which several workers sort, and
	// radixSplit the bits by which they share the words out.
	parallelSort = 1 << 17
	radixSplit   = 8
)

// sortWords sorts words by their bits from (inclusive) to to (exclusive); the
// bits above are equal in all. It needs as much memory again.
func sortWords(r *run, name string, words []uint64, from, to int) {
	if len(words) < 256 {
		slices.Sort(words)
		return
	}
	spare := alloc[uint64](r.mem, name, len(words))
	defer free(r.mem, spare)
	if len(words) < parallelSort || r.threads == 1 || to-from <= radixSplit {
		radixSort(words, spare, from, to)
		return
	}
	// Bring words with equal highest bits together, each worker its share of the
	// words, and then sort each such group on its own.
	shift := to - radixSplit
	share := (len(words) + r.threads - 1) / r.threads
	counts := make([][1 << radixSplit]int, r.threads)
	part := func(i int) []uint64 { return words[min(i*share, len(words)):min((i+1)*share, len(words))] }
	r.tasks(r.threads, func(i int) {
		for _, w := range part(i) {
			counts[i][w>>shift&(1<<radixSplit-1)]++
		}
	})
	var starts [1<<radixSplit + 1]int
	at := 0
	for d := range 1 << radixSplit {
		starts[d] = at
		for i := range counts {
			counts[i][d], at = at, at+counts[i][d]
		}
	}
	starts[1<<radixSplit] = at
	r.tasks(r.threads, func(i int) {
		next := &counts[i]
		for _, w := range part(i) {
			d := w >> shift & (1<<radixSplit - 1)
			spare[next[d]] = w
			next[d]++
		}
	})
	r.tasks(1<<radixSplit, func(d int) {
		group := spare[starts[d]:starts[d+1]]
		sorted := words[starts[d]:starts[d+1]]
		if len(group) < 256 {
			slices.Sort(group)
		} else {
			radixSort(group, sorted, from, shift)
		}
		copy(sorted, group)
	})
}

// radixSort sorts words by the bits from..to-1, lowest digits first, with spare
// as the other side of each pass.
func radixSort(words, spare []uint64, from, to int) {
	passes := (to - from + radixDigit - 1) / radixDigit
	if passes == 0 {
		return
	}
	digit := (to - from + passes - 1) / passes
	src, dst := words, spare
	for shift := from; shift < to; shift += digit {
		mask := uint64(1)<<min(digit, to-shift) - 1
		var next [1 << radixDigit]int
		for _, w := range src {
			next[w>>shift&mask]++
		}
		at := 0
		for i := range next[:mask+1] {
			next[i], at = at, at+next[i]
		}
		for _, w := range src {
			d := w >> shift & mask
			dst[next[d]] = w
			next[d]++
		}
		src, dst = dst, src
	}
	if passes%2 == 1 {
		copy(words, spare)
	}
}
