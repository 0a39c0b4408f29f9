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
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// A run that replays a whole record puts the same commands into its stream as
// the one before it, except for the addresses. A capture is such a run with
// addresses of its own, as a CUDA graph: a run after it launches the graph,
// waits once, compares the numbers, and has its results in pinned memory. The
// commands initialise all memory that they use, so the graph can be launched
// again and again.
//
// A run can be captured if it needs nothing of the host between its first
// command and its results. The attempt finds out.

// capture is a run as a CUDA graph, with the memory that the graph uses.
type capture struct {
	engine *Engine
	graphs *graphs
	mode   *mode // the mode of graphs that holds the capture
	codes  *woven.Codes[*code]
	code   *woven.Code[*code] // held as long as the graph exists
	arena  *device.Arena
	run    *run // the run that was captured
	graph  driver.Graph

	rounds  int64          // the largest number of rounds of an unbounded loop
	answer  runtime.Answer // without the outputs that the graph computes
	outputs []capturedOutput
	results int // bytes of outputs in the lane's pinned memory
	stays   []stayingOutput

	mu     sync.Mutex // held while the graph is launched or closed
	doomed atomic.Bool
	closed bool
	used   int64 // the value of captures.clock at the last use
}

// graphs holds the captures of a program bound to facts: one for runs whose
// results are copied to the host, and one for runs whose results stay on the
// device.
type graphs struct {
	mu                sync.Mutex
	arriving, staying mode
}

// mode is one of the two captures of a binding, and what runs have found out
// for it.
type mode struct {
	fetched   int64 // bytes that the last run copied to the host
	needed    int64 // peak device memory of the last run, in bytes
	replays   int   // successive runs that replayed a whole record
	attempts  int   // failed captures
	capturing bool
	forgotten bool     // the facts are forgotten, so no later run finds the capture
	made      *capture // or nil
}

const (
	// mostAttempts bounds the failed captures of a mode.
	mostAttempts = 2
	// mostCaptured bounds the launches of a graph, and mostPinned the bytes of
	// its results, which arrive in pinned memory.
	mostCaptured = 1 << 12
	mostPinned   = 64 << 20
)

// mode returns the mode of a request.
func (g *graphs) mode(req *runtime.Request) *mode {
	if req.Resident {
		return &g.staying
	}
	return &g.arriving
}

// note records what a run has found out for a later capture.
func (g *graphs) note(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.mode(r.walk.Request)
	m.fetched, m.needed = r.ToHost, r.Peak
	if !r.log.IsWhole() || r.Launches > mostCaptured {
		m.replays = 0
		return
	}
	m.replays++
}

// captures is the set of all captures of an engine.
type captures struct {
	mu    sync.Mutex
	all   map[*capture]bool
	clock int64
}

// fromGraph answers a request by launching a graph. If done is false, the
// caller has to run the program command by command.
func (e *Engine) fromGraph(ctx context.Context,
	req *runtime.Request) (answer *runtime.Answer, done bool, err error) {
	if req.Profile || req.Trace != nil || req.Progress != nil || req.Facts == nil {
		return nil, false, nil
	}
	// A run command by command finds these errors again and explains them.
	if err := e.enter(); err != nil {
		return nil, false, nil
	}
	defer e.leave()
	_, kept, err := e.programs.Find(req.Plan, e.opts.Lower)
	if err != nil {
		return nil, false, nil
	}
	bound := kept.isBound(req)
	if bound == nil {
		return nil, false, nil
	}
	x := e.captureOf(ctx, req, kept, bound)
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
	case errors.Is(err, replay.ErrDiffers), errors.As(err, &full): // closing frees the arena
		x.doomed.Store(true)
		return nil, false, nil
	case err != nil && e.gpu.Lost() != nil:
		x.doomed.Store(true)
	}
	return answer, true, err
}

// captureOf returns the capture of a request, locked; the caller unlocks it. It
// makes the capture if that is due. It returns nil if there is none or another
// run uses it.
func (e *Engine) captureOf(ctx context.Context, req *runtime.Request, kept *program,
	bound *boundFacts) *capture {
	g := &bound.graphs
	g.mu.Lock()
	m := g.mode(req)
	x := m.made
	due := x == nil && m.replays >= e.sizes.replays && m.attempts < mostAttempts && !m.capturing &&
		!bound.record.Differs() && m.fetched <= mostPinned
	m.capturing = m.capturing || due
	fetched, needed := m.fetched, m.needed
	g.mu.Unlock()
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
	g.mu.Lock()
	defer g.mu.Unlock()
	m.capturing = false
	if err != nil && ctx.Err() == nil {
		m.attempts++
	}
	if x == nil {
		return nil
	}
	m.made = x
	if m.forgotten {
		x.doomed.Store(true) // it serves this run only
	}
	return x
}

