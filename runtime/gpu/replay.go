package gpu

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// A run that recalls every number puts the same commands into its stream as the
// one before it, but for the addresses. A replay is such a run with addresses
// of its own, which is captured as a graph in place of being done: a run after
// it launches the graph, waits once, compares the numbers, and has its results
// in pinned memory. The commands set all memory up that they use, so that the
// graph can be launched again and again.
//
// A run can be captured if it needs nothing of the host between its first
// command and its results. That it does shows in the attempt.

// replay is a run as a graph.
type replay struct {
	engine *Engine
	past   *past
	mode   *replaying // of the past, the one that has it
	codes  *woven.Codes[*code]
	code   *woven.Code[*code] // in use, as long as the graph is there
	arena  *device.Arena
	run    *run // as it was captured
	log    device.Buffer
	graph  driver.Graph

	rounds  int64          // the most that an unbounded loop takes
	answer  runtime.Answer // but for what is computed
	outputs []replayOutput
	results int // bytes of them in the lane's memory
	stays   []stayingOutput

	mu     sync.Mutex // held by who launches the graph, or closes it
	doomed atomic.Bool
	closed bool
	used   int64 // the clock of replays at the last use
}

// replaying is what runs of a program over facts leave to a replay of them,
// which leaves results where they do.
type replaying struct {
	fetched   int64 // bytes that the last run has copied to the host
	needed    int64 // bytes of the device's memory that it has held
	recalls   int   // runs that have waited for no number, one after the other
	attempts  int   // captures that have failed
	capturing bool
	forgotten bool    // no later run finds this
	replay    *replay // nil if there is none
}

const (
	// mostAttempts is how often a capture is tried.
	mostAttempts = 2
	// mostReplayed bounds the launches of a graph, and mostPinned the bytes of
	// results that arrive in pinned memory of its own.
	mostReplayed = 1 << 12
	mostPinned   = 64 << 20
)

// replaying returns what runs leave to a replay for a request.
func (p *past) replaying(req *runtime.Request) *replaying {
	if req.Resident {
		return &p.staying
	}
	return &p.arriving
}

// noteReplay leaves a replay what the run has found out. The caller holds the
// lock.
func (p *past) noteReplay(r *run) {
	m := p.replaying(r.walk.Request)
	m.fetched, m.needed = r.ToHost, r.Peak
	if r.believed == nil || r.waited || r.Launches > mostReplayed {
		m.recalls = 0
		return
	}
	m.recalls++
}

// replays are all that an engine has.
type replays struct {
	mu    sync.Mutex
	all   map[*replay]bool
	clock int64
}

// repeat answers a request by a replay, if there is one or there can be. It is
// not done if the run is to go through its commands.
func (e *Engine) repeat(ctx context.Context,
	req *runtime.Request) (answer *runtime.Answer, done bool, err error) {
	if req.Profile || req.Trace != nil || req.Progress != nil || req.Facts == nil {
		return nil, false, nil
	}
	// Errors are found again, and explained, by a run that goes through its
	// commands.
	if err := e.enter(); err != nil {
		return nil, false, nil
	}
	defer e.leave()
	_, kept, err := e.programs.Find(req.Plan, e.opts.Lower)
	if err != nil {
		return nil, false, nil
	}
	bound := kept.isBound(req.Facts)
	if bound == nil {
		return nil, false, nil
	}
	x := e.replayOf(ctx, req, kept, bound)
	if x == nil {
		return nil, false, nil
	}
	defer x.unlock()
	if err := context.Cause(ctx); err != nil {
		return nil, true, err
	}
	if x.rounds > req.RoundsBound() {
		return nil, false, nil
	}
	answer, err = x.launch(ctx)
	var full *runtime.MemoryError
	switch {
	case errors.Is(err, errOtherPast), errors.As(err, &full): // its arena leaves with it
		x.doomed.Store(true)
		return nil, false, nil
	case err != nil && e.gpu.Lost() != nil:
		x.doomed.Store(true)
	}
	return answer, true, err
}

