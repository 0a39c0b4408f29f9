package portable

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/runtime/order"
)

// options are sizes. Tests shrink them to reach every path with little data.
type options struct {
	vector int // rows of a batch
	// serialRows is the number of source rows from which a second worker pays:
	// starting one costs some microseconds.
	serialRows int
	// smallSet is the number of tuples that a set holds in its small form, which
	// then fills a part of the second-level cache.
	smallSet  int
	noBitmaps bool // for tests of the other forms of sets
	// groups is the number of groups from which a worker's table outgrows the
	// second-level cache.
	groups int
}

var defaults = options{vector: 2048, serialRows: 1 << 12, smallSet: 1 << 15, groups: 1 << 16}

// run is what the parts of one run share: workers, memory, cancellation, sizes.
type run struct {
	opts    options
	threads int
	workers []*worker
	mem     *memory
	stop    canceller
	dropped atomic.Int64 // decimals that did not fit
}

// worker is one of the run's threads.
type worker struct {
	id  int
	run *run
}

// newRun returns a run with that many workers and a bound on its memory; 0
// stands for no bound.
func newRun(ctx context.Context, threads int, bound int64, opts options) *run {
	r := &run{opts: opts, threads: threads, mem: newMemory(bound)}
	for i := range threads {
		r.workers = append(r.workers, &worker{id: i, run: r})
	}
	r.stop.ctx = ctx
	return r
}

// sorter returns what sorts for the run.
func (r *run) sorter() *order.Sorter { return &order.Sorter{Threads: r.threads, Memory: r.mem} }

// parallel runs f on several workers and waits for them. The first failure stops
// the others and is passed on.
func (r *run) parallel(workers int, f func(w *worker)) {
	errs := make([]error, workers)
	var failed atomic.Int32
	work := func(i int) {
		if errs[i] = guard(func() { f(r.workers[i]) }); errs[i] != nil {
			failed.CompareAndSwap(0, int32(i)+1)
			r.stop.stop()
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < workers; i++ {
		wg.Go(func() { work(i) })
	}
	work(0)
	wg.Wait()
	if i := failed.Load(); i != 0 {
		abort(errs[i-1])
	}
}

// tasks runs f(0), ..., f(n-1), spread over the workers.
func (r *run) tasks(n int, f func(i int)) {
	if n <= 1 || r.threads == 1 {
		for i := range n {
			r.stop.check()
			f(i)
		}
		return
	}
	var next atomic.Int64
	r.parallel(min(n, r.threads), func(*worker) {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			r.stop.check()
			f(i)
		}
	})
}
