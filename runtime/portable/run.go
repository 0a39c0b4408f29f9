package portable

import (
	"context"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/pipeline"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

type engine struct {
	opts work.Sizes
	kept tables.Kept
}

// InternalError is a bug of the engine.
type InternalError = work.InternalError

// New returns the go engine.
func New() runtime.Engine { return &engine{opts: work.DefaultSizes} }

// NewReordering returns the go engine for tests: it chooses orders of joins
// again whenever a relation has grown by a factor.
func NewReordering(factor float64) runtime.Engine {
	opts := work.DefaultSizes
	opts.Grown, opts.Counted = factor, 1
	return &engine{opts: opts}
}

// Name returns runtime.Go.
func (e *engine) Name() string { return runtime.Go }

// Run evaluates the plan.
func (e *engine) Run(ctx context.Context, req *runtime.Request) (answer *runtime.Answer,
	err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := newEvaluation(ctx, req, e.opts)
	if req.Memory == 0 && !req.NoKeptIndexes {
		r.kept = &e.kept
	}
	defer r.Mem.Close()
	stop := context.AfterFunc(ctx, r.Stop.Stop)
	defer stop()
	evaluate := func() {
		if err := req.Facts.Decode(ctx, req.Threads); err != nil {
			work.Abort(err)
		}
		r.walk()
	}
	if err := work.Guard(evaluate); err != nil {
		if bug, ok := err.(*work.InternalError); ok && bug.Command == "" {
			bug.Command = r.running
		}
		return nil, err
	}
	return r.answer, nil
}

// evaluation is one run of a plan.
type evaluation struct {
	*work.Run
	req     *runtime.Request
	answer  *runtime.Answer
	running string // the command, for internal errors

	cols    *columns.Columns
	c       *pipeline.Compiler
	kept    *tables.Kept // nil if indexes on facts are the run's own
	cmds    map[queryplan.Command]*command
	profile []*runtime.CommandProfile
	pace    runtime.Pace
	visited int64 // blocks so far
	growth  growth
}

func newEvaluation(ctx context.Context, req *runtime.Request, opts work.Sizes) *evaluation {
	threads := req.Threads
	if threads <= 0 {
		threads = goruntime.GOMAXPROCS(0)
	}
	r := work.NewRun(ctx, threads, req.Memory, opts)
	r.NoBitJoins = req.NoBitJoins
	return &evaluation{Run: r, req: req,
		answer: &runtime.Answer{Outputs: map[string]*store.Relation{},
			Rounds: map[string]runtime.Rounds{}}}
}

// command is a compiled command.
type command struct {
	run     func() pipeline.Done
	profile *runtime.CommandProfile
	text    func() string
}

// walk runs the plan from its entry to Halt.
func (r *evaluation) walk() {
	r.running = "prepare"
	r.prepare()
	visits := map[*queryplan.Block]int{}
	var last *queryplan.Block
	r.pace = runtime.StartPace()
	most := r.req.RoundsBound()
	for b := r.req.Plan.Blocks[0]; b != nil; {
		if last != nil && !r.c.Flow.SameLoop(last, b) {
			visits[b] = 0
		}
		visits[b]++
		for _, cmd := range b.Cmds {
			r.step(r.cmds[cmd])
		}
		r.visited++
		r.endRound(b)
		r.progress(b, visits[b])
		next := r.next(b)
		if loop, ok := b.Term.(*queryplan.Branch); ok && loop.Unbounded && next == loop.Then &&
			int64(visits[b]) >= most {
			_, _, total := r.filled(b)
			work.Abort(&runtime.RoundsError{Loop: loop, Rounds: most, Tuples: total})
		}
		if r.leaves(next, b, visits[b]) {
			r.finish()
			return
		}
		r.reorder(next, b, visits[b])
		b, last = next, b
	}
	r.running = "output"
	r.output()
	r.finish()
}

// finish enters what the run has counted.
func (r *evaluation) finish() {
	r.answer.Dropped = r.Dropped.Load()
	r.answer.Peak = r.Mem.Peak()
	if r.req.Profile {
		for _, p := range r.profile {
			r.answer.Profile = append(r.answer.Profile, *p)
		}
	}
}

// step runs a command.
func (r *evaluation) step(c *command) {
	r.Stop.Check()
	if !r.req.Profile && r.req.Trace == nil {
		if err := work.Guard(func() { c.run() }); err != nil {
			r.fail(c, err)
		}
		return
	}
	begin := time.Now()
	var done pipeline.Done
	if err := work.Guard(func() { done = c.run() }); err != nil {
		r.fail(c, err)
	}
	took := time.Since(begin)
	c.profile.Calls++
	c.profile.Rows += done.Rows
	c.profile.Kept += done.Kept
	c.profile.ByBits = c.profile.ByBits || done.ByBits
	c.profile.Time += took
	if r.req.Trace != nil {
		name, _, _ := strings.Cut(c.text(), "\n")
		s := runtime.Span{Track: "host", Name: name, Start: begin, Duration: took}
		if done.Rows > 0 || done.Kept > 0 {
			s.Args = map[string]any{"rows": done.Rows, "new": done.Kept}
		}
		r.req.Trace(s)
	}
}

// fail passes an error on, with the command's text if it is a bug.
func (r *evaluation) fail(c *command, err error) {
	if bug, ok := err.(*work.InternalError); ok && bug.Command == "" {
		bug.Command = c.text()
	}
	work.Abort(err)
}

// next returns the block that a terminator goes to; nil for Halt.
func (r *evaluation) next(b *queryplan.Block) *queryplan.Block {
	switch t := b.Term.(type) {
	case *queryplan.Jump:
		return t.To
	case *queryplan.Branch:
		for _, v := range t.Vars {
			if r.c.Tables[v].Rows(queryplan.Delta) > 0 {
				return t.Then
			}
		}
		return t.Else
	}
	return nil
}

// endRound notes how many tuples the outputs have that a block has filled.
func (r *evaluation) endRound(b *queryplan.Block) {
	if !r.req.Rounds {
		return
	}
	for _, c := range b.Cmds {
		m, ok := c.(*queryplan.Merge)
		if !ok || !m.Var.Output || r.c.Tables[m.Var].Rows(queryplan.Delta) == 0 {
			continue
		}
		r.answer.Rounds[m.Var.Name] = append(r.answer.Rounds[m.Var.Name], runtime.RoundEnd{
			Round: r.visited, Rows: int64(r.c.Tables[m.Var].Rows(queryplan.Full))})
	}
}

func (r *evaluation) progress(b *queryplan.Block, visits int) {
	if !r.c.Flow.InLoop(b) || !r.pace.Due(r.req) {
		return
	}
	p := runtime.Progress{Block: b.Name, Iteration: visits}
	p.Vars, p.New, p.Total = r.filled(b)
	r.req.Progress(p)
}

// filled returns the variables that the rounds of a block fill, the number of
// tuples that the last round has added to them, and that of all their tuples.
func (r *evaluation) filled(b *queryplan.Block) (names []string, added, total int64) {
	for _, c := range b.Cmds {
		if m, ok := c.(*queryplan.Merge); ok && !slices.Contains(names, m.Var.Name) {
			names = append(names, m.Var.Name)
			added += int64(r.c.Tables[m.Var].Rows(queryplan.Delta))
			total += int64(r.c.Tables[m.Var].Rows(queryplan.Full))
		}
	}
	return names, added, total
}

// prepare compiles all commands.
func (r *evaluation) prepare() {
	p := r.req.Plan
	var err error
	if r.cols, err = columns.Bind(r.Mem, p, r.req.Facts, r.Threads); err != nil {
		work.Abort(err)
	}
	r.c = pipeline.New(r.Run, p, r.cols, r.req.MaxViolations, func(v runtime.Violation) {
		r.answer.Violations = append(r.answer.Violations, v)
	})
	r.c.Kept = r.kept
	r.cmds = map[queryplan.Command]*command{}
	for _, b := range p.Blocks {
		for i, cmd := range b.Cmds {
			compiled := &command{
				run:     r.c.Command(b, i, cmd),
				profile: &runtime.CommandProfile{Block: b.Name, Command: i},
				text:    func() string { return queryplan.CommandString(cmd) },
			}
			r.cmds[cmd] = compiled
			r.profile = append(r.profile, compiled.profile)
		}
	}
}
