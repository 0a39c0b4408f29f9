package mixed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// run is a run of a plan, step by step.
type run struct {
	*Engine
	req     *runtime.Request
	plan    *plan
	answer  *runtime.Answer
	derived map[string]*store.Relation // that later steps need, by variable
}

// Run evaluates the plan.
func (e *Engine) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if req.Facts == nil || req.Rounds || req.Round != nil {
		return e.host.Run(ctx, req)
	}
	p, err := e.plan(req)
	if err != nil {
		return nil, err
	}
	r := &run{Engine: e, req: req, plan: p, derived: map[string]*store.Relation{},
		answer: &runtime.Answer{Outputs: map[string]*store.Relation{}}}
	if err := e.place(p); err != nil {
		return nil, err
	}
	rows := make([]int, len(p.steps))
	for i, s := range p.steps {
		rows[i] = e.rowsOnDevice(s)
	}
	steps := p.steps
	if device, ok := p.isWhole(rows); ok && len(steps) > 1 {
		// A single run copies nothing between steps, and the engine recognises
		// its plan in later runs.
		steps, rows = []*step{p.joined}, []int{0}
		if device {
			rows[0] = p.joined.use.rows
		}
	}
	for i, s := range steps {
		if err := r.step(ctx, s, rows[i]); err != nil {
			return nil, err
		}
	}
	r.answer.Cache = e.cacheProfile(req.Facts)
	return r.answer, nil
}

// isWhole reports whether a single engine runs all rows of all steps, and
// whether that is the GPU's. Steps that read no facts can run anywhere.
func (p *plan) isWhole(rows []int) (device, ok bool) {
	device, host := true, true
	for i, s := range p.steps {
		if len(s.cols)+len(s.others) > 0 {
			device, host = device && rows[i] == s.use.rows, host && rows[i] == 0
		}
	}
	return device, device || host
}

// step runs a step with its first rows on the GPU. A step that is not divided
// runs there, or on the host if rows is 0.
func (r *run) step(ctx context.Context, s *step, rows int) error {
	req := *r.req
	req.Plan, req.Resident, req.NoPackedColumns = s.seg.Plan, false, true
	if !s.all {
		req.MaxRounds = r.req.RoundsBound()
		if r.req.MaxRounds < 0 {
			req.MaxRounds = -1
		}
		req.Profile = false
	}
	req.Facts = r.facts(r.req.Facts, s)
	if rows > 0 && rows < s.use.rows {
		done, err := r.divided(ctx, s, rows)
		if done || err != nil {
			return err
		}
		rows = 0
	}
	if rows > 0 {
		answer, took, err := r.timed(ctx, r.device, &req)
		var memory *runtime.MemoryError
		switch {
		case err == nil:
			r.learned(func() { r.learn(s, rows, took, answer) })
			r.add(s, answer, r.profile(s, r.device.Name(), took, answer))
			return nil
		case !errors.As(err, &memory) || !memory.Device:
			return err
		}
		r.refuse(s)
	}
	answer, took, err := r.timed(ctx, r.host, &req)
	if err != nil {
		return err
	}
	r.learned(func() { r.learnHost(s, s.use.rows, took, answer) })
	r.add(s, answer, r.profile(s, r.host.Name(), took, answer))
	return nil
}

// learned calls note, which updates rates, unless the run was profiled or
// traced and therefore slower.
func (r *run) learned(note func()) {
	if !r.req.Profile && r.req.Trace == nil {
		note()
	}
}

// timed runs a request and returns the time without compilation.
func (r *run) timed(ctx context.Context, on runtime.Engine, req *runtime.Request) (
	*runtime.Answer, time.Duration, error) {
	start := time.Now()
	answer, err := on.Run(ctx, req)
	if err != nil {
		return nil, 0, err
	}
	return answer, time.Since(start) - answer.Compile, nil
}

// profile describes the run of a step on an engine.
func (r *run) profile(s *step, engine string, took time.Duration,
	answer *runtime.Answer) runtime.SegmentProfile {
	p := runtime.SegmentProfile{Engine: engine, Run: took, Compile: answer.Compile}
	for _, piece := range r.plan.cuts.Pieces[s.from:s.until] {
		p.Commands += len(piece.Commands)
		for _, c := range piece.Commands {
			if c, ok := c.(*queryplan.Insert); ok && !slices.Contains(p.Fills, c.Var.Name) {
				p.Fills = append(p.Fills, c.Var.Name)
			}
		}
	}
	return p
}

// facts returns the facts of a step: base, and the relations of earlier steps
// that it needs.
func (r *run) facts(base *store.Database, s *step) *store.Database {
	if len(s.seg.Needs) == 0 {
		return base
	}
	db := store.NewDatabase()
	for _, rel := range base.Relations() {
		db.Put(rel)
	}
	for _, name := range s.seg.Needs {
		rel := *r.derived[name]
		rel.Name = segments.Source(name)
		db.Put(&rel)
	}
	return db
}

// half is the result of one engine for a divided step.
type half struct {
	answer *runtime.Answer
	took   time.Duration
	err    error
}

