package redfox

import (
	"context"

	"github.com/redfoxdb/redfox/internal/driver"
)

// Workspace is a program and the contents of its predicates, which transactions
// change. It is safe for concurrent use; one transaction runs at a time.
type Workspace struct {
	session   *driver.Session
	workspace *driver.Workspace
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
// installed later; run.Load says how they are read. With run.KeepGoing, an
// error about constraints comes with the workspace.
func (s *Session) OpenWorkspace(ctx context.Context, sources []Source, facts *Facts, opts Options,
	run RunOptions) (*Workspace, error) {
	w, err := s.session.OpenWorkspace(ctx, driverSources(sources), facts.driver(), opts.driver(),
		run.driver())
	if w == nil {
		return nil, public(err)
	}
	return &Workspace{s.session, w}, public(err)
}

// Exec runs a transaction. Its result holds the queries of a transaction that
// installs nothing. If the result is nil, the workspace is as it was before,
// and the error is *ProgramError when a constraint does not hold after the
// transaction, or as Program.Run returns. With opts.KeepGoing, a transaction
// that violates a constraint has a result, too, and changes the workspace.
func (w *Workspace) Exec(ctx context.Context, t Transaction, opts RunOptions) (*Result, error) {
	res, err := w.session.Exec(ctx, w.workspace, driver.Transaction{
		Sources: driverSources(t.Sources), Block: t.Block, Install: t.Install}, opts.driver())
	return newResult(res, nil), public(err)
}

// Read runs the installed program over the contents of the workspace.
func (w *Workspace) Read(ctx context.Context, opts RunOptions) (*Result, error) {
	res, err := w.session.Read(ctx, w.workspace, opts.driver())
	return newResult(res, nil), public(err)
}

// Program returns the program that the workspace has installed, without its
// delta rules: the one that Read runs.
func (w *Workspace) Program(ctx context.Context) (*Program, error) {
	p, err := w.workspace.Program(ctx)
	if err != nil {
		return nil, public(err)
	}
	return &Program{p}, nil
}

// Warnings returns the diagnostics of the latest transaction, none of which is
// an error.
func (w *Workspace) Warnings() []Diagnostic { return diagnostics(w.workspace.Warnings()) }

// Report says what the latest transaction read of files.
func (w *Workspace) Report() LoadReport { return newReport(w.workspace.Report()) }
