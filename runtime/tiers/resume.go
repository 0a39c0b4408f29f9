package tiers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// rest is a plan that resumes a loop as native code.
type rest struct {
	seg   *segments.Segment
	loop  string
	piece int // the piece of the loop
	until int // the first piece after the plan
	// settled holds the relations that the loop reads and does not change.
	settled map[string]*store.Relation
	// seeds holds the initial tuples of a decomposable loop: old tuples and
	// delta of each variable. Native code starts the loop again from these.
	// dropped is the number of decimals that the run had dropped by then.
	seeds   []*store.Relation
	dropped int64
	making  making
	times   int // run.times when the plan was made
}

// shortRest is the number of commands after a loop up to which the plan that
// resumes the loop includes them all, because switching engines again costs
// more.
const shortRest = 16

// rest returns the plan that resumes a loop, or nil if there is none.
func (r *run) rest(loop string) *rest {
	if out, ok := r.rests[loop]; ok {
		return out
	}
	out := &rest{loop: loop, piece: r.cuts.PieceOf(loop), settled: map[string]*store.Relation{}}
	if out.until = len(r.cuts.Pieces); r.commands(out.piece+1, out.until) > shortRest {
		out.until = out.piece + 1
	}
	var ok bool
	if out.seg, ok = r.cuts.Resume(loop, out.until); !ok || r.rounds > 0 && unbounded(out.seg) > 1 {
		out = nil
	}
	r.rests[loop] = out
	return out
}

// unbounded counts the loops that have no bound of their own. The request has
// one bound for all of them.
func unbounded(seg *segments.Segment) int {
	n := 0
	for _, b := range seg.Plan.Blocks {
		if t, ok := b.Term.(*queryplan.Branch); ok && t.Unbounded && t.Then == b {
			n++
		}
	}
	return n
}

// unbounded reports whether the loop has no bound of its own.
func (x *rest) unbounded() bool {
	return slices.ContainsFunc(x.seg.Plan.Blocks, func(b *queryplan.Block) bool {
		t, ok := b.Term.(*queryplan.Branch)
		return b.Name == x.loop && ok && t.Unbounded && t.Then == b
	})
}

// changing lists the parts of a loop's variables that are handed over.
func (x *rest) changing() []runtime.Part {
	var out []runtime.Part
	for _, name := range x.seg.Resumes {
		out = append(out,
			runtime.Part{Var: name, Version: queryplan.Old, Relation: segments.OldSource(name)},
			runtime.Part{Var: name, Version: queryplan.Delta, Relation: segments.DeltaSource(name)})
	}
	return out
}

// settle copies the relations that a loop reads and does not change.
func (r *run) settle(x *rest, at runtime.Round) bool {
	var parts []runtime.Part
	for _, name := range x.seg.Needs {
		if r.derived[name] == nil && x.settled[name] == nil {
			parts = append(parts, runtime.Part{Var: name, Relation: segments.Source(name)})
		}
	}
	rels := at.Copy(runtime.Tuples, parts)
	for i, rel := range rels {
		x.settled[parts[i].Var] = rel
		r.held += bytes(rel)
	}
	return len(rels) == len(parts)
}

// handover is what a run on the plain engine leaves to native code.
type handover struct {
	rest *rest
	// engine is that of native code, or of a GPU.
	engine   runtime.Engine
	left     int64 // rounds that the plain engine ran
	rounds   int64 // those of left that native code does not repeat
	changing []*store.Relation
}

// leave takes the tuples that the resuming plan, later pieces and the answer
// need. It returns nil if that is not possible.
func (r *run) leave(x *rest, at runtime.Round) *handover {
	if x.seg.Again && at.Dropped > 0 { // would count dropped decimals twice
		return nil
	}
	if r.rounds > 0 && at.Number >= r.rounds && x.unbounded() {
		return nil // there are no rounds left
	}
	if !r.settle(x, at) {
		return nil
	}
	var kept []runtime.Part
	for _, v := range r.cuts.Done(x.loop) {
		if r.derived[v.Name] == nil && r.answer.Outputs[v.Name] == nil &&
			x.settled[v.Name] == nil && (v.Output || r.cuts.Needed(v.Name, x.until)) {
			kept = append(kept, runtime.Part{Var: v.Name, Relation: v.Name})
		}
	}
	var changing []runtime.Part
	engine := runtime.Engine(r.native)
	if t := x.making.first(); t != nil {
		engine = t.engine
	}
	// A repetition would count dropped decimals twice, and a GPU does not
	// decompose loops.
	if at.Dropped != x.dropped || engine == r.card {
		r.dropSeeds(x)
	}
	if x.seeds == nil {
		changing = x.changing()
	}
	rels := at.Copy(runtime.Take, append(changing, kept...))
	if len(rels) != len(changing)+len(kept) {
		return nil
	}
	for i, rel := range rels[len(changing):] {
		x.settled[kept[i].Var] = rel
		r.held += bytes(rel)
	}
	h := &handover{rest: x, engine: engine, left: at.Number, rounds: at.Number,
		changing: rels[:len(changing)]}
	if x.seeds != nil {
		h.rounds, h.changing, x.seeds = 0, x.seeds, nil
		return h
	}
	for _, rel := range h.changing {
		r.held += bytes(rel)
	}
	return h
}

