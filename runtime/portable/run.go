package portable

import (
	"context"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

type engine struct{ opts options }

// New returns the go engine.
func New() runtime.Engine { return &engine{defaults} }

// Name returns "go".
func (e *engine) Name() string { return "go" }

// Run evaluates the plan.
func (e *engine) Run(ctx context.Context, req *runtime.Request) (answer *runtime.Answer, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := newEvaluation(ctx, req, e.opts)
	defer r.mem.Close()
	stop := context.AfterFunc(ctx, r.stop.stop)
	defer stop()
	if err := guard(r.walk); err != nil {
		if bug, ok := err.(*InternalError); ok && bug.Command == "" {
			bug.Command = r.running
		}
		return nil, err
	}
	return r.answer, nil
}

// evaluation is one run of a plan.
type evaluation struct {
	*run
	req     *runtime.Request
	answer  *runtime.Answer
	running string // the command, for internal errors

	cols    *columns
	c       *compiler
	cmds    map[queryplan.Command]*command
	profile []*runtime.CommandProfile
	pace    runtime.Pace
}

func newEvaluation(ctx context.Context, req *runtime.Request, opts options) *evaluation {
	threads := req.Threads
	if threads <= 0 {
		threads = goruntime.GOMAXPROCS(0)
	}
	return &evaluation{run: newRun(ctx, threads, req.Memory, opts), req: req, answer: &runtime.Answer{Outputs: map[string]*store.Relation{}}}
}

// command is a compiled command.
type command struct {
	run     func() (rows, kept int64)
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
		if last != nil && !r.c.flow.SameLoop(last, b) {
			visits[b] = 0
		}
		visits[b]++
		for _, cmd := range b.Cmds {
			r.step(r.cmds[cmd])
		}
		r.progress(b, visits[b])
		next := r.next(b)
		if loop, ok := b.Term.(*queryplan.Branch); ok && loop.Unbounded && next == loop.Then && int64(visits[b]) >= most {
			abort(&runtime.RoundsError{Loop: loop, Rounds: most})
		}
		b, last = next, b
	}
	r.running = "output"
	r.output()
	r.answer.Dropped = r.dropped.Load()
	r.answer.Peak = r.mem.Peak()
	if r.req.Profile {
		for _, p := range r.profile {
			r.answer.Profile = append(r.answer.Profile, *p)
		}
	}
}

// step runs a command.
func (r *evaluation) step(c *command) {
	r.stop.check()
	if !r.req.Profile && r.req.Trace == nil {
		if err := guard(func() { c.run() }); err != nil {
			r.fail(c, err)
		}
		return
	}
	begin := time.Now()
	var rows, kept int64
	if err := guard(func() { rows, kept = c.run() }); err != nil {
		r.fail(c, err)
	}
	took := time.Since(begin)
	c.profile.Calls++
	c.profile.Rows += rows
	c.profile.Kept += kept
	c.profile.Time += took
	if r.req.Trace != nil {
		name, _, _ := strings.Cut(c.text(), "\n")
		s := runtime.Span{Track: "host", Name: name, Start: begin, Duration: took}
		if rows > 0 || kept > 0 {
			s.Args = map[string]any{"rows": rows, "new": kept}
		}
		r.req.Trace(s)
	}
}

// fail passes an error on, with the command's text if it is a bug.
func (r *evaluation) fail(c *command, err error) {
	if bug, ok := err.(*InternalError); ok && bug.Command == "" {
		bug.Command = c.text()
	}
	abort(err)
}

// next returns the block that a terminator goes to; nil for Halt.
func (r *evaluation) next(b *queryplan.Block) *queryplan.Block {
	switch t := b.Term.(type) {
	case *queryplan.Jump:
		return t.To
	case *queryplan.Branch:
		for _, v := range t.Vars {
			if r.c.tables[v].rows(queryplan.Delta) > 0 {
				return t.Then
			}
		}
		return t.Else
	}
	return nil
}

func (r *evaluation) progress(b *queryplan.Block, visits int) {
	if !r.c.flow.InLoop(b) || !r.pace.Due(r.req) {
		return
	}
	p := runtime.Progress{Block: b.Name, Iteration: visits}
	for _, c := range b.Cmds {
		if m, ok := c.(*queryplan.Merge); ok && !slices.Contains(p.Vars, m.Var.Name) {
			p.Vars = append(p.Vars, m.Var.Name)
			p.New += int64(r.c.tables[m.Var].rows(queryplan.Delta))
			p.Total += int64(r.c.tables[m.Var].rows(queryplan.Full))
		}
	}
	r.req.Progress(p)
}

// prepare compiles all commands.
func (r *evaluation) prepare() {
	p := r.req.Plan
	var err error
	if r.cols, err = bind(r.mem, p, r.req.Facts); err != nil {
		abort(err)
	}
	r.c = newCompiler(r.run, p, r.cols, r.req.MaxViolations, func(v runtime.Violation) {
		r.answer.Violations = append(r.answer.Violations, v)
	})
	r.cmds = map[queryplan.Command]*command{}
	for _, b := range p.Blocks {
		for i, cmd := range b.Cmds {
			compiled := &command{
				run:     r.c.command(b, i, cmd),
				profile: &runtime.CommandProfile{Block: b.Name, Command: i},
				text:    func() string { return queryplan.CommandString(cmd) },
			}
			r.cmds[cmd] = compiled
			r.profile = append(r.profile, compiled.profile)
		}
	}
}
