package account

import (
	"runtime/debug"
	"sync/atomic"
)

// mapped is how many bytes all accounts of the process have mapped.
var mapped atomic.Int64

// process is what LimitProcess bounds, 0 for nothing, and applied the mapped
// bytes that the limit of Go's heap takes into account.
var process, applied atomic.Int64

// limitStep is by how much mapped has to change before the limit of the heap
// does.
const limitStep = 4 << 20

// LimitProcess lets Go's collector keep the heap and the mapped memory of all
// accounts within so many bytes together, as far as the heap is garbage. It
// sets the process's debug.SetMemoryLimit, now and whenever memory is mapped.
func LimitProcess(bytes int64) {
	process.Store(bytes)
	limitHeap(mapped.Load())
}

// noteMapped counts memory that is mapped, or unmapped if bytes is negative.
func noteMapped(bytes int64) {
	now := mapped.Add(bytes)
	if process.Load() == 0 {
		return
	}
	if change := now - applied.Load(); change >= limitStep || change <= -limitStep {
		limitHeap(now)
	}
}

func limitHeap(mapped int64) {
	applied.Store(mapped)
	debug.SetMemoryLimit(max(process.Load()-mapped, limitStep))
}
