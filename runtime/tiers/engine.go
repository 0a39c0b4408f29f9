package tiers

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// Engine runs plans on two engines: a plain one, which needs no compiled code,
// and one for native code.
type Engine struct {
	plain, native runtime.Engine
	sizes         Sizes
	next          func(r *run, from int) (until int, native bool)
	// leave decides before each round of a loop whether native code takes over.
	leave func(r *run, x *rest, at runtime.Round) bool
	late  bool // the native engine is opened on demand
	card  Card // nil if loops do not change over to a GPU
	// noCard is set once the GPU cannot be opened, or is lost.
	noCard atomic.Bool
	// able returns why native code is impossible, or nil.
	able func() error
	// beside counts the goroutines that compile code during runs. They may
	// outlive the runs.
	beside  sync.WaitGroup
	history history
}

// Sizes are thresholds; tests shrink them to reach every path.
type Sizes struct {
	// Commands is the number of commands from which a plan is divided.
	Commands int
	// Rows is the number of rows for each command of a piece from which the
	// piece is worth native code.
	Rows int64
	// Segment is the number of rows from which a segment of native code pays,
	// given that the tuples that it reads and returns are copied.
	Segment int64
	// Loop bounds the tuples that a loop derives on the go engine. A loop that
	// exceeds it starts again as native code.
	Loop int64
	// Look is how long a loop of an adaptive run takes before the engine looks
	// for code that was compiled earlier.
	Look time.Duration
	// LookLate is Look for an engine that is opened on demand, and OpenCard for
	// a GPU, before they are open.
	LookLate, OpenCard time.Duration
	// Command is the expected time to compile a command for a CPU on one core,
	// and CardCommand for a GPU.
	Command, CardCommand time.Duration
	// Linear and Other say how many times the compile time a loop must have
	// taken before it is compiled: Linear for a loop over the delta of one
	// relation, Other for any other.
	Linear, Other int
	// Rate is the largest number of derived tuples a second at which a loop is
	// compiled, because native code does not derive more. 0 means no bound.
	Rate int64
	// Round is the shortest duration of a round from which native code takes
	// over.
	Round time.Duration
	// Scanned is the number of rows for each command from which a plan without
	// loops is compiled at once.
	Scanned int64
	// First is the first round of a loop before which native code takes over.
	First int64
	// Waits makes a loop wait for its code, which is otherwise made beside it.
	Waits bool
}

// DefaultSizes are the thresholds outside of tests. The go engine processes
// some ten million rows a second, LLVM takes some 50 ms for a function, and
// binding a cached function takes about 1 ms. A command has a function and
// usually an index. A linear loop is usually decomposable; native code is then
// five times as fast, unless the tuples are so dense that the go engine keeps
// them in bitmaps. Other loops gain little. Opening LLVM takes 50 ms.
//
// A GPU makes any loop with large rounds at least ten times as fast. Opening it
// takes 150 ms on an H200, and closing 90. For a function of a GPU, LLVM takes
// 40 ms and the driver 80.
var DefaultSizes = Sizes{Commands: 256, Rows: 1 << 18, Segment: 1 << 18, Loop: 1 << 22,
	Look: 20 * time.Millisecond, LookLate: 500 * time.Millisecond,
	OpenCard: 100 * time.Millisecond,
	Command:  60 * time.Millisecond, CardCommand: 120 * time.Millisecond, Linear: 2, Other: 16,
	Round: 2 * time.Millisecond, Rate: 20_000_000, Scanned: 1 << 23}

// New returns an engine that runs plans as native code. The plain engine runs
// multijoins outside of loops, loops that fold, and the parts of large plans
// that are not worth native code.
func New(plain, native runtime.Engine, s Sizes) *Engine {
	return NewLazy(plain, native, func() error { return nil }, s)
}

// NewLazy is New for a native engine that may turn out to be unusable. able is
// called before native code is needed. If it returns an error, the plain engine
// runs everything.
func NewLazy(plain, native runtime.Engine, able func() error, s Sizes) *Engine {
	return &Engine{plain: plain, native: native, able: able, sizes: s, next: (*run).next,
		leave: (*run).worth}
}

// Name returns the name of the engine that runs plans without tiers.
func (e *Engine) Name() string {
	if e.late {
		return e.plain.Name()
	}
	return e.native.Name()
}

// Prepare compiles the code of a request whose runs use no tiers.
func (e *Engine) Prepare(ctx context.Context, req *runtime.Request) error {
	if p, ok := e.native.(runtime.Preparer); ok && !e.late {
		return p.Prepare(ctx, req)
	}
	return nil
}

// Close frees the code of both engines. It waits for code that is being
// compiled.
func (e *Engine) Close() error {
	e.beside.Wait()
	var errs []error
	for _, one := range []runtime.Engine{e.plain, e.native} {
		if c, ok := one.(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Run evaluates the plan.
func (e *Engine) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	commands := req.Plan.CommandCount()
	code, compiles := e.native.(runtime.Compiler)
	switch {
	case e.late && (req.NoTiers || req.Often || !req.Adaptive):
		return e.plain.Run(ctx, req)
	case req.Adaptive && compiles && !req.Often && !req.NoTiers:
		return e.adaptive(ctx, req, code, commands)
	case e.able() != nil:
		return e.plain.Run(ctx, req)
	case req.NoTiers:
		return e.native.Run(ctx, req)
	case (req.Often || commands < e.sizes.Commands) && !wantsPlain(req.Plan):
		return e.native.Run(ctx, req)
	}
	return e.divided(ctx, req)
}
