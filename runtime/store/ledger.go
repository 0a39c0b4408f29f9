package store

import "sync"

// ledger keeps what one load has reserved of Options.Reserve. A nil ledger allows
// everything. It is safe for concurrent use, and an order.Allocator.
type ledger struct {
	reserve func(what string, n int64) error // nil: no bound
	bound   int64                            // of reserve

	mu   sync.Mutex
	held int64
	err  error // of every reservation, once the load has failed
}

// bounded reports whether a reservation may fail.
func (g *ledger) bounded() bool { return g != nil && g.reserve != nil }

// scarce reports whether memory is worth more than time.
func (g *ledger) scarce() bool {
	if !g.bounded() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held > g.bound/plenty
}

// plenty is the share of a bound that may be held without care.
const plenty = 4

// take reserves memory before it is allocated. what is the subject of the message if
// there is not enough.
func (g *ledger) take(what string, n int64) error {
	if !g.bounded() || n == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil && n > 0 {
		return g.err
	}
	if err := g.reserve(what, n); err != nil {
		return err
	}
	g.held += n
	return nil
}

// give gives back memory that is garbage from now on.
func (g *ledger) give(n int64) {
	// Giving back does not fail.
	_ = g.take("", -n)
}

// settle gives back all but the given bytes.
func (g *ledger) settle(keep int64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	held := g.held
	g.mu.Unlock()
	g.give(held - keep)
}

// fail gives everything back. Goroutines that have not stopped yet get nothing more.
func (g *ledger) fail(err error) {
	g.mu.Lock()
	g.err = err
	g.mu.Unlock()
	g.settle(0)
}

// Alloc returns n zeroed words of Go's heap.
func (g *ledger) Alloc(what string, n int) ([]uint64, error) {
	if err := g.take(what, 8*int64(n)); err != nil {
		return nil, err
	}
	return make([]uint64, n), nil
}

// Free leaves words to the collector.
func (g *ledger) Free(words []uint64) { g.give(8 * int64(cap(words))) }
