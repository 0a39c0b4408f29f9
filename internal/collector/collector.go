package collector

import (
	goruntime "runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// growth is what the heap may grow by between two collections: a share of what
// is live, in percent, and at least slack bytes.
type growth struct{ percent, slack int64 }

var (
	mu      sync.Mutex
	allowed growth
	applied int64 // percent
	watched bool  // a collection calls adjust
)

// Allow lets the heap grow by a share of what is live, in percent, and by at
// least slack bytes, before it is collected. The share alone would collect a
// small heap all the time: the live trees of a program of thousands of rules
// are marked again for each few megabytes. A memory limit overrides both
// (debug.SetMemoryLimit).
func Allow(percent int, slack int64) {
	mu.Lock()
	allowed = growth{int64(percent), slack}
	first := !watched
	watched = true
	mu.Unlock()
	adjust()
	if first {
		watch()
	}
}

// percentFor returns the value for debug.SetGCPercent when so many bytes are
// live. Go itself lets a heap grow to 4 MiB for each 100 percent.
func (g growth) percentFor(live int64) int64 {
	const least = 4 << 20
	return max(g.percent, g.slack*100/max(live, least))
}

// adjust sets the percent for what was live after the last collection. Each
// call of debug.SetGCPercent stops the world, so small changes wait.
func adjust() {
	mu.Lock()
	defer mu.Unlock()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	percent := allowed.percentFor(int64(sample[0].Value.Uint64()))
	if change := percent - applied; change*10 <= applied && -change*10 <= applied {
		return
	}
	applied = percent
	debug.SetGCPercent(int(percent))
}

// watch calls adjust after each collection from now on: the collector finds the
// object of the finalizer dead each time.
func watch() {
	type mark struct{ _ [16]byte }
	goruntime.SetFinalizer(&mark{}, func(*mark) {
		adjust()
		watch()
	})
}
