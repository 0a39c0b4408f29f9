package portable

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// options are sizes that tests make small to reach every path with little data.
type options struct {
	vector     int // rows of a batch
	serialRows int // source rows below which one worker runs a pipeline
	smallSet   int // tuples that a set holds in its small form
	noBitmaps  bool
	groups     int // that a worker collects before it may leave a table full
}

var defaults = options{vector: 2048, serialRows: serialRows, smallSet: smallSet, groups: groupLimit}

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
	r := newRun(ctx, req, e.opts)
	defer r.mem.Close()
	stop := context.AfterFunc(ctx, func() { r.stop.stopped.Store(true) })
	defer stop()
	if err := guard(r.walk); err != nil {
		if bug, ok := err.(*InternalError); ok && bug.Command == "" {
			bug.Command = r.running
		}
		return nil, err
	}
	return r.answer, nil
}

// run is one evaluation of a plan.
type run struct {
	req     *runtime.Request
	opts    options
	threads int
	workers []*worker
	mem     *memory
	stop    canceller
	answer  *runtime.Answer
	dropped atomic.Int64
	running string // the command, for internal errors

	c       *compiler
	cmds    map[queryplan.Command]*command
	profile []*runtime.CommandProfile
	pace    runtime.Pace
}

func newRun(ctx context.Context, req *runtime.Request, opts options) *run {
	r := &run{req: req, opts: opts, threads: req.Threads, mem: newMemory(req.Memory), answer: &runtime.Answer{Outputs: map[string]*store.Relation{}}}
	if r.threads <= 0 {
		r.threads = goruntime.GOMAXPROCS(0)
	}
	for i := range r.threads {
		r.workers = append(r.workers, &worker{id: i, run: r})
	}
	r.stop.ctx = ctx
	return r
}

// command is a compiled command.
type command struct {
	run     func() (rows, kept int64)
	profile *runtime.CommandProfile
	text    func() string
}

