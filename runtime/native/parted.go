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

// parted is a decomposable loop at work. Workers take ranges of values of a
// column that the loop carries, with the old tuples and the delta that the
// relation begins with, and run the loop's kernels to the fixpoint of a range
// by themselves: its tuples, their set and what else the kernels write are the
// worker's own and stay in its cache. There is no barrier and no atomic
// instruction until the tuples of a range are appended to the relation.
type parted struct {
	run  *run
	loop *decompose.Loop
	rel  *relation
	col  int // whose values are dealt out
	// Bucket b has the rows of the relation whose word is from low + b << shift
	// on, as far as the next bucket: rows[starts[b]:starts[b+1]].
	low    int64
	shift  uint
	starts []int
	region account.Region // of rows
	rows   []uint32

	workers int
	most    int64       // rounds of a range, math.MaxInt64 if the loop ends by itself
	stopped atomic.Bool // a worker has failed

	mu sync.Mutex // for what follows, and for reserving rows of the relation
	// next is the first bucket that nobody has taken.
	next int
	// tuples and seeds are those of the ranges that are through, which are so
	// many.
	tuples, seeds int64
	ranges        int
	rounds        int64 // of all these
	// copying is held for reading while rows of the relation are read or
	// written, and for writing while its columns move.
	copying sync.RWMutex
}

// Loop runs a decomposable loop, if enough values of its column are there to
// keep all workers busy.
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

// sort puts the rows of the relation into buckets.
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

// balanced reports whether there are enough values for the threads of the run,
// none of which has most of the rows.
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

// runAll deals all buckets out.
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
	// The tuples that the loop begins with are distinct, and nothing is
	// inserted after them.
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
		defer func() { _ = w.part.Release() }() // it never fails
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

// join lets the workers work until all buckets are through or one of them
// fails.
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

// charge tells what the loop's commands have cost: kernels what the workers
// have spent on them, the end of a round the rest.
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

// span is buckets from one until another, with the expected number of their
// tuples.
type span struct{ from, until, expected int }

// take deals the next buckets out: about as many as derive the number of tuples
// that stay in a cache, going by those that are through, and never more than a
// small part of all that are left. If rounds have had few tuples, it is more
// that have not all room in the cache. Where a bit set of a good deal of these
// is small enough, it is no more than have room in one.
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
	// One value may have far more than the average; its table grows if it has
	// to.
	expected := min(fanout*float64(p.starts[until]-p.starts[p.next]), float64(4*size.partTuples))
	s = span{from: p.next, until: until, expected: int(expected)}
	p.next = until
	return s, true
}

const (
	// leastRound is how many tuples a round should have at least: calling the
	// kernels of a loop takes longer than what they do for fewer.
	leastRound = 256
	// mostWiden is how many times as many tuples as stay in a cache a range may
	// have for that.
	mostWiden = 16
)

// unknownFanout is how many tuples one that a loop begins with is expected to
// lead to as long as nothing is known.
const unknownFanout = 256

// bitsFit returns how many buckets' tuples have room in a bit set of a good
// size, 0 if those of too few values do.
func (p *parted) bitsFit() int {
	low := p.run.Layouts.Sets[p.rel.Decl].Fields[p.col].Shift
	values := 8 * p.run.sizes.partBytes >> low
	if values < leastValues {
		return 0
	}
	return values >> p.shift
}

// leastValues is the least number of values that are worth a bit set of the
// size that a worker prefers.
const leastValues = 16

// finished notes what came of a range, and reports progress.
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

// append adds rows of a worker's relation to the program's.
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

// reserve takes rows of the relation, which stay where they are until copying
// is unlocked for reading.
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

// errStopped ends the work of a worker after another one has failed, or the run
// is cancelled.
var errStopped = errors.New("stopped")
