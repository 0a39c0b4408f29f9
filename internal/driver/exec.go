package driver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/answer"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Workspace is a program and the contents of its predicates, which transactions
// change. It is safe for concurrent use; one transaction runs at a time.
type Workspace struct {
	session *Session
	facts   *Facts
	options Options

	mu        sync.Mutex
	front     frontend.Workspace
	relations map[string]*store.Relation // by predicate
	steps     map[string]*step           // by what they are compiled from
	installed int                        // transactions that have installed clauses
	version   int                        // transactions that were committed
	explained explained
	warnings  []*Diagnostic // of the latest transaction, as report is
	report    *LoadReport
	stats     Stats
	compiling time.Duration
	file      *databaseFile // nil if the workspace is in memory only
}

// Latest says what the latest run of the workspace took, of a transaction or of
// Read: the statistics of the run, and the time that it was compiled for.
func (w *Workspace) Latest() (stats Stats, compile time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats, w.compiling
}

// Warnings returns the diagnostics of the latest transaction, none of which is
// an error.
func (w *Workspace) Warnings() []*Diagnostic { return w.warnings }

// Report lists what the latest transaction read of files.
func (w *Workspace) Report() *LoadReport { return w.report }

// step is a compiled transaction.
type step struct {
	*frontend.Step
	program *Program
}

// Transaction is files of LogiQL that change a workspace.
type Transaction struct {
	Sources []Source
	// Block names an inactive block of a project, which is executed in place of
	// Sources.
	Block string
	// Install makes the clauses part of the program: its delta rules react to
	// the events of later transactions. Otherwise they last as long as the
	// transaction.
	Install bool
}

// OpenWorkspace runs a program as the first transaction of a workspace. Each
// file that a project among the sources executes is a transaction after it.
// Facts are what the predicates hold before, and predicates of files that are
// installed later; opts.Load says how they are read. With run.KeepGoing, an
// error about constraints comes with the workspace.
func (s *Session) OpenWorkspace(ctx context.Context, sources []Source, facts *Facts, opts Options,
	run RunOptions) (*Workspace, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	w := &Workspace{session: s, facts: facts, options: opts,
		relations: map[string]*store.Relation{}, steps: map[string]*step{}}
	res, err := w.install(ctx, sources, frontend.Whole, run)
	if res == nil {
		return nil, err
	}
	return w, err
}

// install runs a transaction that installs files, and those that a project
// among them executes after it.
func (w *Workspace) install(ctx context.Context, sources []Source, kind frontend.Kind,
	opts RunOptions) (*Result, error) {
	program, executed, ordered := Executions(sources)
	if !ordered {
		return w.transact(ctx, sources, kind, opts)
	}
	res, err := w.transact(ctx, program, kind, opts)
	for _, s := range executed {
		if res == nil {
			break
		}
		done, failed := w.transact(ctx, []Source{s}, frontend.Execution, opts)
		if err = cmp.Or(err, failed); done == nil {
			return nil, failed
		}
	}
	return res, err
}

// Exec runs a transaction. Its result holds the queries of a transaction that
// installs nothing. If the result is nil, the workspace is as it was before,
// and the error is *ProgramError when a constraint does not hold after the
// transaction, or as Program.Run returns. With opts.KeepGoing, a transaction
// that violates a constraint has a result, too, and changes the workspace.
func (s *Session) Exec(ctx context.Context, w *Workspace, t Transaction,
	opts RunOptions) (*Result, error) {
	switch {
	case t.Block != "":
	case t.Install:
		return w.install(ctx, t.Sources, frontend.Addition, opts)
	default:
		return w.transact(ctx, t.Sources, frontend.Execution, opts)
	}
	w.mu.Lock()
	f, names := w.front.Inactive(t.Block)
	w.mu.Unlock()
	if f == nil {
		help := "an inactive block is one that a project file calls inactive"
		if len(names) > 0 {
			help = diag.DidYouMean(t.Block, names)
		}
		return nil, &EnvironmentError{Message: "the program has no inactive block " + t.Block,
			Help: help}
	}
	return w.transact(ctx, []Source{{Name: f.Name, Text: f.Text}}, frontend.Execution, opts)
}

