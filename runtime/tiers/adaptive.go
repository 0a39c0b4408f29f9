package tiers

import (
	"context"
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
	if commands < e.sizes.Commands && !e.late && !wantsPlain(req.Plan) {
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

// making is the progress of the code of a plan that resumes a loop.
type making struct {
	began  time.Time // when the loop began
	round  time.Time // when the last round began
	looked bool
	done   chan error // receives what Compile returns; nil if it has not begun
	state  state
}

// state is the state of the code that resumes a loop.
type state uint8

const (
	missing state = iota
	ready
	refused
)

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
	if m.state == missing {
		r.advance(x, at, took)
	}
	return m.state == ready && round >= r.sizes.Round
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
// starts compiling it.
func (r *run) advance(x *rest, at runtime.Round, took time.Duration) {
	m := &x.making
	patience := r.sizes.Other
	if x.seeds != nil {
		patience = r.sizes.Linear
	}
	if m.done == nil && r.sizes.Rate > 0 &&
		float64(at.Total) > float64(r.sizes.Rate)*took.Seconds() {
		return
	}
	whole := time.Duration(r.commands(x.piece, x.until)) * r.sizes.Command
	switch {
	case m.done != nil:
		select {
		case err := <-m.done:
			if m.state = ready; err != nil {
				m.state = refused
			}
		default:
		}
	case !m.looked && took >= r.sizes.Look:
		m.looked = true
		req := r.ahead(x, at)
		if req == nil {
			m.state = refused
		} else if found, err := r.code.Find(r.ctx, req); err != nil {
			m.state = refused
		} else if found {
			m.state = ready
		}
	case took >= time.Duration(patience)*whole && took >= time.Duration(at.Number)*r.sizes.Round:
		req := r.ahead(x, at)
		if req == nil {
			m.state = refused
			return
		}
		m.done = make(chan error, 1)
		// Compile on one core, because the others run the loop. LLVM cannot be
		// interrupted, so if the run ends first, the code goes to the cache.
		r.beside.Go(func() { m.done <- r.code.Compile(context.WithoutCancel(r.ctx), req, 1) })
	}
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
