package native

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/decompose"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// parted is the execution of a decomposable loop (harmony/decompose). Workers
// take ranges of values of a column that the loop carries, with the old tuples
// and the delta of these values, and run the loop's kernels to the fixpoint of
// the range. The range's tuples, their set and everything else that the kernels
// write are private to the worker and stay in its cache. There is no barrier
// and no atomic instruction until the tuples of a range are appended to the
// relation.
type parted struct {
	run  *run
	loop *decompose.Loop
	rel  *relation
	col  int // the column whose values are divided
	// Bucket b holds the rows of the relation whose word is between low +
	// b<<shift and the next bucket: rows[starts[b]:starts[b+1]].
	low    int64
	shift  uint
	starts []int
	region account.Region // the memory of rows
	rows   []uint32

	workers int
	most    int64       // bound of a range's rounds; math.MaxInt64 if the loop ends by itself
	stopped atomic.Bool // a worker has failed

	mu sync.Mutex // guards what follows, and reserving rows of the relation
	// next is the first bucket that no worker has taken.
	next int
	// tuples and seeds are the totals of the finished ranges.
	tuples, seeds int64
	ranges        int
	rounds        int64 // of all these
	// copying is held for reading while rows of the relation are read or
	// written, and for writing while its columns move.
	copying sync.RWMutex
}

// Loop runs a decomposable loop, if its column has enough values to keep all
// workers busy.
func (r *run) Loop(b *harmony.Block) (done bool, err error) {
	at := slices.IndexFunc(r.Loops, func(l *decompose.Loop) bool { return l.Block == b })
	if at < 0 {
		return false, nil
	}
	l := r.Loops[at]
	rel := r.relations[l.Rel]
	lay := r.Layouts.Sets[l.Rel]
	if !lay.Parted || rel.gauge.cursor != rel.Full || rel.Full == 0 {
		return false, nil
	}
	p := &parted{run: r, loop: l, rel: rel, col: lay.Part, most: math.MaxInt64}
	if b.Term.(*harmony.Branch).Unbounded {
		p.most = r.walk.Request.RoundsBound()
	}
	defer p.region.Free()
	if err := p.sort(); err != nil {
		return false, err
	}
	if !p.balanced() {
		return false, nil
	}
	return true, p.runAll()
}

// mostBuckets bounds the number of buckets.
const mostBuckets = 1 << 20

// sort assigns the rows of the relation to buckets.
func (p *parted) sort() error {
	n := p.rel.rows()
	col := p.rel.cols[p.col]
	block := make([]int64, min(copyBlock, n))
	each := func(visit func(row int, word int64)) {
		for from := 0; from < n; from += len(block) {
			part := block[:min(len(block), n-from)]
			col.Read(part, from)
			for i, w := range part {
				visit(from+i, w)
			}
		}
	}
	p.low = math.MaxInt64
	high := int64(math.MinInt64)
	each(func(_ int, w int64) { p.low, high = min(p.low, w), max(high, w) })
	for span := uint64(high) - uint64(p.low); span>>p.shift >= uint64(min(max(4*n, 64),
		mostBuckets)); {
		p.shift++
	}
	buckets := int((uint64(high)-uint64(p.low))>>p.shift) + 1
	p.starts = make([]int, buckets+1)
	bucket := func(w int64) int { return int((uint64(w) - uint64(p.low)) >> p.shift) }
	each(func(_ int, w int64) { p.starts[bucket(w)+1]++ })
	for b := range buckets {
		p.starts[b+1] += p.starts[b]
	}
	if err := p.region.Alloc(p.run.mem, p.rel.What, 4*n); err != nil {
		return err
	}
	p.rows = unsafe.Slice((*uint32)(p.region.Data), n)
	to := slices.Clone(p.starts)
	each(func(row int, w int64) {
		b := bucket(w)
		p.rows[to[b]] = uint32(row)
		to[b]++
	})
	return nil
}

