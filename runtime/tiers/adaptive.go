package tiers

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
)

// adaptive starts a plan on the plain engine. Before a round of a loop it
// switches to native code, once that is ready and expected to pay. If code for
// the whole plan exists already, or is sure to pay, the whole plan runs as
// native code.
func (e *Engine) adaptive(ctx context.Context, req *runtime.Request, code runtime.Compiler,
	commands int) (*runtime.Answer, error) {
	r := e.newRun(req)
	r.ctx, r.code = ctx, code
	// On a machine with a GPU, a loop that goes on changes over to that.
	if commands < e.sizes.Commands && !e.late && !wantsPlain(req.Plan) &&
		!(e.usesCard() && r.loops()) {
		past := e.history.of(req.Plan)
		if !e.history.isMaking(past) {
			found, err := code.Find(ctx, req)
			if (found || err != nil || r.scansMuch(commands)) && e.able() == nil {
				return e.native.Run(ctx, req)
			}
		}
		if !r.loops() {
			e.beginCode(past, req, code, commands)
			start := time.Now()
			defer func() { e.history.ran(past, time.Since(start)) }()
		}
	}
	for from := 0; from < len(r.cuts.Pieces); {
		left, err := r.begin(ctx, from)
		if err != nil {
			return nil, err
		}
		if left == nil {
			break
		}
		if err := r.resume(ctx, left); err != nil {
			return nil, err
		}
		from = left.rest.until
	}
	if len(r.answer.Segments) == 1 && e.late { // one engine ran the whole plan
		r.answer.Segments = nil
	}
	return r.answer, nil
}

// loops reports whether the plan has loops.
func (r *run) loops() bool {
	return slices.ContainsFunc(r.cuts.Pieces, func(p segments.Piece) bool {
		return len(p.Loops) > 0
	})
}

// scansMuch reports whether the commands outside of loops see so many rows that
// compiling them is sure to pay.
func (r *run) scansMuch(commands int) bool {
	e := &estimate{known: r.known, guessed: map[*queryplan.Var]int64{}}
	rows := int64(0)
	for _, p := range r.cuts.Pieces {
		if weight := e.weight(p); len(p.Loops) == 0 {
			rows += weight
		}
	}
	return rows >= r.sizes.Scanned*int64(commands)
}

// making is the progress of the code that resumes a loop.
type making struct {
	began time.Time // when the loop began
	round time.Time // when the last round began
	// tries are the engines that may take over the loop, the best one first.
	// One whose code is refused is dropped. Nil before the first round.
	tries []*try
}

// try is an engine that may take over a loop, and the state of its code.
type try struct {
	engine runtime.Compiler
	isCard bool
	looked bool
	done   chan error // receives the end of Find or Compile; nil if neither is at work
	state  state
}

// state is the state of the code that resumes a loop.
type state uint8

const (
	missing state = iota
	ready
	refused
)

// errNoCode is the end of a search for code that was not made before.
var errNoCode = errors.New("there is no code")

// tries returns the engines that may take over a loop.
func (r *run) tries() []*try {
	out := []*try{}
	if r.usesCard() && !r.leftCard {
		out = append(out, &try{engine: r.card, isCard: true})
	}
	return append(out, &try{engine: r.code})
}

// first returns the next engine to try, or nil.
func (m *making) first() *try {
	if len(m.tries) == 0 {
		return nil
	}
	return m.tries[0]
}

// worth decides whether native code takes over a loop before its next round.
// The expected remaining time of a loop is the time that it has taken so far.
// So the code is compiled once the loop has taken several times as long as
// compiling will take. If the loop ends soon after, little is lost.
func (r *run) worth(x *rest, at runtime.Round) bool {
	m, now := &x.making, time.Now()
	if at.Number == 0 || m.began.IsZero() {
		m.began, m.round = now, now
		r.enter(x)
		r.keepSeeds(x, at)
	}
	took, round := now.Sub(m.began), now.Sub(m.round)
	m.round = now
	if m.tries == nil {
		m.tries = r.tries()
	}
	for t := m.first(); t != nil; t = m.first() {
		if t.state == missing {
			r.advance(x, t, at, took)
		}
		if t.state == ready && round >= r.sizes.Round && at.Number >= r.sizes.First {
			if !t.isCard || r.fits(x, at) {
				return true
			}
			t.state = refused
		}
		if t.state != refused {
			break
		}
		m.tries = m.tries[1:]
	}
	return false
}

// enter starts a loop, and drops what was kept for the previous one.
func (r *run) enter(x *rest) {
	if before := r.loop; before != nil && before != x {
		for _, rel := range before.settled {
			r.held -= bytes(rel)
		}
		clear(before.settled)
		r.dropSeeds(before)
	}
	r.loop = x
}

