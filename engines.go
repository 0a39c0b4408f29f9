package redfox

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/native"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble/codecache"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// engines makes engines and keeps them, because an engine keeps the code of what it
// has run, and that of a GPU columns of facts. The zero value has none yet.
type engines struct {
	mu     sync.Mutex
	made   map[engineKey]*keptEngine
	closed bool
	idle   *sync.Cond // a run has ended; made when Close first waits
	runs   int        // at work
	// codes are those of compiled programs that have been run, by the text of the kernel
	// graph that they are of.
	codes map[string][]*storedCode
}

// shared has the engines of all runs outside sessions.
var shared engines

// engineKey tells engines apart. Kernels that are fused otherwise are other code.
type engineKey struct {
	name   string
	card   driver.Device // of the gpu engine
	memory int64         // of the card that it may take
	fusing string
}

// keptEngine is an engine and how many runs use it.
type keptEngine struct {
	runtime.Engine
	key   engineKey
	users int
	lost  bool // its device is: no further run gets it
}

// isClosed reports whether no further run gets an engine.
func (s *engines) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// errSessionClosed says that the engines are gone.
var errSessionClosed = &EnvironmentError{Message: "the session is closed", Help: "open another one"}

// acquire returns an engine for a run, which gives it back with release.
func (s *engines) acquire(key engineKey, how fusing) (*keptEngine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errSessionClosed
	}
	e := s.made[key]
	if e == nil {
		engine, err := s.make(key, how)
		if err != nil {
			return nil, err
		}
		if s.made == nil {
			s.made = map[engineKey]*keptEngine{}
		}
		e = &keptEngine{Engine: engine, key: key}
		s.made[key] = e
	}
	e.users++
	s.runs++
	return e, nil
}

// start begins to open what runs with the options need, of programs whose kernels are
// fused in a way. What can not be opened, runs find out.
func (s *engines) start(opts RunOptions, how fusing) {
	opts, err := opts.settle()
	if err != nil || opts.Engine != "gpu" {
		return // the others need nothing that takes long, and auto is decided by the facts
	}
	go func() {
		began := time.Now()
		// Before others may have the dynamic linker load something, which does one thing at
		// a time.
		cuda.Load()
		card, err := findCard(opts.Device)
		if err != nil {
			return
		}
		// libLLVM is wanted now that the architecture is known. Beside the driver's
		// initialisation, which everything waits for, its loading would hold that up: both
		// change what the process has mapped.
		go func() { _, _ = openLLVM() }()
		if opts.Trace != nil {
			opts.Trace(Span{Track: "device", Name: "open the driver", Start: began, Duration: time.Since(began)})
		}
		if e, err := s.acquire(keyOf(choice{EngineInfo: EngineInfo{Name: "gpu"}, card: card}, opts, how), how); err == nil {
			s.release(e)
		}
	}()
}

// StartEngine begins to open what runs with these options need, of programs that are
// compiled with those: for the gpu engine the driver, the device and libLLVM. They take
// some tenths of a second, in which the program can be compiled and facts be loaded. What
// is wrong with them, runs say. It is for processes that run one program at a time: with
// two hardware queues the device opens sooner, and the kernels of several runs could wait
// for each other's.
func StartEngine(run RunOptions, program Options) {
	cuda.LimitQueues(runQueues)
	shared.start(run, program.fusing())
}

// runQueues are the hardware queues that one run at a time needs: for its work, and for
// what interrupts it, which in the same queue would wait for that work. Copies beside
// kernels have queues of their own.
const runQueues = 2

// release ends a run's use of an engine. An engine whose device is lost is closed by
// the last run; the next one makes another.
func (s *engines) release(e *keptEngine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.users--
	s.runs--
	if e.lost && e.users == 0 {
		// That the device is lost has been said.
		_ = closeEngine(e.Engine)
	}
	if s.idle != nil {
		s.idle.Broadcast()
	}
}

// lose takes an engine whose device is lost out of use.
func (s *engines) lose(e *keptEngine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.lost = true
	if s.made[e.key] == e {
		delete(s.made, e.key)
	}
}