// balanced reports whether there are enough values for the threads of the run
// and no value has most of the rows.
func (p *parted) balanced() bool {
	if p.run.threads == 1 {
		p.workers = 1
		return true
	}
	values, most := 0, 0
	for b, from := range p.starts[:len(p.starts)-1] {
		n := p.starts[b+1] - from
		if n > 0 {
			values++
		}
		most = max(most, n)
	}
	p.workers = min(p.run.threads, values)
	return values >= p.run.threads*p.run.sizes.values && most*p.run.threads <= 4*len(p.rows)
}

// runAll processes all buckets.
func (p *parted) runAll() error {
	r := p.run
	for _, x := range p.loop.Builds {
		if err := r.Build(x, x.Version); err != nil {
			return err
		}
	}
	for _, k := range p.loop.Kernels {
		for _, s := range k.Stages {
			if s, ok := s.(*harmony.Probe); ok {
				if err := r.single(r.indexes[s.Index]); err != nil {
					return err
				}
			}
		}
	}
	// The initial tuples are distinct, and results are appended, not inserted.
	p.rel.dropSet()
	for c, read := range p.loop.Read {
		p.rel.cols[c].unread = !read
	}
	begin := time.Now()
	workers := make([]*partWorker, p.workers)
	gauges := make([]*gauge, p.workers)
	for i := range workers {
		w, err := p.newWorker()
		if err != nil {
			return err
		}
		workers[i], gauges[i] = w, w.part.gauge
		defer func() { _ = w.part.Release() }() // never fails
	}
	r.cancel.watch(gauges)
	err := p.join(workers)
	r.cancel.watch(nil)
	if err == nil {
		err = r.cancel.err()
	}
	if err != nil {
		return err
	}
	p.charge(workers, time.Since(begin))
	p.rel.Full, p.rel.Old = p.rel.gauge.cursor, p.rel.gauge.cursor
	for _, c := range p.rel.cols {
		if c.unread {
			c.Free()
		}
	}
	return nil
}

// join runs the workers until all buckets are finished or a worker fails.
func (p *parted) join(workers []*partWorker) error {
	errs := make([]error, len(workers))
	failures := make([]any, len(workers))
	var wg sync.WaitGroup
	for i, w := range workers {
		wg.Go(func() {
			defer func() {
				if failures[i] = recover(); failures[i] != nil || errs[i] != nil {
					p.stopped.Store(true)
				}
			}()
			errs[i] = w.work()
		})
	}
	wg.Wait()
	for i, w := range workers {
		if failures[i] != nil {
			panic(failures[i])
		}
		for _, c := range w.calls {
			p.run.dropped += c.dropped[0]
			if h := c.job.entry.hosts; h != nil && h.failure.Load() != nil {
				panic(*h.failure.Load())
			}
		}
	}
	for _, err := range errs {
		if err != nil && err != errStopped {
			return err
		}
	}
	return nil
}

// charge adds the time of the loop to its commands: to each kernel what the
// workers spent on it, and the rest to the end of the round.
func (p *parted) charge(workers []*partWorker, whole time.Duration) {
	walk := &p.run.walk
	if !walk.Request.Profile {
		return
	}
	at := 0
	for _, c := range p.loop.Block.Cmds {
		switch c := c.(type) {
		case *harmony.Run:
			total := partCall{}
			for _, w := range workers {
				total.calls += w.calls[at].calls
				total.source += w.calls[at].source
				total.kept += w.calls[at].kept
				total.time += w.calls[at].time / time.Duration(len(workers))
			}
			at++
			whole -= total.time
			bytes := total.source*int64(p.run.LoadedBytes(c.Kernel)) +
				total.kept*int64(p.rel.rowBytes())
			walk.Charge(c, total.calls,
				woven.Work{Source: total.source, Kept: total.kept, Bytes: bytes}, total.time)
		case *harmony.Merge:
			walk.Charge(c, int64(p.ranges), woven.Work{}, max(whole, 0))
		}
	}
}

// span is the buckets from up to until, with their expected number of tuples.
type span struct{ from, until, expected int }