// divided runs the first rows of a step's table on the GPU and the others on
// the host, at the same time. It returns false if the step must run as a whole,
// because the GPU lacks memory or a total of one part overflows.
func (r *run) divided(ctx context.Context, s *step, rows int) (done bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var halves [2]half
	engines := []runtime.Engine{r.device, r.host}
	keys := []cutKey{{s.table, 0, rows}, {s.table, rows, s.use.rows}}
	var both sync.WaitGroup
	for i, on := range engines {
		req := *r.req
		req.Plan, req.Resident, req.NoPackedColumns = s.rows.Part, false, true
		req.Profile, req.Progress = false, nil
		req.Facts = r.facts(r.part(r.req.Facts, keys[i]), s)
		both.Go(func() {
			h := &halves[i]
			h.answer, h.took, h.err = r.timed(ctx, on, &req)
			if h.err != nil {
				stop(errHalf)
			}
		})
	}
	both.Wait()
	for _, h := range halves {
		var memory *runtime.MemoryError
		var overflow *runtime.OverflowError
		switch {
		case h.err == nil || errors.Is(h.err, errHalf):
		case errors.As(h.err, &memory) && memory.Device, errors.As(h.err, &overflow):
			r.refuse(s)
			return false, nil
		default:
			return false, h.err
		}
	}
	r.learned(func() {
		r.learn(s, rows, halves[0].took, halves[0].answer)
		r.learnHost(s, s.use.rows-rows, halves[1].took, halves[1].answer)
	})
	return r.mergeHalves(ctx, s, halves, keys)
}

// errHalf is the cause that cancels the other half of a step.
var errHalf = errors.New("the other part of the rows failed")

// fewRows is the size of a merge below which one thread is faster than several.
const fewRows = 1 << 12

// mergeHalves merges the results of the two halves of a step. It returns false
// if a computed result does not fit, so that the step must run as a whole.
func (r *run) mergeHalves(ctx context.Context, s *step, halves [2]half, keys []cutKey) (
	done bool, err error) {
	req := *r.req
	req.Plan, req.Resident, req.Profile = s.rows.Merge, false, false
	base := r.facts(r.req.Facts, s)
	req.Facts = store.NewDatabase()
	for _, rel := range base.Relations() {
		req.Facts.Put(rel)
	}
	rows := 0
	for i, h := range halves {
		for name, rel := range h.answer.Outputs {
			some := *rel
			rows += rel.Rows()
			some.Name = parts.PartSource(i, name)
			req.Facts.Put(&some)
		}
	}
	if rows < fewRows {
		req.Threads = 1
	}
	answer, took, err := r.timed(ctx, r.merge, &req)
	var overflow *runtime.OverflowError
	if s.rows.Computes && (errors.As(err, &overflow) || err == nil && answer.Dropped > 0) {
		r.refuse(s)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.learned(func() { r.learnMerge(s, took) })
	for i, h := range halves {
		p := r.profile(s, []runtime.Engine{r.device, r.host}[i].Name(), h.took, h.answer)
		p.Of, p.From, p.Until = s.table.Name, int64(keys[i].from), int64(keys[i].until)
		if p.Of == "" {
			p.Of = s.rows.Of.Name
		}
		r.answer.Segments = append(r.answer.Segments, p)
		r.answer.Dropped += h.answer.Dropped
		r.answer.Compile = max(r.answer.Compile, h.answer.Compile)
		r.addDevice(h.answer.Device)
		for _, k := range h.answer.Kernels {
			k.Kernel = fmt.Sprintf("%s on %s", k.Kernel, p.Engine)
			r.answer.Kernels = append(r.answer.Kernels, k)
		}
		answer.Peak += h.answer.Peak
	}
	answer.Kernels, answer.Compile = nil, 0
	r.enter(s, answer)
	return true, nil
}

// addDevice adds the GPU's profile of a part of the run.
func (r *run) addDevice(d *runtime.DeviceProfile) {
	if d == nil {
		return
	}
	if r.answer.Device == nil {
		r.answer.Device = &runtime.DeviceProfile{}
	}
	r.answer.Device.Add(d)
}

// add takes the answer of a step that ran on one engine.
func (r *run) add(s *step, a *runtime.Answer, p runtime.SegmentProfile) {
	if len(a.Segments) > 0 { // the engine itself ran the step in segments
		r.answer.Segments = append(r.answer.Segments, a.Segments...)
	} else {
		r.answer.Segments = append(r.answer.Segments, p)
	}
	r.answer.Kernels = append(r.answer.Kernels, a.Kernels...)
	r.answer.Compile += a.Compile
	if s.all {
		r.answer.Profile, r.answer.Device = a.Profile, a.Device
	} else {
		r.addDevice(a.Device)
	}
	r.answer.Dropped += a.Dropped
	a.Dropped = 0
	r.enter(s, a)
}

// enter takes the relations and violations of an answer.
func (r *run) enter(s *step, a *runtime.Answer) {
	r.answer.Peak = max(r.answer.Peak, a.Peak)
	r.answer.Dropped += a.Dropped
	for _, v := range r.req.Plan.Vars {
		rel := a.Outputs[v.Name]
		if rel == nil {
			continue
		}
		if v.Output {
			r.answer.Outputs[v.Name] = rel
		}
		if slices.Contains(s.seg.Gives, v.Name) {
			r.derived[v.Name] = rel
		}
	}
	for _, v := range a.Violations {
		if whole := s.seg.Checks[v.Check]; whole != nil {
			v.Check = whole
		}
		r.answer.Violations = append(r.answer.Violations, v)
	}
}
