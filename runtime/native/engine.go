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

// Generator makes code of kernel graphs.
type Generator interface {
	// Generate returns code for all kernels and index builds of a program, for
	// tiles of a CPU. It takes so many cores, all for 0.
	Generate(p *harmony.Program, k woven.Knowledge, cores int) (*Code, error)
	// Find returns what Generate returned before, nil if there is nothing.
	Find(p *harmony.Program, k woven.Knowledge) (*Code, error)
	// Improve returns better code for one of the symbols in Cold, for what is
	// known of the facts.
	Improve(p *harmony.Program, k woven.Knowledge, symbol string) (*Code, error)
}

// Code is generated code.
type Code struct {
	Module *abi.Module
	IR     string // that calls primitives and is not optimised
	// Objects is the IR compiled by hostcode.Objects, and Calls has the
	// primitives that it calls. Without them the engine compiles the IR.
	Objects [][]byte
	Calls   []string
	// Cold are the symbols of functions whose code is slow, for all facts. The
	// engine improves that of functions that see many rows.
	Cold []string
}

// ObjectCache keeps compiled objects from one process to the next. It is safe
// for concurrent use.
type ObjectCache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Options is what the engine is made of.
type Options struct {
	Library func() (*llvm.Library, error) // asked for when there is code to load
	Cache   ObjectCache                   // nil for none
	// Lower turns a plan into a verified kernel graph, and fuses its kernels.
	Lower     func(*queryplan.Plan) (*harmony.Program, error)
	Generator Generator
}

type engine struct {
	opts     Options
	sizes    sizes
	programs woven.Programs[*woven.Codes[*compiled]]
}

// sizes are those that tests make small to reach every path with little data.
type sizes struct {
	policy  layout.Policy
	rows    int   // that a relation has room for at least
	tiles   int   // at least, for each worker
	convert int64 // bytes of a hash table up to which it stays one
	// These describe a decomposed loop: the number of values for each worker
	// from which it is one, the number of tuples of a range, and the size of a
	// bit set of them.
	values, partTuples, partBytes int
	output                        int // rows from which an output keeps the bounds that are known
	hot                           int // rows from which the code of a cold function is improved
}

var defaults = sizes{policy: layout.CPU, rows: 1024, tiles: 8, convert: 1 << 20, output: 1 << 20,
	values: 16, partTuples: 1 << 15, partBytes: 1 << 19,
	hot: 1 << 20}

// New returns the cpu engine. It keeps the code of the plans that it has run,
// so make one and use it for all runs. It is a runtime.Preparer and an
// io.Closer.
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

// Prepare makes the code of a request.
func (e *engine) Prepare(ctx context.Context, req *runtime.Request) error {
	return e.with(ctx, req, e.compile, func(*run, time.Duration) error { return nil })
}

// Compile makes the code of a request on so many cores.
func (e *engine) Compile(ctx context.Context, req *runtime.Request, cores int) error {
	making := func(graph *harmony.Program, k woven.Knowledge) (*compiled, error) {
		made, err := e.opts.Generator.Generate(graph, k, cores)
		return e.loaded(made, err, cores)
	}
	return e.with(ctx, req, making, func(*run, time.Duration) error { return nil })
}

// errNoCode says that the code of a request was not made before.
var errNoCode = errors.New("there is no code")

// Find looks for the code of a request.
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

// Close frees all code. No run may be at work.
func (e *engine) Close() error {
	e.programs.Close()
	return nil
}

// maker makes code ready to be called.
type maker func(graph *harmony.Program, k woven.Knowledge) (*compiled, error)

// with calls f with a run whose facts are bound and whose code is there, and
// how long making that took, 0 if it was there before.
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

// prepare binds the facts, and chooses layouts for what they say.
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
