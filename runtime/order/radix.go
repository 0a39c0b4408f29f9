package order

import (
	"context"
	"slices"
)

const (
	// radixDigit is the bits that a pass of the sort looks at: 2048 counters
	// fit the first-level cache.
	radixDigit = 11
	// smallSort is the number of words below which a comparison sort is faster.
	smallSort = 256
	// parallelSort is the number of words from which several threads sort, and
	// radixSplit the bits by which they share the words out.
	parallelSort = 1 << 17
	radixSplit   = 8
)

// SortWords sorts words by their bits from (inclusive) to to (exclusive); the
// bits above are equal in all. Words that agree on these bits are in the order
// they had, or in ascending order. It needs as much memory again, which is
// accounted for under the given name.
func (s *Sorter) SortWords(ctx context.Context, what string, words []uint64, from, to int) error {
	if len(words) < smallSort {
		slices.Sort(words)
		return nil
	}
	spare, err := s.alloc(what, len(words))
	if err != nil {
		return err
	}
	defer s.free(spare)
	return s.sortWords(ctx, words, spare, from, to)
}

// sortWords is SortWords with spare memory at hand.
func (s *Sorter) sortWords(ctx context.Context, words, spare []uint64, from, to int) error {
	threads := s.threads()
	if len(words) < parallelSort || threads == 1 || to-from <= radixSplit {
		return Radix(ctx, words, spare, from, to)
	}
	if inOrder(words, from) {
		return nil
	}
	// Bring words with equal highest bits together, each thread its share of
	// the words, and then sort each such group on its own.
	shift := to - radixSplit
	share := (len(words) + threads - 1) / threads
	counts := make([][1 << radixSplit]int, threads)
	part := func(i int) []uint64 {
		return words[min(i*share, len(words)):min((i+1)*share,
			len(words))]
	}
	err := s.Tasks(ctx, threads, func(i int) {
		for _, w := range part(i) {
			counts[i][w>>shift&(1<<radixSplit-1)]++
		}
	})
	if err != nil {
		return err
	}
	var starts [1<<radixSplit + 1]int
	at := 0
	for d := range 1 << radixSplit {
		starts[d] = at
		for i := range counts {
			counts[i][d], at = at, at+counts[i][d]
		}
	}
	starts[1<<radixSplit] = at
	err = s.Tasks(ctx, threads, func(i int) {
		next := &counts[i]
		for _, w := range part(i) {
			d := w >> shift & (1<<radixSplit - 1)
			spare[next[d]] = w
			next[d]++
		}
	})
	if err != nil {
		return err
	}
	return s.Tasks(ctx, 1<<radixSplit, func(d int) {
		group := spare[starts[d]:starts[d+1]]
		sorted := words[starts[d]:starts[d+1]]
		// An error is the context's, which tasks returns.
		_ = Radix(ctx, group, sorted, from, shift)
		copy(sorted, group)
	})
}

// inOrder reports whether words ascend by their bits from the given one on.
func inOrder(words []uint64, from int) bool {
	last := uint64(0)
	for _, w := range words {
		if w >>= from & 63; w < last {
			return false
		} else {
			last = w
		}
	}
	return true
}

// Radix sorts words by their bits from..to-1, lowest digits first; the bits
// above are equal in all. Words that agree on these bits are in the order they
// had, or in ascending order. spare is the other side of each pass, and as
// long.
func Radix(ctx context.Context, words, spare []uint64, from, to int) error {
	passes := (to - from + radixDigit - 1) / radixDigit
	switch {
	case passes == 0:
		return nil
	case len(words) < smallSort:
		slices.Sort(words)
		return nil
	case inOrder(words, from):
		return nil
	}
	digit := (to - from + passes - 1) / passes
	src, dst := words, spare[:len(words)]
	for shift := from; shift < to; shift += digit {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		mask := uint64(1)<<min(digit, to-shift) - 1
		var next [1 << radixDigit]int
		for _, w := range src {
			next[w>>shift&mask]++
		}
		if next[src[0]>>shift&mask] == len(src) {
			continue // all words have this digit
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
	if &src[0] != &words[0] {
		copy(words, src)
	}
	return nil
}
