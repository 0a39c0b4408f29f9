package pool

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/mixed"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/tiers"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// Pool is the engines of a session or of the process. It is safe for concurrent
// use.
type Pool struct {
	Machine *machine.Machine
	// Shelf holds the code of compiled programs that have been run.
	Shelf assemble.Shelf
	// Mixed has other thresholds for the mixed engine; nil for tests only.
	Mixed *mixed.Sizes
	// Tiers has other thresholds for the engines that change over; not nil in
	// tests only.
	Tiers *tiers.Sizes
	// Batches are those of a GPU in tests.
	Batches byrows.Sizes

	mu     sync.Mutex
	made   map[key]*kept
	closed bool
	idle   *sync.Cond // signals the end of a run
	runs   int        // at work
}

// New returns a pool without engines.
func New(m *machine.Machine) *Pool {
	p := &Pool{Machine: m, made: map[key]*kept{}}
	p.idle = sync.NewCond(&p.mu)
	return p
}

// key identifies an engine. Kernels that are fused differently are different
// code.
type key struct {
	name   string
	card   driver.Device // of the gpu engine
	memory int64         // of the card that it may take
	fusing string
	// adaptive tells the go engine that may go on as native code from the one
	// that has no kernels. onCard says that loops may change over to a GPU, of
	// which they may take memory.
	adaptive, onCard bool
}

func keyOf(c machine.Choice, how assemble.Fusing) key {
	switch {
	case c.Adaptive:
		return key{name: c.Name, fusing: how.String(), adaptive: true, onCard: c.Later != nil,
			memory: c.Memory}
	case c.Name != machine.Go:
	default:
		return key{name: c.Name}
	}
	return key{name: c.Name, card: c.Card, memory: c.Memory, fusing: how.String()}
}

// kept is an engine and the number of runs that use it.
type kept struct {
	runtime.Engine
	key   key
	users int
	lost  bool // its device is lost: no further run gets it
}

// ErrClosed is the error of a run in a pool that is closed.
var ErrClosed = &failure.Environment{Message: "the session is closed", Help: "open another one"}

// Closed reports whether no further run gets an engine.
func (p *Pool) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// With calls f with the chosen engine, which it makes if there is none. If f
// fails and the device of the engine is lost, later runs get another engine.
func (p *Pool) With(c machine.Choice, how assemble.Fusing, f func(runtime.Engine) error) error {
	e, err := p.acquire(c, how)
	if err != nil {
		return err
	}
	defer p.release(e)
	if err = f(e.Engine); err != nil {
		if d, ok := e.Engine.(interface{ Lost() bool }); ok && d.Lost() {
			p.lose(e)
		}
	}
	return err
}

func (p *Pool) acquire(c machine.Choice, how assemble.Fusing) (*kept, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	k := keyOf(c, how)
	e := p.made[k]
	if e == nil {
		engine, err := p.open(c, how)
		if err != nil {
			return nil, err
		}
		e = &kept{Engine: engine, key: k}
		p.made[k] = e
	}
	e.users++
	p.runs++
	return e, nil
}

// release ends the use of an engine. The last run closes an engine whose device
// is lost.
func (p *Pool) release(e *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.users--
	p.runs--
	if e.lost && e.users == 0 {
		_ = closeEngine(e.Engine) // the run has returned that the device is lost
	}
	p.idle.Broadcast()
}

// lose takes an engine whose device is lost out of use.
func (p *Pool) lose(e *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.lost = true
	if p.made[e.key] == e {
		delete(p.made, e.key)
	}
}

// Start opens the GPU of runs that take the gpu engine whatever the facts are,
// beside the compilation and the loading. Errors are ignored here; the first
// run returns them.
func (p *Pool) Start(s *machine.Selection, how assemble.Fusing, spans trace.Func) {
	if !s.IsGPU() {
		return // other engines open at once
	}
	go func() {
		began := time.Now()
		// The dynamic linker loads one library at a time: the driver goes
		// first.
		cuda.Load()
		choice, ok := s.OnGPU(machine.Size{}, nil)
		if !ok {
			return
		}
		// libLLVM is needed as well, unless a note says which one there is and
		// all code is cached. Both change what the process has mapped, so
		// loading it earlier would delay the driver, for which everything
		// waits.
		go func() { _, _ = p.Machine.Tools.LLVM() }()
		if spans != nil {
			spans(trace.Span{Track: "device", Name: "open the driver", Start: began,
				Duration: time.Since(began)})
		}
		if e, err := p.acquire(choice, how); err == nil {
			p.release(e)
		}
	}()
}

// Forget frees what engines keep of facts.
func (p *Pool) Forget(facts *store.Database) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.made {
		if f, ok := e.Engine.(interface{ Forget(*store.Database) }); ok {
			f.Forget(facts)
		}
	}
}

// Trim frees memory of GPUs that engines keep for later runs. Facts stay.
func (p *Pool) Trim() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, e := range p.made {
		if g := onGPU(e.Engine); g != nil {
			errs = append(errs, machine.DeviceFailure(g.Trim()))
		}
	}
	return errors.Join(errs...)
}

// Use returns what the engines hold of GPUs' memory.
func (p *Pool) Use() gpu.Use {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all gpu.Use
	for _, e := range p.made {
		if g := onGPU(e.Engine); g != nil {
			use := g.Use()
			all.Resident += use.Resident
			all.Held += use.Held
			all.Peak += use.Peak
			all.Limit += use.Limit
		}
	}
	return all
}

// onGPU returns the engine of a GPU that an engine is or has, or nil.
func onGPU(e runtime.Engine) *gpu.Engine {
	if m, ok := e.(*mixed.Engine); ok {
		e = m.Device()
	}
	g, _ := e.(*gpu.Engine)
	return g
}

// Settle waits for code that engines compile while runs go on without it, as
// Engine.Settle of package gpu.
func (p *Pool) Settle(ctx context.Context) error {
	p.mu.Lock()
	var list []settler
	for _, e := range p.made {
		if s, ok := e.Engine.(settler); ok {
			list = append(list, s)
		}
	}
	p.mu.Unlock()
	for _, s := range list {
		if err := s.Settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

type settler interface{ Settle(context.Context) error }

// Close waits for the runs at work and closes all engines. Later runs fail.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for p.runs > 0 {
		p.idle.Wait()
	}
	made := p.made
	p.made = nil
	// An engine may wait for what opens another one in vain.
	p.mu.Unlock()
	var errs []error
	for _, e := range made {
		errs = append(errs, closeEngine(e.Engine))
	}
	return errors.Join(errs...)
}

func closeEngine(e runtime.Engine) error {
	if c, ok := e.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
