package tiers

import (
	"context"
	"sync"

	"github.com/redfoxdb/redfox/runtime"
)

// NewLate returns an engine that starts every run on the plain engine, whose
// name it has. It opens the native engine for the first loop that takes long.
// If opening fails, runs stay on the plain engine.
func NewLate(plain runtime.Engine, open func() (runtime.Engine, error), s Sizes) *Engine {
	e := New(plain, &late{open: sync.OnceValues(open)}, s)
	e.late = true
	return e
}

// late is an engine that is opened at its first use.
type late struct {
	open   func() (runtime.Engine, error)
	mu     sync.Mutex
	opened runtime.Engine // nil until the first use
}

// IsOpen reports whether the engine has been opened.
func (l *late) IsOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened != nil
}

// Name returns runtime.CPU.
func (l *late) Name() string { return runtime.CPU }

func (l *late) engine() (runtime.Engine, error) {
	e, err := l.open()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.opened = e
	}
	return e, err
}

// Run evaluates the plan.
func (l *late) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	e, err := l.engine()
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, req)
}

// Find loads the code of a request if that needs no compilation, and reports
// whether it did.
func (l *late) Find(ctx context.Context, req *runtime.Request) (bool, error) {
	e, err := l.engine()
	if c, ok := e.(runtime.Compiler); ok && err == nil {
		return c.Find(ctx, req)
	}
	return false, err
}

// Compile compiles the code of a request.
func (l *late) Compile(ctx context.Context, req *runtime.Request, cores int) error {
	e, err := l.engine()
	if c, ok := e.(runtime.Compiler); ok && err == nil {
		return c.Compile(ctx, req, cores)
	}
	return err
}

// Close frees the code, if there is any.
func (l *late) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := l.opened.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}
