package store

import (
	"sync"

	"github.com/redfoxdb/redfox/internal/scratch"
)

// Ledger accounts for the memory that one load has reserved. A nil ledger
// allows everything. A ledger is safe for concurrent use, and implements
// order.Allocator.
type Ledger struct {
	reserve func(what string, n int64) error // nil: no bound
	bound   int64                            // how much reserve allows
	pages   *scratch.Pages                   // nil: everything is in memory
	others  func() int64                     // held by all ledgers of the bound; set with pages

	mu   sync.Mutex
	held int64
	err  error // returned by every reservation once the load has failed
	// paged has the owners of words that Alloc took from the pages, by the
	// address of the first word.
	paged map[*uint64]any
}

// NewLedger returns a ledger that asks reserve, which allows bound bytes. A nil
// reserve allows everything.
func NewLedger(reserve func(what string, n int64) error, bound int64) *Ledger {
	return &Ledger{reserve: reserve, bound: bound}
}

// Bounded reports whether a reservation may fail.
func (g *Ledger) Bounded() bool { return g != nil && g.reserve != nil }

// scarce reports whether memory is worth more than time.
func (g *Ledger) scarce() bool {
	if !g.Bounded() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held > g.bound/plenty
}

// plenty divides the bound: up to bound/plenty, memory is not scarce.
const plenty = 4

// Take reserves memory before it is allocated. what is the subject of the error
// message if there is not enough.
func (g *Ledger) Take(what string, n int64) error {
	if !g.Bounded() || n == 0 {
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

// Give returns memory that is garbage from now on.
func (g *Ledger) Give(n int64) {
	// Returning memory does not fail.
	_ = g.Take("", -n)
}

// Settle returns all but keep bytes.
func (g *Ledger) Settle(keep int64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	held := g.held
	g.mu.Unlock()
	g.Give(held - keep)
}

// Fail returns all memory, and refuses more to goroutines that have not stopped
// yet.
func (g *Ledger) Fail(err error) {
	g.mu.Lock()
	g.err = err
	g.mu.Unlock()
	g.Settle(0)
}