// affords reports whether there is memory for a capture without evicting facts.
// It may close other captures.
func (e *Engine) affords(bytes int64) bool {
	bytes += bytes / 4 // an arena has gaps
	free := e.mem.Unheld()
	if free < bytes {
		free += e.captures.evict(bytes - free)
	}
	return free >= bytes
}

// capture captures a run. The result is locked.
func (e *Engine) capture(ctx context.Context, req *runtime.Request, kept *program,
	bound *boundFacts, fetched int64) (_ *capture, err error) {
	x := &capture{engine: e, graphs: &bound.graphs, mode: bound.graphs.mode(req),
		codes: &kept.codes, arena: &device.Arena{Memory: e.mem, Stream: e.resident.Stream}}
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
		r.walk, r.Ctx = woven.Walk{}, nil // they refer to the facts
	}()
	defer r.recovered(&err) // runs before the cleanup above
	r.follow(bound)
	r.repeat(bound)
	if !r.log.Replays() {
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
	if _, err := e.functionsOf(&e.sorts); err != nil { // cannot load during the capture
		return nil, err
	}
	r.begin()
	words := int(fetched / 8)
	for _, decl := range r.Graph.Relations {
		words += len(decl.Cols) // each column is padded to whole words
	}
	if err := r.Lane.Fit(r.Control.Words, r.log.Words(),
		max(words, device.ResultWords)); err != nil {
		return nil, err
	}
	if err := r.OpenImage(r.record.Expected()); err != nil {
		return nil, err
	}
	if r.log.Device, err = x.arena.Alloc("the counters of a run",
		int64(8*r.log.Words())); err != nil {
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
	if err := r.Lane.Urgent.Synchronize(ctx); err != nil { // the image was made there
		return nil, err
	}
	if err := x.graph.Upload(r.Lane.Stream); err != nil {
		return nil, err
	}
	e.mem.Keep(x.arena.Bytes)
	e.mem.Idles(x.arena.Bytes)
	e.captures.add(x)
	return x, nil
}

// launch launches the graph, waits, checks the counters, and returns the
// answer.
func (x *capture) launch(ctx context.Context) (answer *runtime.Answer, err error) {
	e, r := x.engine, x.run
	e.mem.Idles(-x.arena.Bytes)
	defer e.mem.Idles(x.arena.Bytes)
	e.captures.touch(x)
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
	if err := r.log.CompareAgain(); err != nil {
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

// unlock ends a use, and closes the capture if it was doomed in the meantime.
func (x *capture) unlock() {
	x.mu.Unlock()
	x.closeIfDoomed()
}

// doom closes the capture as soon as no run uses it.
func (x *capture) doom() {
	x.doomed.Store(true)
	x.closeIfDoomed()
}

func (x *capture) closeIfDoomed() {
	if !x.doomed.Load() || !x.mu.TryLock() {
		return // the holder of the lock calls closeIfDoomed later
	}
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.graphs.mu.Lock()
	if x.mode.made == x {
		x.mode.made, x.mode.replays = nil, 0
	}
	x.graphs.mu.Unlock()
	x.engine.captures.remove(x)
	x.engine.mem.Idles(-x.arena.Bytes)
	x.engine.mem.Keep(-x.arena.Bytes)
	x.close()
}

// close frees what the capture holds. No run uses it.
func (x *capture) close() {
	x.closed = true
	r := x.run
	if x.graph != nil {
		_ = x.graph.Close() // fails on a lost device, whose graphs are gone
	}
	if r.Lane != nil {
		_ = r.Lane.Urgent.Synchronize(context.Background()) // an image may be incomplete
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

// doom closes both captures, because the facts are forgotten.
func (g *graphs) doom() {
	g.mu.Lock()
	var all []*capture
	for _, m := range []*mode{&g.arriving, &g.staying} {
		if m.made != nil {
			all = append(all, m.made)
		}
		m.forgotten = true
	}
	g.mu.Unlock()
	for _, x := range all {
		x.doom()
	}
}

func (s *captures) add(x *capture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*capture]bool{}
	}
	s.all[x] = true
}

func (s *captures) remove(x *capture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, x)
}

// touch records a use.
func (s *captures) touch(x *capture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	x.used = s.clock
}

// evict closes captures that no run uses, the least recently used first, until
// it has freed at least bytes. It returns the number of bytes freed.
func (s *captures) evict(bytes int64) (freed int64) {
	s.mu.Lock()
	type aged struct {
		*capture
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

// evict frees at least bytes if it can: first captures, which one or two runs
// make again, then resident columns and indexes. It reports whether it freed
// anything.
func (e *Engine) evict(bytes int64) bool {
	freed := e.captures.evict(bytes)
	return freed >= max(bytes, 1) || e.resident.Evict(bytes-freed) || freed > 0
}

// note keeps what the run has found out for later runs, if the program ran to
// its end. The counters have been compared.
func (r *run) note() {
	if !r.whole {
		return
	}
	r.NoteSizes()
	r.log.Leave()
	r.graphs.note(r)
	r.saveRecord()
}
