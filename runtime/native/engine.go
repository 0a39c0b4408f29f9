package native

import (
	"context"
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/prepare"
)

// Generator makes code of kernel graphs.
type Generator interface {
	// Generate returns IR for all kernels and index builds of a program, for tiles
	// of a CPU.
	Generate(p *harmony.Program, k Knowledge) (*Code, error)
}

// Knowledge is what code may take for granted.
type Knowledge struct {
	// Fix gives the word of a parameter that is always the same.
	Fix func(entry string, p abi.Param) (int64, bool)
	// Range bounds the words of a register; without a bound a decimal may exceed 64
	// bits.
	Range   func(r *harmony.Reg) (lo, hi int64, ok bool)
	Domains *domain.Domains
}

// Code is generated code.
type Code struct {
	Module *abi.Module
	IR     string // that calls primitives and is not optimised
}

// ObjectCache keeps compiled objects from one process to the next. It is safe for
// concurrent use.
type ObjectCache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Options is what the engine is made of.
type Options struct {
	Library *llvm.Library
	Cache   ObjectCache // nil for none
	// Lower turns a plan into a verified kernel graph, and fuses its kernels.
	Lower     func(*queryplan.Plan) (*harmony.Program, error)
	Generator Generator
}

type engine struct {
	opts     Options
	sizes    sizes
	programs programCache
}

// sizes are those that tests make small to reach every path with little data.
type sizes struct {
	rows    int   // that a relation has room for at least
	tiles   int   // at least, for each worker
	groups  int   // that have cells from the start if there could be no more
	bitmap  int   // bytes of a bit set that is one from the start
	convert int64 // bytes of a hash table up to which it stays one
	output  int   // rows from which an output keeps the bounds that are known
}

var defaults = sizes{rows: 4096, tiles: 8, groups: 1 << 14, bitmap: 4 << 20, convert: 1 << 20, output: 1 << 20}

// New returns the cpu engine. It keeps the code of the plans that it has run, so
// make one and use it for all runs.
func New(o Options) runtime.Engine { return &engine{opts: o, sizes: defaults} }

// Name returns "cpu".
func (e *engine) Name() string { return "cpu" }

// InternalError is a bug of the engine or of the code that it runs.
type InternalError struct {
	Command string // what was running
	Cause   any
	Stack   string
}

// Error says that this is a bug and where it struck.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in the cpu engine: %v, in %s", e.Cause, e.Command)
}

// Run evaluates the plan.
func (e *engine) Run(ctx context.Context, req *runtime.Request) (answer *runtime.Answer, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &run{req: req, mem: newMemory(req.Memory), threads: req.Threads, running: "preparation",
		answer: &runtime.Answer{}, sizes: e.sizes}
	if r.threads <= 0 {
		r.threads = goruntime.GOMAXPROCS(0)
	}
	r.cancel.ctx = ctx
	defer r.mem.close()
	defer r.freeHosts()
	stop := context.AfterFunc(ctx, r.cancel.cancel)
	defer stop()
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, &InternalError{Command: r.running, Cause: p, Stack: string(debug.Stack())}
		}
	}()
	prog, err := e.programs.find(req.Plan, e.opts.Lower)
	if err != nil {
		return nil, err
	}
	if err := r.prepare(ctx, prog); err != nil {
		return nil, err
	}
	r.code, err = prog.code(e, r.layouts, r.ranges)
	if err != nil {
		return nil, err
	}
	defer prog.release(r.code)
	if err := r.walk(); err != nil {
		return nil, err
	}
	return r.answer, nil
}

// prepare binds the facts, and chooses layouts for what they say.
func (r *run) prepare(ctx context.Context, prog *program) (err error) {
	r.prog = prog
	r.data, err = prepare.Bind(ctx, prog.graph, prog.domains, r.req.Facts, r.threads)
	if err != nil {
		return err
	}
	for _, c := range r.data.Copies {
		if err := r.mem.reserve(c.Name, c.Bytes); err != nil {
			return err
		}
	}
	r.ranges = ranges.Find(prog.graph, prog.domains, r.data.Known())
	r.layouts = newLayouts(prog.graph, bounds{
		column:   r.ranges.Column,
		rows:     r.loadedRows,
		loaded:   r.loadedColumn,
		needsSet: prog.needsSet,
		sizes:    r.sizes,
	})
	return nil
}

func (r *run) loadedRows(rel *harmony.Relation) (int, bool) {
	if r.data.Columns(rel) == nil {
		return 0, false
	}
	return r.data.Rows(rel), true
}

func (r *run) loadedColumn(rel *harmony.Relation, i int) columnLayout {
	c := r.data.Columns(rel)[i]
	return columnLayout{c.Base, c.Step, int(c.Width)}
}