// take returns the next buckets for a worker. It aims for as many as derive
// partTuples tuples, which stay in a cache, judged by the finished ranges.
// Rounds of few tuples make it aim for more. It takes at most a small part of
// the remaining rows. If the tuples of a good part of the buckets fit a small
// bit set, it takes no more than fit one.
func (p *parted) take() (s span, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.starts) - 1
	for p.next < last && p.starts[p.next+1] == p.starts[p.next] {
		p.next++
	}
	if p.next == last {
		return span{}, false
	}
	size := &p.run.sizes
	fanout := float64(unknownFanout)
	if p.seeds > 0 {
		fanout = float64(p.tuples) / float64(p.seeds)
	}
	wanted := max(int(float64(size.partTuples)/fanout), 1)
	if p.rounds > 0 {
		perRound := max(p.tuples/p.rounds, 1)
		wanted *= int(min(max(leastRound/perRound, 1), mostWiden))
	}
	wanted = min(wanted, max((len(p.rows)-p.starts[p.next])/(4*p.workers), 1))
	until := p.next + 1
	for until < last && p.starts[until]-p.starts[p.next] < wanted {
		until++
	}
	if fit := p.bitsFit(); fit > 0 && until-p.next > fit {
		if n := p.starts[p.next+fit] - p.starts[p.next]; n*16 >= wanted {
			until = p.next + fit
		}
	}
	// A value may have far more tuples than the average. Its table grows then.
	expected := min(fanout*float64(p.starts[until]-p.starts[p.next]), float64(4*size.partTuples))
	s = span{from: p.next, until: until, expected: int(expected)}
	p.next = until
	return s, true
}

const (
	// leastRound is how many tuples a round should have at least: for fewer,
	// calling the loop's kernels takes longer than their work.
	leastRound = 256
	// mostWiden bounds the factor by which a range is widened for leastRound.
	mostWiden = 16
)

// unknownFanout is the assumed number of tuples that one initial tuple leads
// to, while no range is finished.
const unknownFanout = 256

// bitsFit returns how many buckets fit a bit set of partBytes, or 0 if that is
// too few values for a bit set to pay.
func (p *parted) bitsFit() int {
	low := p.run.Layouts.Sets[p.rel.Decl].Fields[p.col].Shift
	values := 8 * p.run.sizes.partBytes >> low
	if values < leastValues {
		return 0
	}
	return values >> p.shift
}

// leastValues is the smallest number of values that are worth a bit set of
// partBytes.
const leastValues = 16

// finished records the result of a range and reports progress.
func (p *parted) finished(seeds, tuples int, rounds int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seeds += int64(seeds)
	p.tuples += int64(tuples)
	p.ranges++
	p.rounds += rounds
	p.run.walk.Progress(p.loop.Block, p.ranges, []*harmony.Relation{p.rel.Decl},
		int64(tuples-seeds), p.rel.gauge.cursor)
	return p.run.cancel.err()
}

// append appends rows of a worker's relation to the program's.
func (p *parted) append(part *relation, from int) error {
	n := part.rows() - from
	if n == 0 {
		return nil
	}
	at, err := p.reserve(n)
	if err != nil {
		return err
	}
	defer p.copying.RUnlock()
	for i, c := range p.rel.cols {
		if !c.unread && c.Width > 0 {
			to := unsafe.Slice((*byte)(c.Region.Data), c.Bytes)[at*c.Width:]
			copy(to,
				unsafe.Slice((*byte)(part.cols[i].Region.Data),
					part.cols[i].Bytes)[from*c.Width:(from+n)*c.Width])
		}
	}
	return nil
}

// reserve reserves n rows of the relation. They do not move until the caller
// unlocks copying for reading.
func (p *parted) reserve(n int) (at int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at = p.rel.rows()
	if err := p.rel.CheckRows(int64(at + n)); err != nil {
		return 0, err
	}
	if at+n > p.rel.capacity {
		p.copying.Lock()
		err := p.rel.growColumns(at + n)
		p.copying.Unlock()
		if err != nil {
			return 0, err
		}
	}
	p.rel.gauge.cursor += int64(n)
	p.copying.RLock()
	return at, nil
}

// errStopped ends a worker after another one has failed or the run is
// cancelled.
var errStopped = errors.New("stopped")
