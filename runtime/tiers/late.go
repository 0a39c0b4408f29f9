package tiers

import (
	"context"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// NewLate returns an engine that begins every run on the plain engine, by whose
// name it goes. The engine of native code is opened for the first loop that
// goes on for long. If it cannot be opened, runs stay on the plain engine.
func NewLate(plain runtime.Engine, open func() (runtime.Engine, error), s Sizes) *Engine {
	e := New(plain, &late{open: sync.OnceValues(open)}, s)
	e.late = true
	return e
}

// LateSizes are those of NewLate that users have. Opening LLVM takes 50 ms.
var LateSizes = func() Sizes {
	s := DefaultSizes
	s.Look = 500 * time.Millisecond
	return s
}()

// late is an engine that is opened when it is first needed.
type late struct {
	open   func() (runtime.Engine, error)
	mu     sync.Mutex
	opened runtime.Engine // nil before
}

// Name returns the name of the engine of native code.
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

// Run runs a plan on the engine.
func (l *late) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	e, err := l.engine()
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, req)
}

// Find looks for the code of a request.
func (l *late) Find(ctx context.Context, req *runtime.Request) (bool, error) {
	e, err := l.engine()
	if c, ok := e.(runtime.Compiler); ok && err == nil {
		return c.Find(ctx, req)
	}
	return false, err
}

// Compile makes the code of a request.
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
