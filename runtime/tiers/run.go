package tiers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// run is a run of a plan in segments.
type run struct {
	*Engine
	req  *runtime.Request
	cuts *segments.Cuts
	// plainPieces marks the pieces that the plain engine runs whatever their
	// size.
	plainPieces []bool
	rounds      int64 // the bound of each loop; -1 for none
	answer      *runtime.Answer
	derived     map[string]*store.Relation // what later segments need, by variable
	held        int64                      // the size of derived, in bytes
	hot         map[int]bool               // pieces with loops that derive many tuples
	// loopsAreHot means that all loops are assumed to derive many tuples.
	loopsAreHot bool
	rests       map[string]*rest // the plans that resume loops, by block
	loop        *rest            // the loop that began last

	// The remaining fields are for adaptive runs.
	ctx  context.Context
	code runtime.Compiler
	// leftCard says that the run did not fit the GPU, so that later loops do
	// without.
	leftCard bool
	// reordered holds the commands of loops whose join order has changed, by
	// block and index. times counts the changes.
	reordered map[string]map[int]queryplan.Command
	times     int
}

func (e *Engine) newRun(req *runtime.Request) *run {
	r := &run{Engine: e, req: req, cuts: segments.Cut(req.Plan), rounds: req.RoundsBound(),
		derived: map[string]*store.Relation{}, hot: map[int]bool{}, rests: map[string]*rest{},
		answer: &runtime.Answer{Outputs: map[string]*store.Relation{}}}
	r.plainPieces = forPlain(req.Plan, r.cuts.Pieces)
	if r.rounds == math.MaxInt64 {
		r.rounds = -1
	}
	return r
}

// divided runs a plan in segments.
func (e *Engine) divided(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	r := e.newRun(req)
	r.loopsAreHot = req.Often || r.commands(0, len(r.cuts.Pieces)) < e.sizes.Commands
	for from := 0; from < len(r.cuts.Pieces); {
		until, native := e.next(r, from)
		err := r.segment(ctx, from, until, native)
		var hot *hotLoop
		switch {
		case err == nil:
			from = until
		case errors.As(err, &hot):
			r.hot[hot.piece] = true
		default:
			return nil, err
		}
	}
	return r.answer, nil
}

// hotLoop is the cause that stops a segment of the plain engine.
type hotLoop struct{ piece int }

// Error describes the cause.
func (h *hotLoop) Error() string {
	return fmt.Sprintf("the loop of piece %d derives many tuples", h.piece)
}

// segment runs pieces.
func (r *run) segment(ctx context.Context, from, until int, native bool) error {
	engine := r.plain
	if native {
		engine = r.native
	}
	req := *r.req
	seg := &segments.Segment{Plan: req.Plan}
	if until-from < len(r.cuts.Pieces) {
		seg = r.cuts.Segment(from, until)
		req.Plan = seg.Plan
		req.MaxRounds = r.rounds
		req.Facts = r.facts(seg, nil)
		if req.Memory > 0 {
			req.Memory = max(req.Memory-r.held, 1)
		}
	}
	profile := runtime.SegmentProfile{Engine: engine.Name(), Fills: r.fills(from, until),
		Commands: r.commands(from, until)}
	if !native {
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		defer stop(nil)
		r.watch(&req, from, until, stop)
	}
	start := time.Now()
	answer, err := engine.Run(ctx, &req)
	if err != nil {
		var hot *hotLoop
		if errors.As(context.Cause(ctx), &hot) {
			err, profile.Dropped = hot, true
			profile.Run = time.Since(start)
			r.answer.Segments = append(r.answer.Segments, profile)
		}
		return r.withHeld(err)
	}
	profile.Compile = answer.Compile
	profile.Run = time.Since(start) - answer.Compile
	r.answer.Segments = append(r.answer.Segments, profile)
	r.add(seg, answer, until)
	return nil
}

// facts returns the relations of a segment. settled holds those that are not in
// derived yet.
func (r *run) facts(seg *segments.Segment, settled map[string]*store.Relation) *store.Database {
	db := store.NewDatabase()
	if r.req.Facts != nil {
		for _, rel := range r.req.Facts.Relations() {
			db.Put(rel)
		}
	}
	for _, name := range seg.Needs {
		from := settled[name]
		if from == nil {
			from = r.derived[name]
		}
		rel := *from
		rel.Name = segments.Source(name)
		db.Put(&rel)
	}
	return db
}

