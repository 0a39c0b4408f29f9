package mixed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/store"
)

// run is a run of a plan, step by step.
type run struct {
	*Engine
	req *runtime.Request
	byrows.Results
}

// Run evaluates the plan.
func (e *Engine) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if req.Facts == nil || req.Rounds || req.Round != nil {
		return e.host.Run(ctx, req)
	}
	if err := req.Facts.Decode(ctx, req.Threads); err != nil {
		return nil, err
	}
	p, err := e.plan(req)
	if err != nil {
		return nil, err
	}
	r := &run{e, req, byrows.NewResults(req.Plan)}
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
	r.Answer.Cache = e.cacheProfile(req.Facts)
	return r.Answer, nil
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
	req.Plan, req.Resident, req.NoPackedColumns = s.Seg.Plan, false, true
	if !s.All {
		req.MaxRounds = r.req.RoundsBound()
		if r.req.MaxRounds < 0 {
			req.MaxRounds = -1
		}
		req.Profile = false
	}
	req.Facts = s.Facts(r.req.Facts, r.Derived)
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
			r.add(s, answer, s.Profile(r.device.Name(), took, answer))
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
	r.add(s, answer, s.Profile(r.host.Name(), took, answer))
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
	keys := []cutKey{{s.Table, 0, rows}, {s.Table, rows, s.use.rows}}
	var both sync.WaitGroup
	for i, on := range engines {
		req := *r.req
		req.Plan, req.Resident, req.NoPackedColumns = s.Rows.Part, false, true
		req.Profile, req.Progress = false, nil
		req.Facts = s.Facts(r.part(r.req.Facts, keys[i]), r.Derived)
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

// mergeHalves merges the results of the two halves of a step. It returns false
// if a computed result does not fit, so that the step must run as a whole.
func (r *run) mergeHalves(ctx context.Context, s *step, halves [2]half, keys []cutKey) (
	done bool, err error) {
	outputs := []map[string]*store.Relation{halves[0].answer.Outputs, halves[1].answer.Outputs}
	answer, took, err := r.timed(ctx, r.merge, r.Merge(s.Step, r.req, outputs))
	var overflow *runtime.OverflowError
	if s.Rows.Computes && (errors.As(err, &overflow) || err == nil && answer.Dropped > 0) {
		r.refuse(s)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r.learned(func() { r.learnMerge(s, took) })
	for i, h := range halves {
		p := s.Profile([]runtime.Engine{r.device, r.host}[i].Name(), h.took, h.answer)
		p.Of, p.From, p.Until = s.Of(), int64(keys[i].from), int64(keys[i].until)
		r.Answer.Segments = append(r.Answer.Segments, p)
		r.Answer.Dropped += h.answer.Dropped
		r.Answer.Compile = max(r.Answer.Compile, h.answer.Compile)
		r.AddDevice(h.answer.Device)
		for _, k := range h.answer.Kernels {
			k.Kernel = fmt.Sprintf("%s on %s", k.Kernel, p.Engine)
			r.Answer.Kernels = append(r.Answer.Kernels, k)
		}
		answer.Peak += h.answer.Peak
	}
	answer.Kernels, answer.Compile = nil, 0
	r.Enter(s.Step, answer)
	return true, nil
}

// add takes the answer of a step that ran on one engine.
func (r *run) add(s *step, a *runtime.Answer, p runtime.SegmentProfile) {
	if len(a.Segments) > 0 { // the engine itself ran the step in segments
		r.Answer.Segments = append(r.Answer.Segments, a.Segments...)
	} else {
		r.Answer.Segments = append(r.Answer.Segments, p)
	}
	r.Answer.Kernels = append(r.Answer.Kernels, a.Kernels...)
	r.Answer.Compile += a.Compile
	if s.All {
		r.Answer.Profile, r.Answer.Device = a.Profile, a.Device
	} else {
		r.AddDevice(a.Device)
	}
	r.Answer.Dropped += a.Dropped
	a.Dropped = 0
	r.Enter(s.Step, a)
}