// walk runs the plan from its entry to Halt.
func (r *run) walk() {
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
			r.command(r.cmds[cmd])
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

func (r *run) command(c *command) {
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
func (r *run) fail(c *command, err error) {
	if bug, ok := err.(*InternalError); ok && bug.Command == "" {
		bug.Command = c.text()
	}
	abort(err)
}

// next returns the block that a terminator goes to; nil for Halt.
func (r *run) next(b *queryplan.Block) *queryplan.Block {
	switch t := b.Term.(type) {
	case *queryplan.Jump:
		return t.To
	case *queryplan.Branch:
		for _, v := range t.Vars {
			if r.c.tables[v].delta.rows > 0 {
				return t.Then
			}
		}
		return t.Else
	}
	return nil
}

func (r *run) progress(b *queryplan.Block, visits int) {
	if !r.c.flow.InLoop(b) || !r.pace.Due(r.req) {
		return
	}
	p := runtime.Progress{Block: b.Name, Iteration: visits}
	for _, c := range b.Cmds {
		if m, ok := c.(*queryplan.Merge); ok && !slices.Contains(p.Vars, m.Var.Name) {
			p.Vars = append(p.Vars, m.Var.Name)
			p.New += int64(r.c.tables[m.Var].delta.rows)
			p.Total += int64(r.c.tables[m.Var].rows(queryplan.Full))
		}
	}
	r.req.Progress(p)
}

// prepare finds the stored columns, dictionaries and bounds, makes the tables
// and compiles all commands.
func (r *run) prepare() {
	p := r.req.Plan
	c := &compiler{run: r, columns: map[*queryplan.Var][]*store.Column{}, rows: map[*queryplan.Var]int{},
		tables: map[*queryplan.Var]*table{}, sides: map[string]*buildSide{}, flow: queryplan.NewFlow(p)}
	r.c = c
	for _, v := range p.Vars {
		if v.Kind == queryplan.Input || v.Kind == queryplan.Table {
			r.bind(v)
		}
	}
	column := func(v *queryplan.Var, i int) *store.Column {
		if cols := c.columns[v]; cols != nil {
			return cols[i]
		}
		return nil
	}
	c.domains = findDomains(r.mem, p, column)
	for v, cols := range c.columns {
		for i, col := range cols {
			if d := c.domains.vars[v][i]; col != nil && d != nil {
				recoded, copied := d.find().made.Recode(col)
				cols[i] = recoded
				if copied {
					r.mem.reserve(v.Name, cols[i].Bytes())
				}
			}
		}
	}
	c.ranges = findRanges(p, c.domains, column)
	for _, v := range p.Vars {
		switch v.Kind {
		case queryplan.Derived:
			c.tables[v] = newTable(r.mem, v.Name, c.ranges[v], c.flow.NeedsSet(v))
		case queryplan.Temp:
			c.tables[v] = newTable(r.mem, v.Name, c.ranges[v], false)
		}
	}
	r.cmds = map[queryplan.Command]*command{}
	for _, b := range p.Blocks {
		for i, cmd := range b.Cmds {
			compiled := r.compile(b, i, cmd)
			compiled.profile = &runtime.CommandProfile{Block: b.Name, Command: i}
			compiled.text = func() string { return queryplan.CommandString(cmd) }
			r.cmds[cmd] = compiled
			r.profile = append(r.profile, compiled.profile)
		}
	}
}

// bind finds the columns of a stored variable. A missing relation is empty.
func (r *run) bind(v *queryplan.Var) {
	cols, rows, err := prepare.Stored(r.req.Facts, prepare.Variable{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Source: v.Source, Stored: v.Stored})
	if err != nil {
		abort(err)
	}
	r.c.columns[v], r.c.rows[v] = cols, rows
}

// compile makes a command ready to run any number of times.
func (r *run) compile(b *queryplan.Block, i int, cmd queryplan.Command) *command {
	c := r.c
	c.block = b
	switch cmd := cmd.(type) {
	case *queryplan.Insert:
		c.label, c.span = cmd.Var.Name, cmd.Span
		sink := &insertSink{table: c.tables[cmd.Var], cols: columnNames(cmd.Node.Columns())}
		pipes := c.node(cmd.Node, namesOf(cmd.Node.Columns()))
		setSink(pipes, sink)
		return &command{run: func() (int64, int64) {
			r.exec(pipes)
			return sink.finish()
		}}
	case *queryplan.Assign:
		c.label, c.span = cmd.Var.Name, cmd.Var.Span
		t := c.tables[cmd.Var]
		sink := &insertSink{table: t, cols: columnNames(cmd.Node.Columns())}
		pipes := c.node(cmd.Node, namesOf(cmd.Node.Columns()))
		setSink(pipes, sink)
		return &command{run: func() (int64, int64) {
			had := t.detach()
			r.exec(pipes)
			rows, kept := sink.finish()
			t.publish()
			t.freeChunks(had)
			return rows, kept
		}}
	case *queryplan.Merge:
		t := c.tables[cmd.Var]
		done := !c.flow.InsertsAfter(cmd.Var, b, i)
		return &command{run: func() (int64, int64) {
			t.merge()
			if done {
				t.dropSet()
			}
			return 0, 0
		}}
	case *queryplan.Clear:
		if t := c.tables[cmd.Var]; t != nil {
			return &command{run: func() (int64, int64) { t.clear(); return 0, 0 }}
		}
		return &command{run: func() (int64, int64) { return 0, 0 }}
	case *queryplan.Check:
		c.label, c.span = "a constraint", cmd.Span
		node := cmd.Node
		if len(queryplan.Keys(node)) == 0 {
			node = &queryplan.Dedup{Input: node}
		}
		n := &checkNode{check: cmd, pipes: c.node(node, namesOf(node.Columns()))}
		cols, o := orderingOf(c.label, node, n.pipes, nil, nil)
		n.cols, n.binds = cols, o.binds
		return &command{run: func() (int64, int64) { return n.run(r), 0 }}
	case *queryplan.CheckKey:
		k := &keyCheck{cmd: cmd, table: c.tables[cmd.Var], binds: r.bindings(cmd.Var), again: c.flow.InsertsAfter(cmd.Var, b, i)}
		return &command{run: func() (int64, int64) { k.run(r); return 0, 0 }}
	}
	panic(fmt.Sprintf("no command %T", cmd))
}

func setSink(pipes []*pipeline, s sink) {
	for _, p := range pipes {
		p.sink = s
	}
}

func columnNames(cols []queryplan.Column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.Name
	}
	return out
}

// bindings returns the columns of a variable as a scan of all of them has them.
func (r *run) bindings(v *queryplan.Var) []binding {
	out := make([]binding, len(v.Cols))
	for i, col := range v.Cols {
		out[i] = binding{name: col.Name, slot: i, typ: col.Type, rng: r.c.ranges[v][i]}
		if d := r.c.domains.vars[v][i]; d != nil {
			out[i].dom = d.find()
		}
	}
	return out
}