// Program returns the program that a workspace has installed, without its delta
// rules. Its runs are those of Read.
func (w *Workspace) Program(ctx context.Context) (*Program, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	read, err := w.compile(ctx, nil, frontend.Reading)
	if err != nil {
		return nil, err
	}
	return read.program, nil
}

// Read runs the installed program over the contents of the workspace.
func (s *Session) Read(ctx context.Context, w *Workspace, opts RunOptions) (*Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	read, err := w.traced(ctx, nil, frontend.Reading, opts)
	if err != nil {
		return nil, err
	}
	res, _, err := w.run(ctx, read.program, s.complete(opts))
	return res, err
}

// transact runs a transaction and commits it.
func (w *Workspace) transact(ctx context.Context, sources []Source, kind frontend.Kind,
	opts RunOptions) (*Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.traced(ctx, sources, kind, opts)
	if err != nil {
		return nil, err
	}
	isReader := w.file != nil && w.file.writer == nil
	if isReader && (kind != frontend.Execution || len(t.Changed)+len(t.Grown) > 0) {
		return nil, w.file.readOnly()
	}
	w.warnings, w.report = t.program.warnings, &LoadReport{}
	opts = w.session.complete(opts)
	stored := t.program.withMade(append(slices.Clone(t.Changed), t.Kept...))
	var queries []string
	for _, p := range t.program.Predicates() {
		if p.Query && kind == frontend.Execution {
			queries = append(queries, p.Name)
		}
	}
	opts.Outputs = slices.Concat([]string{}, stored, queries)
	for _, name := range t.Grown {
		opts.Outputs = append(opts.Outputs, "+"+name)
	}
	res, db, violated := w.run(ctx, t.program, opts)
	if res == nil {
		return nil, violated
	}
	if err := res.Fetch(ctx); err != nil {
		return nil, err
	}
	grown := map[string]*store.Relation{}
	for _, name := range t.Grown {
		tuples := res.owned["+"+name].Tuples()
		rel, err := tuples, error(nil)
		if before := w.relations[name]; before != nil {
			if err = w.prove(ctx, []string{name}, opts.Threads); err == nil {
				rel, err = read.Append(before, tuples)
			}
		}
		if err != nil {
			return nil, err
		}
		grown[name] = rel
	}
	relations := maps.Clone(w.relations)
	var named []string // makers of entities that facts name
	for _, v := range t.program.plan.Vars {
		if v.Kind != queryplan.Input {
			continue
		}
		isNamed := strings.HasSuffix(v.Source, core.NamedSuffix)
		if relations[v.Source] == nil || isNamed {
			relations[v.Source] = db.relation(v)
		}
		if isNamed && relations[v.Source].Rows() > 0 {
			named = append(named, v.Source)
		}
	}
	for _, s := range t.program.schemas() {
		if slices.Contains(t.Pulses, s.Name) {
			relations[s.Name] = store.EmptyRelation(s)
		}
	}
	for _, name := range t.Stale {
		delete(relations, name)
	}
	stored = slices.DeleteFunc(stored, func(name string) bool {
		// A maker without entities has no greatest number to go on from.
		return strings.HasSuffix(name, core.MadeSuffix) && res.owned[name].Tuples().Rows() == 0
	})
	for _, name := range stored {
		relations[name] = res.owned[name].Tuples()
	}
	maps.Copy(relations, grown)
	front := w.front.Clone()
	t.Commit(&front, append(stored, named...))
	maps.DeleteFunc(relations,
		func(name string, _ *store.Relation) bool { return !front.Knows(name) })
	if w.file != nil {
		step := loggedStep{Kind: kindNames[kind], Sources: sources,
			Before: w.front.StoredNames(), Held: slices.Sorted(maps.Keys(w.relations)),
			Stored: append(stored, named...)}
		if kind == frontend.Execution && w.front.HasTypesOf(&front.Workspace) {
			step.Kind = "" // replaying it would change nothing
		}
		// A reader keeps what it derives in memory only.
		isQuery := step.Kind == "" && (isReader || maps.Equal(relations, w.relations) &&
			slices.Equal(step.Before, front.StoredNames()))
		if !isQuery {
			if err := w.file.commit(step, relations, &front); err != nil {
				return nil, err
			}
		}
	}
	// Nothing fails from here on: the transaction is committed.
	w.relations, w.front = relations, front
	w.version++
	if kind != frontend.Execution {
		w.installed++
	}
	res.names = queries
	return res, violated
}

