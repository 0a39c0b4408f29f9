package redfox

import (
	"context"

	"github.com/redfoxdb/redfox/internal/driver"
)

// SessionOptions says what a session runs programs on. Its fields mean what
// those of RunOptions mean.
type SessionOptions struct {
	Engine       string
	Device       string
	DeviceMemory int64
	Threads      int
	Memory       int64 // of each run
}

// Session runs programs over facts that are loaded once. It keeps engines,
// plans and code and, on a GPU, the columns of facts, so that a repeated run
// does nothing but run. It is safe for concurrent use.
type Session struct {
	session *driver.Session
}

// OpenSession returns a session. It fails if the machine lacks the engine; auto
// is decided for each program and its facts. A GPU is opened while the
// session's first program is compiled and its facts are loaded.
func OpenSession(opts SessionOptions) (*Session, error) {
	s, err := driver.OpenSession(driver.SessionOptions(opts))
	if err != nil {
		return nil, public(err)
	}
	return &Session{s}, nil
}

// Database is loaded facts, ready for programs that agree on the types of their
// predicates. It is immutable and safe for concurrent use.
type Database struct {
	db *driver.Database
}

// LoadReport says what was read of files.
type LoadReport struct {
	Rows    int64    // of all files
	Skipped int64    // malformed rows, which LoadOptions.SkipMalformed allows
	Notes   []string // such as a predicate without a file, or a file of no predicate
}

// Report says what was read of files.
func (db *Database) Report() LoadReport { return newReport(db.db.Report()) }

func newReport(r *driver.LoadReport) LoadReport {
	out := LoadReport{Notes: r.Notes}
	for _, f := range r.Files {
		out.Rows += f.Rows
		out.Skipped += f.Skipped
	}
	return out
}

// Bytes returns the size of the columns in memory.
func (db *Database) Bytes() int64 { return db.db.Bytes() }

// Load reads the facts that a program uses into columns. If the session has a
// GPU, finished columns are copied to it while others are being read, as long
// as its memory has room. A malformed row, or a functional predicate with two
// values for a key, is a *ProgramError with its place.
func (s *Session) Load(ctx context.Context, p *Program, facts *Facts,
	opts LoadOptions) (*Database, error) {
	db, err := s.session.Load(ctx, p.program, facts.driver(), opts.driver())
	if err != nil {
		return nil, public(err)
	}
	return &Database{db}, nil
}

// Run runs a program over loaded facts, as Program.Run does, on the session's
// engine. The first run of a program plans it and makes its code. A nil db
// stands for no facts.
func (s *Session) Run(ctx context.Context, p *Program, db *Database,
	opts RunOptions) (*Result, error) {
	if db == nil {
		var err error
		if db, err = s.Load(ctx, p, nil, LoadOptions{Predicates: opts.Outputs}); err != nil {
			return nil, err
		}
	}
	res, err := s.session.Run(ctx, p.program, db.db, opts.driver())
	return newResult(res, p.program), public(err)
}

// Forget frees what the session keeps of facts on the GPU. Another run over
// them copies them again.
func (s *Session) Forget(db *Database) { s.session.Forget(db.db) }

// Close waits for the runs at work and frees all memory, also that of results
// that were not fetched. Later runs fail.
func (s *Session) Close() error { return public(s.session.Close()) }
