package work

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/runtime/order"
)

// Sizes are sizes. Tests shrink them to reach every path with little data.
type Sizes struct {
	Vector int // rows of a batch
	// SerialRows is the number of source rows from which a second worker pays:
	// starting one costs some microseconds.
	SerialRows int
	// SmallSet is the number of tuples that a set holds in its small form,
	// which then fills a part of the second-level cache.
	SmallSet  int
	NoBitmaps bool // for tests of the other forms of sets
	// Groups is the number of groups from which a worker's table outgrows the
	// second-level cache.
	Groups int
	// Grown is the factor by which a relation that a loop reads has to grow so
	// that the orders of the loop's joins are chosen again; Counted is the
	// least number of its tuples then.
	Grown   float64
	Counted int
}

// DefaultSizes are those of every run but tests'.
var DefaultSizes = Sizes{Vector: 2048, SerialRows: 1 << 12, SmallSet: 1 << 15, Groups: 1 << 16,
	Grown: 10, Counted: 1 << 12}

// Run is what the parts of one run share: workers, memory, cancellation, sizes.
type Run struct {
	Sizes   Sizes
	Threads int
	Workers []*Worker
	Mem     *Memory
	Stop    canceller
	Dropped atomic.Int64 // decimals that did not fit
	// NoBitJoins has all joins go through rows.
	NoBitJoins bool
}

// Worker is one of the run's threads.
type Worker struct {
	ID  int
	Run *Run
}

// NewRun returns a run with that many workers and a bound on its memory; 0
// stands for no bound.
func NewRun(ctx context.Context, threads int, bound int64, opts Sizes) *Run {
	r := &Run{Sizes: opts, Threads: threads, Mem: newMemory(bound)}
	for i := range threads {
		r.Workers = append(r.Workers, &Worker{ID: i, Run: r})
	}
	r.Stop.Ctx = ctx
	return r
}

// Sorter returns what sorts for the run.
func (r *Run) Sorter() *order.Sorter { return &order.Sorter{Threads: r.Threads, Memory: r.Mem} }

// Parallel runs f on several workers and waits for them. The first failure
// stops the others and is passed on.
func (r *Run) Parallel(workers int, f func(w *Worker)) {
	errs := make([]error, workers)
	var failed atomic.Int32
	work := func(i int) {
		if errs[i] = Guard(func() { f(r.Workers[i]) }); errs[i] != nil {
			failed.CompareAndSwap(0, int32(i)+1)
			r.Stop.Stop()
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < workers; i++ {
		wg.Go(func() { work(i) })
	}
	work(0)
	wg.Wait()
	if i := failed.Load(); i != 0 {
		Abort(errs[i-1])
	}
}

// Tasks runs f(0), ..., f(n-1), spread over the workers.
func (r *Run) Tasks(n int, f func(i int)) {
	if n <= 1 || r.Threads == 1 {
		for i := range n {
			r.Stop.Check()
			f(i)
		}
		return
	}
	var next atomic.Int64
	r.Parallel(min(n, r.Threads), func(*Worker) {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			r.Stop.Check()
			f(i)
		}
	})
}