// fills lists the derived variables that pieces add tuples to.
func (r *run) fills(from, until int) []string {
	var out []string
	for _, p := range r.cuts.Pieces[from:until] {
		for _, c := range p.Commands {
			if c, ok := c.(*queryplan.Insert); ok && !slices.Contains(out, c.Var.Name) {
				out = append(out, c.Var.Name)
			}
		}
	}
	return out
}

// commands counts the commands of pieces.
func (r *run) commands(from, until int) int {
	n := 0
	for _, p := range r.cuts.Pieces[from:until] {
		n += len(p.Commands)
	}
	return n
}

// watch stops a segment of the plain engine when one of its loops derives many
// tuples.
func (r *run) watch(req *runtime.Request, from, until int, stop context.CancelCauseFunc) {
	loops := map[string]int{}
	for i := from; i < until; i++ {
		if r.plainPieces[i] {
			continue
		}
		for _, name := range r.cuts.Pieces[i].Loops {
			loops[name] = i
		}
	}
	if len(loops) == 0 {
		return
	}
	progress := req.Progress
	req.Progress = func(p runtime.Progress) {
		if progress != nil {
			progress(p)
		}
		if piece, ok := loops[p.Block]; ok && p.Total >= r.sizes.Loop {
			stop(&hotLoop{piece})
		}
	}
}

// withHeld adds the memory that the run holds to the memory error of a segment.
func (r *run) withHeld(err error) error {
	var memory *runtime.MemoryError
	if !errors.As(err, &memory) || memory.Device || memory.System != nil {
		return err
	}
	all := *memory
	all.Held += r.held
	all.Bound += r.held
	return &all
}

// add adds the answer of a segment. until is the first piece after the segment.
func (r *run) add(seg *segments.Segment, a *runtime.Answer, until int) {
	all := r.answer
	all.Peak = max(all.Peak, r.held+a.Peak)
	for _, v := range r.req.Plan.Vars {
		rel := a.Outputs[v.Name]
		if rel == nil {
			continue
		}
		if v.Output {
			all.Outputs[v.Name] = rel
		}
		if slices.Contains(seg.Gives, v.Name) {
			r.derived[v.Name] = rel
			r.held += bytes(rel)
		}
	}
	r.forget(until)
	for _, v := range a.Violations {
		if whole := seg.Checks[v.Check]; whole != nil {
			v.Check = whole
		}
		all.Violations = append(all.Violations, v)
	}
	for _, p := range a.Profile {
		if p.Command = seg.Place(p.Block, p.Command); p.Command >= 0 {
			r.profile(p)
		}
	}
	for _, k := range a.Kernels {
		if len(r.cuts.Pieces) > until || len(all.Segments) > 1 {
			k.Kernel = fmt.Sprintf("%s of segment %d", k.Kernel, len(all.Segments))
		}
		all.Kernels = append(all.Kernels, k)
	}
	for _, o := range a.Reordered {
		if o.Command = seg.Place(o.Block, o.Command); o.Command >= 0 {
			all.Reordered = append(all.Reordered, o)
		}
	}
	if a.Device != nil {
		if all.Device == nil {
			all.Device = &runtime.DeviceProfile{}
		}
		all.Device.Add(a.Device)
	}
	all.Dropped += a.Dropped
	all.Compile += a.Compile
}

// forget drops what no piece from until on needs.
func (r *run) forget(until int) {
	for name, rel := range r.derived {
		if !r.cuts.Needed(name, until) {
			delete(r.derived, name)
			if r.answer.Outputs[name] == nil {
				r.held -= bytes(rel)
			}
		}
	}
}

// profile adds to the cost of a command.
func (r *run) profile(p runtime.CommandProfile) {
	at := slices.IndexFunc(r.answer.Profile, func(have runtime.CommandProfile) bool {
		return have.Block == p.Block && have.Command == p.Command
	})
	if at < 0 {
		r.answer.Profile = append(r.answer.Profile, p)
		return
	}
	have := &r.answer.Profile[at]
	have.Calls += p.Calls
	have.Rows += p.Rows
	have.Kept += p.Kept
	have.Time += p.Time
}

// bytes returns the size of a relation.
func bytes(rel *store.Relation) int64 {
	n := int64(0)
	for _, c := range rel.Columns() {
		n += c.Bytes()
	}
	return n
}