// withMade adds to the names of predicates those that have the numbers of the
// entities in them, as far as the program computes these.
func (p *Program) withMade(names []string) []string {
	made := answer.WithMakers(p.shapes(), slices.Clone(names))[len(names):]
	for _, q := range p.preds {
		if q.Derived && slices.Contains(made, q.Name) {
			names = append(names, q.Name)
		}
	}
	return names
}

// run runs a program over the contents of the workspace, and loads the facts of
// predicates that it has not seen.
func (w *Workspace) run(ctx context.Context, p *Program, opts RunOptions) (*Result, *Database,
	error) {
	start := time.Now()
	db, err := w.load(ctx, p, opts)
	if err != nil {
		return nil, nil, err
	}
	w.report = db.report
	trace.Func(opts.Trace).Since("load facts", start)
	res, err := w.session.Run(ctx, p, db, opts)
	if res != nil {
		w.stats = res.Stats
	}
	return res, db, err
}

// load returns the contents as facts of a program, with what files hold of
// other predicates.
func (w *Workspace) load(ctx context.Context, p *Program, opts RunOptions) (*Database, error) {
	var names []string
	for _, s := range p.schemas() {
		names = append(names, s.Name)
	}
	if err := w.prove(ctx, names, opts.Threads); err != nil {
		return nil, err
	}
	load := opts.Load
	load.held = w.relations
	load.Predicates = slices.Clone(opts.Outputs)
	for _, s := range p.schemas() {
		if w.relations[s.Name] == nil {
			load.Predicates = append(load.Predicates, s.Name)
		}
	}
	return p.load(ctx, w.facts, load, nil)
}

// maxSteps bounds the compiled transactions that a workspace keeps.
const maxSteps = 1000

// traced compiles a transaction and notes how long that took.
func (w *Workspace) traced(ctx context.Context, sources []Source, kind frontend.Kind,
	opts RunOptions) (*step, error) {
	start := time.Now()
	t, err := w.compile(ctx, sources, kind)
	w.compiling = time.Since(start)
	trace.Func(opts.Trace).Since("compile the program", start)
	return t, err
}

// compile compiles a transaction. The same text is compiled once, as long as
// the same is installed, stored and read.
func (w *Workspace) compile(ctx context.Context, sources []Source,
	kind frontend.Kind) (t *step, err error) {
	defer failure.Recover("the front end", &err)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	key := fmt.Sprintf("%d %d %d %q %q", kind, w.installed, len(w.relations), sources,
		w.front.StoredNames())
	if t := w.steps[key]; t != nil {
		return t, nil
	}
	external := map[string]bool{}
	for _, name := range w.options.External {
		external[name] = true
	}
	front, found := frontend.CompileStep(&w.front, sourceFiles(sources), kind,
		frontend.Options{External: external,
			Held: func(name string) bool { return w.relations[name] != nil }})
	if front.Program == nil {
		return nil, &ProgramError{Diagnostics: found}
	}
	if err := verifyCore(front.Program); err != nil {
		return nil, err
	}
	t = &step{Step: front}
	t.program, err = plan(&checked{front.Program, front.Trees, found}, w.options)
	if len(w.steps) >= maxSteps {
		clear(w.steps)
	}
	w.steps[key] = t
	return t, err
}
