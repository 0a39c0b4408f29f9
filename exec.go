package redfox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
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
	warnings  []*Diagnostic              // of the latest transaction, as report is
	report    *LoadReport
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

// OpenWorkspace runs a program as the first transaction of a workspace. Facts
// are what its predicates hold before, and predicates of files that are
// installed later; opts.Load says how they are read.
func (s *Session) OpenWorkspace(ctx context.Context, sources []Source, facts *Facts, opts Options,
	run RunOptions) (*Workspace, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	w := &Workspace{session: s, facts: facts, options: opts,
		relations: map[string]*store.Relation{}, steps: map[string]*step{}}
	_, err := w.transact(ctx, sources, frontend.Whole, run)
	return w, err
}

// Exec runs a transaction. Its result holds the queries of a transaction that
// installs nothing. If the error is not nil, the workspace is as it was before:
// *ProgramError when a constraint does not hold after the transaction, or as
// Program.Run returns.
func (s *Session) Exec(ctx context.Context, w *Workspace, t Transaction,
	opts RunOptions) (*Result, error) {
	kind := frontend.Execution
	if t.Install {
		kind = frontend.Addition
	}
	if t.Block == "" {
		return w.transact(ctx, t.Sources, kind, opts)
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
	read, err := w.compile(ctx, nil, frontend.Reading)
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
	t, err := w.compile(ctx, sources, kind)
	if err != nil {
		return nil, err
	}
	w.warnings, w.report = t.program.warnings, &LoadReport{}
	opts = w.session.complete(opts)
	stored := append(slices.Clone(t.Changed), t.Kept...)
	var queries []string
	for _, p := range t.program.Predicates() {
		if p.Query && kind == frontend.Execution {
			queries = append(queries, p.Name)
		}
	}
	opts.Outputs = slices.Concat([]string{}, stored, queries)
	res, db, err := w.run(ctx, t.program, opts)
	if err == nil {
		err = res.Fetch(ctx)
	}
	if err != nil {
		return nil, err
	}
	// Nothing fails from here on: the transaction is committed.
	for _, v := range t.program.plan.Vars {
		if v.Kind == queryplan.Input && w.relations[v.Source] == nil {
			w.relations[v.Source] = db.relation(v)
		}
	}
	for _, s := range t.program.schemas() {
		if slices.Contains(t.Pulses, s.Name) {
			w.relations[s.Name] = store.EmptyRelation(s)
		}
	}
	for _, name := range t.Stale {
		delete(w.relations, name)
	}
	for _, name := range stored {
		w.relations[name] = res.owned[name].Tuples()
	}
	t.Commit(&w.front, stored)
	maps.DeleteFunc(w.relations,
		func(name string, _ *store.Relation) bool { return !w.front.Knows(name) })
	if kind != frontend.Execution {
		w.installed++
	}
	res.names = queries
	return res, nil
}

// run runs a program over the contents of the workspace, and loads the facts of
// predicates that it has not seen.
func (w *Workspace) run(ctx context.Context, p *Program, opts RunOptions) (*Result, *Database,
	error) {
	load := opts.Load
	load.held = w.relations
	load.Predicates = slices.Clone(opts.Outputs)
	for _, s := range p.schemas() {
		if w.relations[s.Name] == nil {
			load.Predicates = append(load.Predicates, s.Name)
		}
	}
	db, err := p.load(ctx, w.facts, load, nil)
	if err != nil {
		return nil, nil, err
	}
	w.report = db.report
	res, err := w.session.Run(ctx, p, db, opts)
	return res, db, err
}

// maxSteps bounds the compiled transactions that a workspace keeps.
const maxSteps = 1000

// compile compiles a transaction. The same text is compiled once, as long as
// the same is installed and stored.
func (w *Workspace) compile(ctx context.Context, sources []Source,
	kind frontend.Kind) (t *step, err error) {
	defer failure.Recover("the front end", &err)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	key := fmt.Sprintf("%d %d %q %q", kind, w.installed, sources, w.front.StoredNames())
	if t := w.steps[key]; t != nil {
		return t, nil
	}
	external := map[string]bool{}
	for _, name := range w.options.External {
		external[name] = true
	}
	front, found := frontend.CompileStep(&w.front, sourceFiles(sources), kind,
		frontend.Options{External: external})
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
