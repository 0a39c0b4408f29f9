package native

import (
	"context"
	"errors"
	goruntime "runtime"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Generator generates the code of kernel graphs.
type Generator interface {
	// Generate returns code for all kernels and index builds of a program, for
	// tiles of a CPU. It uses a number of cores; 0 means all.
	Generate(p *harmony.Program, k woven.Knowledge, cores int) (*Code, error)
	// Find returns the code that an earlier Generate returned, or nil.
	Find(p *harmony.Program, k woven.Knowledge) (*Code, error)
	// Improve returns better code for one of the symbols in Cold, using what is
	// known of the facts.
	Improve(p *harmony.Program, k woven.Knowledge, symbol string) (*Code, error)
}

// Code is the generated code of a kernel graph.
type Code struct {
	Module *abi.Module
	IR     string // not optimised; calls primitives
	// Objects is the IR compiled by hostcode.Objects. Calls holds the
	// primitives that it calls. If Objects is empty, the engine compiles the
	// IR.
	Objects [][]byte
	Calls   []string
	// Cold lists the symbols of functions that are compiled with little effort
	// and for any facts. The engine improves those that process many rows.
	Cold []string
}

// ObjectCache stores compiled objects for later processes. It is safe for
// concurrent use.
type ObjectCache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Options configures an engine.
type Options struct {
	Library func() (*llvm.Library, error) // called when code has to be compiled or loaded
	Cache   ObjectCache                   // or nil
	// Lower turns a plan into a verified, fused kernel graph.
	Lower     func(*queryplan.Plan) (*harmony.Program, error)
	Generator Generator
}

type engine struct {
	opts     Options
	sizes    sizes
	programs woven.Programs[*woven.Codes[*compiled]]
}

// sizes are thresholds; tests shrink them to reach every path with little data.
type sizes struct {
	policy  layout.Policy
	rows    int   // the smallest capacity of a relation, in rows
	tiles   int   // the smallest number of tiles for each worker
	convert int64 // smaller hash tables, in bytes, do not become bit sets
	// For decomposed loops: values is the smallest number of values for each
	// worker, partTuples the number of tuples of a range, and partBytes the
	// size of a bit set of these.
	values, partTuples, partBytes int
	output                        int // the least rows of an output that keeps the known bounds
	hot                           int // the least rows of a cold function that is improved
}

var defaults = sizes{policy: layout.CPU, rows: 1024, tiles: 8, convert: 1 << 20, output: 1 << 20,
	values: 16, partTuples: 1 << 15, partBytes: 1 << 19,
	hot: 1 << 20}

// New returns the cpu engine, which is also a runtime.Preparer and an
// io.Closer. It keeps the code of plans, so use one engine for all runs.
func New(o Options) runtime.Engine {
	return &engine{opts: o, sizes: defaults, programs: woven.Programs[*woven.Codes[*compiled]]{
		Make: func(*woven.Program) *woven.Codes[*compiled] {
			return &woven.Codes[*compiled]{Drop: (*compiled).close}
		},
		Drop: (*woven.Codes[*compiled]).Close,
	}}
}

// Name returns runtime.CPU.
func (e *engine) Name() string { return runtime.CPU }

// Run evaluates the plan.
func (e *engine) Run(ctx context.Context,
	req *runtime.Request) (answer *runtime.Answer, err error) {
	err = e.with(ctx, req, e.compile, func(r *run, compiled time.Duration) (err error) {
		if answer, err = r.evaluate(ctx); err == nil {
			answer.Compile = compiled
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Prepare compiles the code of a request.
func (e *engine) Prepare(ctx context.Context, req *runtime.Request) error {
	return e.with(ctx, req, e.compile, func(*run, time.Duration) error { return nil })
}

// Compile compiles the code of a request on a number of cores; 0 means all.
func (e *engine) Compile(ctx context.Context, req *runtime.Request, cores int) error {
	making := func(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
		made, err := e.opts.Generator.Generate(graph, k, cores)
		return e.loaded(made, err, cores)
	}
	return e.with(ctx, req, making, func(*run, time.Duration) error { return nil })
}

// errNoCode is the error of a search for code that was not made before.
var errNoCode = errors.New("there is no code")

// Find loads the code of a request if that needs no compilation, and reports
// whether it did.
func (e *engine) Find(ctx context.Context, req *runtime.Request) (bool, error) {
	finding := func(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
		code, err := e.opts.Generator.Find(graph, k)
		if code == nil && err == nil {
			err = errNoCode
		}
		return e.loaded(code, err, 0)
	}
	err := e.with(ctx, req, finding, func(*run, time.Duration) error { return nil })
	if errors.Is(err, errNoCode) {
		return false, nil
	}
	return err == nil, err
}

// Close frees all code. No run may be in progress.
func (e *engine) Close() error {
	e.programs.Close()
	return nil
}

// maker generates and loads the code of a kernel graph.
type maker func(graph *harmony.Program, k woven.Knowledge) (*compiled, error)

// with sets up a run with its facts and code and calls f. compiled is the time
// that makes took, or 0 if the engine had the code.
func (e *engine) with(ctx context.Context, req *runtime.Request, makes maker,
	f func(r *run, compiled time.Duration) error) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r := &run{mem: account.New(req.Memory), threads: req.Threads, sizes: e.sizes}
	if r.threads <= 0 {
		r.threads = goruntime.GOMAXPROCS(0)
	}
	if err := req.Facts.Decode(ctx, r.threads); err != nil {
		return err
	}
	r.walk = woven.Walk{Request: req, Machine: r,
		Order: &order.Sorter{Threads: r.threads, Memory: r.mem}, Running: "preparation"}
	r.cancel.ctx = ctx
	defer r.mem.Close()
	defer r.freeHosts()
	stop := context.AfterFunc(ctx, r.cancel.cancel)
	defer stop()
	defer func() {
		if p := recover(); p != nil {
			err = r.walk.Recovered(runtime.CPU, p)
		}
	}()
	prog, codes, err := e.programs.Find(req.Plan, e.opts.Lower)
	if err != nil {
		return err
	}
	if err := r.prepare(ctx, prog); err != nil {
		return err
	}
	var took time.Duration
	code, err := codes.Use(r.Bound, func(k woven.Knowledge) (*compiled, error) {
		begin := time.Now()
		c, err := makes(prog.Graph, k)
		took = time.Since(begin)
		if req.Trace != nil {
			req.Trace(runtime.Span{Track: "host", Name: "make code", Start: begin, Duration: took})
		}
		return c, err
	})
	if err != nil {
		return err
	}
	defer codes.Release(code)
	r.code = code.Made
	r.improving = func(k woven.Knowledge, symbol string) (*compiled, error) {
		begin := time.Now()
		defer func() { req.Traced("host", "improve code", begin, time.Now()) }()
		made, err := e.opts.Generator.Improve(prog.Graph, k, symbol)
		return e.loaded(made, err, 0)
	}
	defer func() {
		for _, end := range r.uses {
			end()
		}
	}()
	return f(r, took)
}

// prepare binds the facts and chooses the layouts for them.
func (r *run) prepare(ctx context.Context, prog *woven.Program) (err error) {
	policy := r.sizes.policy
	policy.Parts = policy.Parts && !r.walk.Request.NoDecompose
	if r.Bound, err = woven.Bind(ctx, prog, r.walk.Request.Facts, policy, r.threads,
		r.mem); err != nil {
		return err
	}
	r.walk.Bound = r.Bound
	for _, c := range r.Data.Copies {
		if err := r.mem.Reserve(c.Name, c.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// evaluate runs the program.
func (r *run) evaluate(ctx context.Context) (*runtime.Answer, error) {
	r.allocate()
	answer, err := r.walk.Run(ctx)
	if err != nil {
		return nil, err
	}
	answer.Dropped += r.dropped
	answer.Peak = r.mem.Peak()
	return answer, nil
}