// keep stores what a run on the plain engine has left.
func (r *run) keep(h *handover) {
	for _, v := range r.cuts.Done(h.rest.loop) {
		rel := h.rest.settled[v.Name]
		if rel == nil {
			continue
		}
		named := *rel
		named.Name, named.Keys = v.Name, v.Keys
		r.derived[v.Name] = &named
		if v.Output {
			r.answer.Outputs[v.Name] = &named
		}
	}
}

// resume runs the plan that resumes a loop.
func (r *run) resume(ctx context.Context, h *handover) error {
	req := *r.req
	req.Plan, req.MaxRounds = h.rest.seg.Plan, r.rounds
	if r.rounds > 0 && h.rest.unbounded() {
		req.MaxRounds = r.rounds - h.rounds
	}
	req.Facts = r.facts(h.rest.seg, nil)
	for _, rel := range h.changing {
		req.Facts.Put(rel)
	}
	if req.Memory > 0 {
		req.Memory = max(req.Memory-r.held, 1)
	}
	if progress := req.Progress; progress != nil {
		req.Progress = func(p runtime.Progress) {
			if p.Block == h.rest.loop {
				p.Iteration += int(h.rounds)
			}
			progress(p)
		}
	}
	req.Resident = false
	profile := runtime.SegmentProfile{Engine: h.engine.Name(), Loop: h.rest.loop,
		Rounds: h.rounds, Fills: r.fills(h.rest.piece, h.rest.until),
		Commands: r.commands(h.rest.piece, h.rest.until)}
	start := time.Now()
	answer, err := h.engine.Run(ctx, &req)
	if h.engine == r.card && isOfCard(err) && ctx.Err() == nil {
		// The tuples are still here, so the plain engine goes on with them.
		r.failed(err)
		r.leftCard = true
		failed := profile
		failed.Failed, failed.Run = err.Error(), time.Since(start)
		r.answer.Segments = append(r.answer.Segments, failed)
		profile.Engine, start = r.plain.Name(), time.Now()
		answer, err = r.plain.Run(ctx, &req)
	}
	if err != nil {
		var rounds *runtime.RoundsError
		if errors.As(err, &rounds) && r.rounds > 0 {
			all := *rounds
			all.Rounds = r.rounds
			return &all
		}
		return r.withHeld(err)
	}
	profile.Compile = answer.Compile
	profile.Run = time.Since(start) - answer.Compile
	r.answer.Segments = append(r.answer.Segments, profile)
	r.add(h.rest.seg, answer, h.rest.until)
	for _, rel := range h.changing {
		r.held -= bytes(rel)
	}
	return nil
}

// begin runs pieces on the plain engine until the run ends or a loop is left.
// It returns what is handed over, or nil if the run has ended.
func (r *run) begin(ctx context.Context, from int) (*handover, error) {
	req := *r.req
	seg := &segments.Segment{Plan: req.Plan}
	if from > 0 {
		seg = r.cuts.Segment(from, len(r.cuts.Pieces))
		req.Plan, req.Facts, req.MaxRounds = seg.Plan, r.facts(seg, nil), r.rounds
		if req.Memory > 0 {
			req.Memory = max(req.Memory-r.held, 1)
		}
	}
	r.note(&req, seg)
	var left *handover
	req.Round = func(at runtime.Round) bool {
		if x := r.rest(at.Block); x != nil {
			if r.follow(x); r.Engine.leave(r, x, at) {
				left = r.leave(x, at)
			}
		}
		return left != nil
	}
	start := time.Now()
	answer, err := r.plain.Run(ctx, &req)
	if err != nil {
		return nil, r.withHeld(err)
	}
	profile := runtime.SegmentProfile{Engine: r.plain.Name(), Run: time.Since(start)}
	until := len(r.cuts.Pieces)
	if left != nil {
		until = left.rest.piece + 1
		profile.Loop, profile.Rounds, profile.Left = left.rest.loop, left.left, true
	}
	profile.Commands, profile.Fills = r.commands(from, until), r.fills(from, until)
	r.answer.Segments = append(r.answer.Segments, profile)
	if left == nil {
		r.add(seg, answer, until)
		return nil, nil
	}
	r.add(seg, answer, left.rest.piece)
	r.keep(left)
	return left, nil
}
