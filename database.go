package redfox

import (
	"context"

	"github.com/redfoxdb/redfox/internal/driver"
)

// Open opens the workspace that is a file, such as shop.rfdb, for transactions.
// It costs milliseconds, however long the file is: columns are mapped into
// memory, and what a run looks at is compared with its checksums first. Each
// transaction of the workspace is on the disk when Exec returns, and a process
// that ends at any moment leaves the last one. Workspace.Close lets go of the
// file. Until then, no other process can open it so.
//
// Sources are the program of a file that is not there yet or has only facts;
// nil where there is one. Facts, which may be nil, are those of predicates that
// the database does not have. A damaged file is an *EnvironmentError that names
// the predicate, the column and the place. With run.KeepGoing, an error about
// constraints comes with the workspace.
func (s *Session) Open(ctx context.Context, path string, sources []Source, facts *Facts,
	opts Options, run RunOptions) (*Workspace, error) {
	w, err := s.session.OpenDatabase(ctx, path, driver.OpenDatabaseOptions{Write: true,
		Sources: driverSources(sources), Facts: facts.driver(), Program: opts.driver(),
		Run: run.driver()})
	if w == nil {
		return nil, public(err)
	}
	return &Workspace{s.session, w}, public(err)
}

// OpenReadOnly opens the workspace that is a file, for reading: its Exec fails
// if the transaction changes something. It stays as the latest transaction has
// left it, whatever other processes write.
func (s *Session) OpenReadOnly(ctx context.Context, path string, opts Options) (*Workspace,
	error) {
	w, err := s.session.OpenDatabase(ctx, path,
		driver.OpenDatabaseOptions{Program: opts.driver()})
	if w == nil {
		return nil, public(err)
	}
	return &Workspace{s.session, w}, public(err)
}

// Close lets go of the file of a workspace, so that another process can write
// to it. A workspace without a file needs no Close.
func (w *Workspace) Close() error { return public(w.workspace.Close()) }

// Store loads the facts of all predicates that the program takes facts of, and
// writes them to the file of a database. Facts.Dir reads it where it reads
// folders, without copying a column.
func (p *Program) Store(ctx context.Context, facts *Facts, path string,
	opts LoadOptions) (LoadReport, error) {
	report, err := p.program.Store(ctx, facts.driver(), path, opts.driver())
	if err != nil {
		return LoadReport{}, public(err)
	}
	return newReport(report), nil
}
