package native

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/llvm"
)

// job is a function and the rows over whose tiles it is called.
type job struct {
	entry       *boundEntry
	from, until int
	workers     int
}

// worker is one caller of a job's function.
type worker struct {
	job     *job
	id      int
	params  []int64
	state   []int64
	dropped [1]int64
	failure any // the value of a panic

	_ [64]byte // keeps workers on different cache lines
}

// morselTiles bounds the tiles that a worker takes at a time.
const morselTiles = 16

// expandingTiles is the smallest number of tiles for each worker if a row may
// have several matches.
const expandingTiles = 2

// canceller moves the limits of the gauges in use when the context is done, so
// that all workers return.
type canceller struct {
	ctx     context.Context
	stopped atomic.Bool
	mu      sync.Mutex
	gauges  []*gauge
}

func (c *canceller) cancel() {
	c.stopped.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.gauges {
		g.setLimit(math.MinInt64)
	}
}

// watch sets the gauges in use. Limits that were moved before stay moved.
func (c *canceller) watch(gauges []*gauge) {
	c.mu.Lock()
	c.gauges = gauges
	c.mu.Unlock()
	if c.stopped.Load() {
		c.cancel()
	}
}

// err returns the cause of the context once it is done.
func (c *canceller) err() error {
	if !c.stopped.Load() {
		return nil
	}
	return context.Cause(c.ctx)
}

// callers returns count workers for a job. An entry reuses its workers, because
// the next job may have just a few rows.
func (b *boundEntry) callers(j *job, count int) []worker {
	if len(b.workers) < count {
		b.workers = make([]worker, count)
		for i := range b.workers {
			w := &b.workers[i]
			w.id = i
			w.params = make([]int64, len(b.params))
			w.state = make([]int64, b.entry.StateWords())
		}
	}
	workers := b.workers[:count]
	for i := range workers {
		w := &workers[i]
		w.job, w.dropped, w.failure = j, [1]int64{}, nil
		clear(w.state)
	}
	return workers
}

// exec calls a job's function for all its rows, on as many workers as pay, and
// enlarges what it fills.
func (r *run) exec(j *job) error {
	e := j.entry
	n := j.until - j.from
	if n <= 0 {
		return nil
	}
	if err := r.heat(e, n); err != nil {
		return err
	}
	tile := e.entry.Threads * e.entry.Items
	tiles := (n + tile - 1) / tile
	least := r.sizes.tiles
	if e.entry.Expansions > 0 {
		// A tile may expand to many.
		least = min(least, expandingTiles)
	}
	count := min(max(tiles/least, 1), r.threads)
	j.workers = count
	morsel := min(max(tiles/(4*count), 1), morselTiles)
	// Below the limit, there must be room for one tile of every worker.
	slack := count * tile
	workers := e.callers(j, count)
	var next atomic.Int64
	for first := true; ; first = false {
		var gauges []*gauge
		for _, t := range e.targets {
			if first || t.To.gauge.full() {
				if err := t.To.makeRoom(slack * t.Sinks); err != nil {
					return err
				}
			}
			gauges = append(gauges, t.To.gauge)
		}
		for i := range workers {
			for _, g := range e.groups {
				if first {
					if err := g.To.workers[i].makeRoom(tile * g.Sinks); err != nil {
						return err
					}
				}
				gauges = append(gauges, &g.To.workers[i].gauge)
			}
		}
		for i := range workers {
			if err := e.bind(&workers[i]); err != nil {
				return err
			}
		}
		r.cancel.watch(gauges)
		left, err := r.round(workers, &next, int64(tiles), int64(morsel), tile)
		r.cancel.watch(nil)
		if h := e.hosts; h != nil {
			if p := h.failure.Load(); p != nil {
				panic(*p)
			}
		}
		if err == nil {
			err = r.cancel.err()
		}
		if err != nil {
			return err
		}
		if !left {
			break
		}
	}
	for i := range workers {
		r.dropped += workers[i].dropped[0]
	}
	for _, g := range e.groups {
		if err := g.To.gather(); err != nil {
			return err
		}
	}
	return nil
}

// round runs the workers until no tiles are left or each has found a relation
// full. It reports whether tiles are left.
func (r *run) round(workers []worker, next *atomic.Int64, tiles, morsel int64,
	tile int) (left bool, err error) {
	var stopped atomic.Bool
	errs := make([]error, len(workers))
	work := func(i int) {
		full, err := r.work(&workers[i], next, tiles, morsel, tile)
		if full {
			stopped.Store(true)
		}
		errs[i] = err
	}
	if len(workers) == 1 {
		work(0)
		return stopped.Load(), errs[0]
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			defer func() { workers[i].failure = recover() }()
			work(i)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if p := workers[i].failure; p != nil {
			panic(p)
		}
		if err != nil {
			return false, err
		}
	}
	return stopped.Load(), nil
}

// work calls the function for one morsel after the other. It reports whether it
// stopped because a relation is full.
func (r *run) work(w *worker, next *atomic.Int64, tiles, morsel int64,
	tile int) (full bool, err error) {
	for {
		if w.state[0] >= w.state[1] {
			from := next.Add(morsel) - morsel
			if from >= tiles || r.cancel.stopped.Load() {
				return false, nil
			}
			clear(w.state)
			w.state[0], w.state[1], w.state[2] = from, min(from+morsel, tiles), 1
		}
		if !w.call() {
			continue
		}
		if r.cancel.stopped.Load() {
			return true, nil
		}
		// A worker enlarges its own groups without waiting for the others.
		grown := false
		for _, g := range w.job.entry.groups {
			t := g.To.workers[w.id]
			if t.gauge.full() {
				if err := t.makeRoom(tile * g.Sinks); err != nil {
					return true, err
				}
				grown = true
			}
		}
		// A limit that was set after the canceller moved all is not seen by it.
		if !grown || r.cancel.stopped.Load() {
			return true, nil
		}
		if err := w.job.entry.bindGroups(w); err != nil {
			return true, err
		}
	}
}

// call calls the function until it has finished its tiles or found a gauge past
// its limit. stopped reports the latter.
func (w *worker) call() (stopped bool) {
	return llvm.Call(w.job.entry.function, uintptr(unsafe.Pointer(&w.params[0])),
		uintptr(unsafe.Pointer(&w.state[0]))) != 0
}
