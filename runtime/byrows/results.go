package byrows

import (
	"cmp"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Results collects what the steps of a plan yield.
type Results struct {
	Answer *runtime.Answer
	// Derived are the relations that later steps need, by the names of their
	// variables.
	Derived map[string]*store.Relation
	plan    *queryplan.Plan
}

// NewResults returns the results of no step.
func NewResults(plan *queryplan.Plan) Results {
	return Results{Answer: &runtime.Answer{Outputs: map[string]*store.Relation{}},
		Derived: map[string]*store.Relation{}, plan: plan}
}

// Enter takes the relations and violations of a step's answer.
func (r *Results) Enter(s *Step, a *runtime.Answer) {
	r.Answer.Peak = max(r.Answer.Peak, a.Peak)
	r.Answer.Dropped += a.Dropped
	for _, v := range r.plan.Vars {
		rel := a.Outputs[v.Name]
		if rel == nil {
			continue
		}
		if v.Output {
			r.Answer.Outputs[v.Name] = rel
		}
		if slices.Contains(s.Seg.Gives, v.Name) {
			r.Derived[v.Name] = rel
		}
	}
	for _, v := range a.Violations {
		if whole := s.Seg.Checks[v.Check]; whole != nil {
			v.Check = whole
		}
		r.Answer.Violations = append(r.Answer.Violations, v)
	}
}

// AddDevice adds what a part of the run did on a device.
func (r *Results) AddDevice(d *runtime.DeviceProfile) {
	if d == nil {
		return
	}
	if r.Answer.Device == nil {
		r.Answer.Device = &runtime.DeviceProfile{}
	}
	r.Answer.Device.Add(d)
}

// fewRows is the size of a merge below which one thread is faster than several.
const fewRows = 1 << 12

// Merge returns the request for the merge of a step of a request, given the
// outputs of its parts.
func (r *Results) Merge(s *Step, req *runtime.Request,
	outputs []map[string]*store.Relation) *runtime.Request {
	merge, rows := *req, 0
	merge.Plan, merge.Resident, merge.Profile = s.Rows.Merge, false, false
	merge.Facts, rows = Partial(s.Facts(req.Facts, r.Derived), outputs)
	if rows < fewRows {
		merge.Threads = 1
	}
	return &merge
}

// Profile describes the run of a step on an engine.
func (s *Step) Profile(engine string, took time.Duration,
	answer *runtime.Answer) runtime.SegmentProfile {
	p := runtime.SegmentProfile{Engine: engine, Run: took, Compile: answer.Compile}
	for _, piece := range s.Pieces {
		p.Commands += len(piece.Commands)
		for _, c := range piece.Commands {
			if c, ok := c.(*queryplan.Insert); ok && !slices.Contains(p.Fills, c.Var.Name) {
				p.Fills = append(p.Fills, c.Var.Name)
			}
		}
	}
	return p
}

// Of returns the name of the table by whose rows the step is divided.
func (s *Step) Of() string { return cmp.Or(s.Table.Name, s.Rows.Of.Name) }