// forget gives back what engines keep of facts.
func (s *engines) forget(facts *store.Database) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.made {
		if f, ok := e.Engine.(interface{ Forget(*store.Database) }); ok {
			f.Forget(facts)
		}
	}
}

// close waits for the runs at work and closes all engines.
func (s *engines) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.idle == nil {
		s.idle = sync.NewCond(&s.mu)
	}
	for s.runs > 0 {
		s.idle.Wait()
	}
	var errs []error
	for _, e := range s.made {
		errs = append(errs, closeEngine(e.Engine))
	}
	s.made = nil
	return errors.Join(errs...)
}

func closeEngine(e runtime.Engine) error {
	if c, ok := e.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// keyOf returns the key of an engine that runs programs whose kernels are fused in a
// way.
func keyOf(chosen choice, opts RunOptions, how fusing) engineKey {
	switch chosen.Name {
	case "gpu":
		return engineKey{"gpu", chosen.card, opts.DeviceMemory, how.String()}
	case "cpu":
		return engineKey{name: "cpu", fusing: how.String()}
	}
	return engineKey{name: chosen.Name}
}

// make makes an engine.
func (s *engines) make(key engineKey, how fusing) (runtime.Engine, error) {
	switch key.name {
	case "gpu":
		return s.newGPU(key.card, key.memory, how)
	case "cpu":
		return newCPU(how)
	}
	return portable.New(), nil
}

func newCPU(how fusing) (runtime.Engine, error) {
	lib, err := openLLVM()
	if err != nil {
		return nil, err
	}
	t, err := parseTarget(DefaultCPU)
	if err != nil {
		return nil, err
	}
	cache := kernelcache.Open()
	return native.New(native.Options{
		Library:   lib,
		Cache:     cache,
		Lower:     lowering(t, how),
		Generator: cpuGenerator{t, hostcode.Options{Library: lib, Cache: cache}, cache},
	}), nil
}

// lowering turns plans into the kernels of a target, for an engine.
func lowering(t target, how fusing) func(*queryplan.Plan) (*harmony.Program, error) {
	return func(plan *queryplan.Plan) (*harmony.Program, error) {
		graph, _, err := kernelsOf(plan, t, how)
		return graph, err
	}
}

// String tells ways to fuse apart.
func (f fusing) String() string { return fmt.Sprintf("%t %q", f.off, f.apart) }

// cpuGenerator makes code for what the engine knows of the facts.
type cpuGenerator struct {
	target
	options hostcode.Options
	cache   *kernelcache.Cache
}

// Generate returns objects for the kernels of a graph. Where they were compiled before,
// no IR is generated.
func (g cpuGenerator) Generate(graph *harmony.Program, k woven.Knowledge) (*native.Code, error) {
	compiler, err := g.options.Key("")
	if err != nil {
		return nil, err
	}
	// The first of what is joined names the primitives that the others call.
	code, err := compileOnce(g.cache, graph, g.target, compiler, k, func(heard woven.Knowledge) (*codecache.Code, error) {
		code, err := emitKernels(graph, g.target, heard)
		if err != nil {
			return nil, err
		}
		objects, err := hostcode.Objects(g.options, code.IR, code.Module.Symbols())
		if err != nil {
			return nil, err
		}
		calls := []byte(strings.Join(hostcode.Calls(code.IR), "\n"))
		return codecache.NewCode(code.Module, string(hostcode.Join(slices.Insert(objects, 0, calls)))), nil
	})
	if err != nil {
		return nil, err
	}
	module, err := code.Module()
	if err != nil {
		return nil, &InternalError{Phase: "code generation", Err: err}
	}
	parts, ok := hostcode.Split([]byte(code.Text))
	if !ok || len(parts) == 0 {
		return nil, &InternalError{Phase: "code generation", Err: errors.New("the cache has objects that are none")}
	}
	return &native.Code{Module: module, Objects: parts[1:], Calls: strings.Fields(string(parts[0]))}, nil
}
