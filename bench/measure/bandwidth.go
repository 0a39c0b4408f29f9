package measure

import (
	"sync"
	"sync/atomic"
	"time"
)

// Bandwidth measures how many bytes a second a number of threads read from
// memory. It takes the best of several passes over an array of half a GiB,
// which is larger than most caches. Each thread reads a part of its own in
// order.
func Bandwidth(threads int) float64 {
	const (
		bytes  = 512 << 20
		passes = 10
	)
	parts := make([][]uint64, threads)
	for i := range parts {
		parts[i] = make([]uint64, bytes/8/threads)
	}
	// The first pass writes, so that each thread reads its own pages.
	var sum atomic.Uint64 // keeps the compiler from removing the reads
	best := 0.0
	for pass := range passes {
		start := time.Now()
		var wait sync.WaitGroup
		for _, part := range parts {
			wait.Go(func() {
				if pass == 0 {
					for i := range part {
						part[i] = uint64(i)
					}
					return
				}
				sum.Add(total(part))
			})
		}
		wait.Wait()
		if pass > 0 {
			best = max(best, float64(threads*len(parts[0])*8)/time.Since(start).Seconds())
		}
	}
	return best
}

// total adds words in eight chains, so that no addition waits for the previous
// one.
func total(words []uint64) uint64 {
	var s [8]uint64
	for ; len(words) >= 8; words = words[8:] {
		w := words[:8]
		s[0] += w[0]
		s[1] += w[1]
		s[2] += w[2]
		s[3] += w[3]
		s[4] += w[4]
		s[5] += w[5]
		s[6] += w[6]
		s[7] += w[7]
	}
	for _, w := range words {
		s[0] += w
	}
	return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]
}
