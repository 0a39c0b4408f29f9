package driver

import (
	"cmp"
	"context"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/mixed"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// SessionOptions says what a session runs programs on. Its fields mean what
// those of RunOptions mean. They replace the engine and the GPU of the options
// of a run.
type SessionOptions struct {
	Engine       string
	Device       string
	DeviceMemory int64
	Threads      int
	Memory       int64 // of each run
}

// MixedSizes are thresholds of EngineMixed.
type MixedSizes = mixed.Sizes

// Session runs many programs over facts that are loaded once. Its engines keep
// the code of programs and, on a GPU, the columns of facts. It is safe for
// concurrent use.
type Session struct {
	pool    *pool.Pool
	options SessionOptions
}

// OpenSession returns a session. It fails if the machine lacks the engine; auto
// is decided for each program and its facts. A GPU is opened while the
// session's first program is compiled and its facts are loaded.
func OpenSession(opts SessionOptions) (*Session, error) {
	s := &Session{pool: pool.New(process.Machine), options: opts}
	run := s.complete(RunOptions{})
	selected, err := s.pool.Machine.Select(run.want())
	if err == nil {
		_, err = selected.Choose(machine.Size{}, nil)
	}
	if err != nil {
		return nil, err
	}
	s.pool.Start(selected, assemble.Fusing{}, nil)
	return s, nil
}

// SetMixed gives EngineMixed other thresholds, before the first run of the
// session, so that tests reach every path with little data.
func (s *Session) SetMixed(sizes MixedSizes) { s.pool.Mixed = &sizes }

// complete fills the options of a run with those of the session.
func (s *Session) complete(opts RunOptions) RunOptions {
	opts.Engine, opts.Device = s.options.Engine, s.options.Device
	opts.DeviceMemory = s.options.DeviceMemory
	opts.Threads = cmp.Or(opts.Threads, s.options.Threads)
	opts.Memory = cmp.Or(opts.Memory, s.options.Memory)
	return opts
}

// Load loads the facts that a program uses, as Program.LoadFor does, for runs
// of the session.
func (s *Session) Load(ctx context.Context, p *Program, facts *Facts,
	opts LoadOptions) (*Database, error) {
	return loadFor(ctx, s.pool, p, facts, s.complete(RunOptions{Load: opts}))
}

// Run runs a program over loaded facts, as Program.RunOn does, on the session's
// engine.
func (s *Session) Run(ctx context.Context, p *Program, db *Database,
	opts RunOptions) (*Result, error) {
	opts = s.complete(opts)
	q, err := prepare(s.pool, p, db, opts)
	if err != nil {
		return nil, err
	}
	return q.Run(ctx, opts)
}

// Prepare plans a program for facts, makes its code and copies the facts to the
// GPU, so that its runs do nothing but run. Outputs names what the runs
// compute.
func (s *Session) Prepare(ctx context.Context, p *Program, db *Database,
	opts RunOptions) (*Prepared, error) {
	opts = s.complete(opts)
	q, err := prepare(s.pool, p, db, opts)
	if err != nil {
		return nil, err
	}
	q.threads, q.memory, q.often = opts.Threads, opts.Memory, true
	return q, q.with(ctx, func(e runtime.Engine) error {
		able, ok := e.(runtime.Preparer)
		if !ok {
			return nil
		}
		err := able.Prepare(ctx, q.request(opts))
		if deviceBound(err) > 0 {
			return nil // the runs go by parts
		}
		return err
	})
}

// Forget frees what the session keeps of facts on the GPU. Another run over
// them copies them again.
func (s *Session) Forget(db *Database) {
	db.prefetch.StopIn(s.pool)
	s.pool.Forget(db.store)
}

// Trim frees the memory of the GPU that the session keeps for later runs and
// that nothing uses. Facts stay.
func (s *Session) Trim() error { return s.pool.Trim() }

// Close waits for the runs at work and frees all memory, also that of results
// that were not fetched. Later runs fail.
func (s *Session) Close() error { return s.pool.Close() }

// DeviceUse is what engines hold of GPUs' memory, in bytes.
type DeviceUse = gpu.Use

// DeviceUse returns what the session holds of the GPU's memory.
func (s *Session) DeviceUse() DeviceUse { return s.pool.Use() }