// replayOf returns the replay of a request, which is the caller's to unlock.
// Nil if there is none, or another run uses it.
func (e *Engine) replayOf(ctx context.Context, req *runtime.Request, kept *program,
	bound *boundFacts) *replay {
	p := &bound.past
	p.mu.Lock()
	m := p.replaying(req)
	x := m.replay
	due := x == nil && m.recalls >= e.sizes.recalls && m.attempts < mostAttempts && !m.capturing &&
		!p.unlike && m.fetched <= mostPinned
	m.capturing = m.capturing || due
	fetched, needed := m.fetched, m.needed
	p.mu.Unlock()
	if !due {
		if x == nil || !x.mu.TryLock() {
			return nil
		}
		if x.closed || x.doomed.Load() {
			x.unlock()
			return nil
		}
		return x
	}
	var err error
	if e.affords(needed) {
		x, err = e.capture(ctx, req, kept, bound, fetched)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.capturing = false
	if err != nil && ctx.Err() == nil {
		m.attempts++
	}
	if x == nil {
		return nil
	}
	m.replay = x
	if m.forgotten {
		x.doomed.Store(true) // it serves this run
	}
	return x
}

// affords reports whether there is memory for a replay without any that facts
// take. Other replays make room for it.
func (e *Engine) affords(bytes int64) bool {
	bytes += bytes / 4 // an arena has gaps
	free := e.mem.Unheld()
	if free < bytes {
		free += e.replays.evict(bytes - free)
	}
	return free >= bytes
}

// capture makes a replay, which is locked.
func (e *Engine) capture(ctx context.Context, req *runtime.Request, kept *program,
	bound *boundFacts, fetched int64) (_ *replay, err error) {
	x := &replay{engine: e, past: &bound.past, mode: bound.past.replaying(req), codes: &kept.codes,
		arena: &device.Arena{Memory: e.mem, Stream: e.resident.Stream}}
	x.mu.Lock()
	r := e.newRun(ctx, req)
	r.capture, r.Arena, x.run = x, x.arena, r
	defer func() {
		if r.Lane != nil {
			r.Lane.Captured = false
		}
		if err != nil {
			x.close()
			x.mu.Unlock()
			return
		}
		r.walk, r.Ctx = woven.Walk{}, nil // which have the facts
	}()
	defer r.recovered(&err) // before the above
	r.follow(bound)
	if r.believed == nil {
		return nil, device.ErrCaptured
	}
	if x.code, err = kept.codes.Use(r.Bound, func(woven.Knowledge) (*code, error) {
		return nil, device.ErrCaptured
	}); err != nil {
		return nil, err
	}
	r.code = x.code.Made
	if err := r.open(); err != nil {
		return nil, err
	}
	if _, err := e.sorting(); err != nil { // not in the capture
		return nil, err
	}
	r.begin()
	words := int(fetched / 8)
	for _, decl := range r.Graph.Relations {
		words += len(decl.Cols) // each of which begins with a word
	}
	if err := r.Lane.Fit(r.Control.Words, r.logged()*r.Control.Words,
		max(words, device.ResultWords)); err != nil {
		return nil, err
	}
	if err := r.OpenImage(r.past.expected()); err != nil {
		return nil, err
	}
	if x.log, err = x.arena.Alloc("the counters of a run",
		int64(8*r.Control.Words*r.logged())); err != nil {
		return nil, err
	}
	r.Lane.Captured = true
	x.graph, err = r.Lane.Stream.Capture(func() error {
		if err := r.Control.Image.Restore(r.Lane.Stream); err != nil {
			return err
		}
		answer, err := r.walk.Run(ctx)
		if err != nil {
			return err
		}
		x.answer, x.rounds = *answer, r.walk.Rounds
		return x.receiveLog(r)
	})
	if err != nil {
		return nil, err
	}
	x.answer.Device.Waits, x.answer.Device.Nodes = 1, int64(x.graph.Nodes())
	if err := x.arena.Ready(ctx); err != nil {
		return nil, err
	}
	if err := r.Lane.Urgent.Synchronize(ctx); err != nil { // the image is made there
		return nil, err
	}
	if err := x.graph.Upload(r.Lane.Stream); err != nil {
		return nil, err
	}
	e.mem.Keep(x.arena.Bytes)
	e.mem.Idles(x.arena.Bytes)
	e.replays.add(x)
	return x, nil
}

// launch does what was captured.
func (x *replay) launch(ctx context.Context) (answer *runtime.Answer, err error) {
	e, r := x.engine, x.run
	e.mem.Idles(-x.arena.Bytes)
	defer e.mem.Idles(x.arena.Bytes)
	e.replays.touch(x)
	err = x.graph.Launch(r.Lane.Stream)
	var stay map[string]runtime.Pending
	if err == nil {
		if stay, err = x.stay(); err != nil {
			_ = r.Lane.Wait(context.Background()) // err says what is wrong
		}
	}
	defer func() {
		if answer == nil {
			for _, k := range stay {
				k.Release()
			}
		}
	}()
	if err == nil {
		err = r.Lane.Wait(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			if stop := r.Control.Stop(); stop == nil || e.gpu.Lost() == nil {
				return nil, context.Cause(ctx)
			}
		}
		return nil, e.failure(err)
	}
	r.compared = 0
	if err := r.compare(); err != nil {
		return nil, err
	}
	made := x.answer
	device := *made.Device
	answer = &made
	answer.Device, answer.Pending = &device, stay
	answer.Outputs = make(map[string]*store.Relation, len(x.answer.Outputs))
	for name, rel := range x.answer.Outputs {
		answer.Outputs[name] = rel
	}
	for _, o := range x.outputs {
		answer.Outputs[o.decl.Name] = o.stored(r.Bound, r.sizes.output)
	}
	return answer, nil
}

// unlock ends a use. Who would have closed the replay meanwhile has left that
// to it.
func (x *replay) unlock() {
	x.mu.Unlock()
	x.closeIfDoomed()
}

// doom has the replay closed as soon as it is not used.
func (x *replay) doom() {
	x.doomed.Store(true)
	x.closeIfDoomed()
}

func (x *replay) closeIfDoomed() {
	if !x.doomed.Load() || !x.mu.TryLock() {
		return // whoever has the lock comes by here
	}
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.past.mu.Lock()
	if x.mode.replay == x {
		x.mode.replay, x.mode.recalls = nil, 0
	}
	x.past.mu.Unlock()
	x.engine.replays.remove(x)
	x.engine.mem.Idles(-x.arena.Bytes)
	x.engine.mem.Keep(-x.arena.Bytes)
	x.close()
}

// close gives back what the replay holds. Nothing of it is at work.
func (x *replay) close() {
	x.closed = true
	r := x.run
	if x.graph != nil {
		_ = x.graph.Close() // it fails on a lost device, whose graphs are gone
	}
	if r.Lane != nil {
		_ = r.Lane.Urgent.Synchronize(context.Background()) // an image may be half made
	}
	x.arena.Close()
	r.ReleaseResidents(false)
	if r.Lane != nil {
		x.engine.lanes.Give(r.Lane)
	}
	if x.code != nil {
		x.codes.Release(x.code)
	}
}

// doomReplays closes the replays of a program over facts, which are forgotten.
func (p *past) doomReplays() {
	p.mu.Lock()
	var all []*replay
	for _, m := range []*replaying{&p.arriving, &p.staying} {
		if m.replay != nil {
			all = append(all, m.replay)
		}
		m.forgotten = true
	}
	p.mu.Unlock()
	for _, x := range all {
		x.doom()
	}
}

func (s *replays) add(x *replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*replay]bool{}
	}
	s.all[x] = true
}

func (s *replays) remove(x *replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, x)
}

// touch notes a use.
func (s *replays) touch(x *replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	x.used = s.clock
}

// evict closes replays that no run uses, the least recently used first, until
// so many bytes are free, and returns how many are.
func (s *replays) evict(bytes int64) (freed int64) {
	s.mu.Lock()
	type aged struct {
		*replay
		used int64
	}
	var list []aged
	for x := range s.all {
		list = append(list, aged{x, x.used})
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b aged) int { return cmp.Compare(a.used, b.used) })
	for _, x := range list {
		if freed >= bytes {
			break
		}
		if x.mu.TryLock() {
			if !x.closed {
				freed += max(x.arena.Bytes, 1)
			}
			x.doomed.Store(true)
			x.unlock()
		}
	}
	return freed
}

// evict makes room for so many bytes: replays go first, which take a run or two
// to come back, and then what is resident. It reports whether there is more
// room than before.
func (e *Engine) evict(bytes int64) bool {
	freed := e.replays.evict(bytes)
	return freed >= max(bytes, 1) || e.resident.Evict(bytes-freed) || freed > 0
}