// keepSeeds keeps the initial tuples of a decomposable loop.
func (r *run) keepSeeds(x *rest, at runtime.Round) {
	if at.Number > 0 || !x.decomposable() {
		return
	}
	r.dropSeeds(x)
	x.seeds, x.dropped = at.Copy(runtime.Tuples, x.changing()), at.Dropped
	for _, rel := range x.seeds {
		r.held += bytes(rel)
	}
}

// dropSeeds drops the initial tuples of a loop.
func (r *run) dropSeeds(x *rest) {
	for _, rel := range x.seeds {
		r.held -= bytes(rel)
	}
	x.seeds = nil
}

// advance looks for the code of a loop that has taken some time already, or
// starts compiling it. Both happen beside the loop.
func (r *run) advance(x *rest, t *try, at runtime.Round, took time.Duration) {
	if t.done != nil {
		select {
		case err := <-t.done:
			t.done = nil
			switch {
			case err == nil:
				t.state = ready
				return
			case !errors.Is(err, errNoCode):
				t.state = refused
				return
			}
		default:
			return
		}
	}
	if !t.isCard && r.sizes.Rate > 0 &&
		float64(at.Total) > float64(r.sizes.Rate)*took.Seconds() {
		return
	}
	var work func(*runtime.Request) error
	switch {
	case !t.looked && took >= r.lookAfter(t) && (!t.isCard || r.hasLargeRounds(at, took)):
		t.looked = true
		work = func(req *runtime.Request) error {
			found, err := t.engine.Find(context.WithoutCancel(r.ctx), req)
			if err == nil && !found {
				err = errNoCode
			}
			return err
		}
	case took >= r.codeAfter(x, t) && r.hasLargeRounds(at, took):
		// Compile on one core, because the others run the loop. A GPU is worth
		// all of them. LLVM cannot be interrupted, so if the run ends first,
		// the code goes to the cache.
		work = func(req *runtime.Request) error {
			return t.engine.Compile(context.WithoutCancel(r.ctx), req, 1)
		}
	default:
		return
	}
	req := r.ahead(x, at)
	if req == nil {
		t.state = refused
		return
	}
	done := make(chan error, 1)
	t.done = done
	r.beside.Go(func() {
		err := work(req)
		if t.isCard {
			r.failed(err)
		}
		done <- err
	})
	if r.sizes.Waits {
		done <- <-done
	}
}

// hasLargeRounds reports whether the rounds of a loop take long enough for
// native code to gain.
func (r *run) hasLargeRounds(at runtime.Round, took time.Duration) bool {
	return took >= time.Duration(at.Number)*r.sizes.Round
}

// lookAfter returns how long a loop takes before an engine looks for code. An
// engine that has not been opened yet costs more than looking.
func (r *run) lookAfter(t *try) time.Duration {
	late, ok := t.engine.(interface{ IsOpen() bool })
	switch {
	case !ok || late.IsOpen():
		return r.sizes.Look
	case t.isCard:
		return r.sizes.OpenCard
	}
	return r.sizes.LookLate
}

// codeAfter returns how long a loop takes before its code is compiled.
func (r *run) codeAfter(x *rest, t *try) time.Duration {
	commands := r.commands(x.piece, x.until)
	if t.isCard {
		return max(r.lookAfter(t), onAllCores(commands, r.sizes.CardCommand))
	}
	patience := r.sizes.Other
	if x.seeds != nil {
		patience = r.sizes.Linear
	}
	return time.Duration(patience*commands) * r.sizes.Command
}

// CardCode returns the expected time to compile commands for a GPU.
func CardCode(commands int) time.Duration {
	return onAllCores(commands, DefaultSizes.CardCommand)
}

// onAllCores returns the time of work that each core does for some of the
// commands.
func onAllCores(commands int, each time.Duration) time.Duration {
	cores := goruntime.GOMAXPROCS(0)
	return time.Duration((commands+cores-1)/cores) * each
}

// ahead returns a request for the code that resumes a loop. Bounds of what the
// loop derives stand for its tuples. It returns nil if the loop cannot be left.
func (r *run) ahead(x *rest, at runtime.Round) *runtime.Request {
	if !r.settle(x, at) {
		return nil
	}
	changing := x.changing()
	rels := at.Copy(runtime.Bounds, changing)
	if len(rels) != len(changing) {
		return nil
	}
	req := *r.req
	req.Plan, req.Facts = x.seg.Plan, r.facts(x.seg, x.settled)
	req.Round, req.Progress = nil, nil
	for _, rel := range rels {
		req.Facts.Put(rel)
	}
	return &req
}
