package redfox

import (
	"context"
	"errors"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu"
)

// SessionOptions says what a session runs programs on. Its fields mean what those of
// RunOptions mean, and those of a run in the session that say which engine and which GPU
// are not looked at.
type SessionOptions struct {
	Engine       string
	Device       string
	DeviceMemory int64
	Threads      int
	Memory       int64 // of each run
}

// Session runs many programs over facts that are loaded once. It has engines of its
// own, which keep the code of programs and, on a GPU, the columns of facts. It is safe
// for concurrent use.
type Session struct {
	engines engines
	options SessionOptions
}

// OpenSession returns a session. The error is that the machine has no such engine; auto
// is decided for each program and its facts. A GPU is being opened while the session's
// first program is compiled and its facts are loaded.
func OpenSession(opts SessionOptions) (*Session, error) {
	run, err := RunOptions{Engine: opts.Engine, Device: opts.Device, DeviceMemory: opts.DeviceMemory}.settle()
	if err != nil {
		return nil, err
	}
	opts.Engine = run.Engine
	s := &Session{options: opts}
	switch {
	case opts.Engine == "gpu":
		if _, err := findCard(opts.Device); err != nil {
			return nil, err
		}
		s.engines.start(s.complete(RunOptions{}), fusing{})
	case opts.Engine != "" && opts.Engine != "auto":
		if _, _, err := ChooseEngine(opts.Engine); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// complete gives the options of a run what the session says of all.
func (s *Session) complete(opts RunOptions) RunOptions {
	opts.Engine, opts.Device, opts.DeviceMemory = s.options.Engine, s.options.Device, s.options.DeviceMemory
	if opts.Threads == 0 {
		opts.Threads = s.options.Threads
	}
	if opts.Memory == 0 {
		opts.Memory = s.options.Memory
	}
	return opts
}

// Run runs a program over loaded facts, as Program.RunOn does, on the session's engine.
func (s *Session) Run(ctx context.Context, p *Program, db *Database, opts RunOptions) (*Result, error) {
	opts = s.complete(opts)
	q, err := s.engines.prepare(p, db, opts)
	if err != nil {
		return nil, err
	}
	return q.Run(ctx, opts)
}

// Prepare plans a program for facts, makes its code and copies the facts to the GPU,
// so that runs of it do nothing but run. Of the options, Outputs is what the runs compute.
func (s *Session) Prepare(ctx context.Context, p *Program, db *Database, opts RunOptions) (*Prepared, error) {
	opts = s.complete(opts)
	q, err := s.engines.prepare(p, db, opts)
	if err != nil {
		return nil, err
	}
	q.threads, q.memory = opts.Threads, opts.Memory
	return q, q.with(ctx, func(eng *keptEngine) error {
		if able, ok := eng.Engine.(runtime.Preparer); ok {
			return able.Prepare(ctx, q.request(opts))
		}
		return nil
	})
}

// Forget gives back what the session keeps of facts on the GPU. Another run over them
// copies them again.
func (s *Session) Forget(db *Database) {
	if db.ahead != nil && db.ahead.engines == &s.engines {
		db.ahead.stop()
	}
	s.engines.forget(db.store)
}

// Trim gives back to other programs what the session keeps of the GPU's memory for later
// runs and nothing uses. Facts stay.
func (s *Session) Trim() error { return s.engines.trim() }

func (s *engines) trim() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, e := range s.made {
		if g, ok := e.Engine.(*gpu.Engine); ok {
			errs = append(errs, deviceError(g.Trim()))
		}
	}
	return errors.Join(errs...)
}

// Close waits for the runs at work and gives all memory back, also that of results
// that were not fetched. Later runs fail.
func (s *Session) Close() error { return s.engines.close() }

// DeviceUse is what engines hold of GPUs' memory, in bytes.
type DeviceUse = gpu.Use

// DeviceUse returns what the session holds of the GPU's memory.
func (s *Session) DeviceUse() DeviceUse { return s.engines.deviceUse() }

func (s *engines) deviceUse() DeviceUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all DeviceUse
	for _, e := range s.made {
		if g, ok := e.Engine.(*gpu.Engine); ok {
			use := g.Use()
			all.Resident += use.Resident
			all.Held += use.Held
			all.Peak += use.Peak
			all.Limit += use.Limit
		}
	}
	return all
}
