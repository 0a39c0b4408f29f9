package tiers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// Engine runs plans on two engines.
type Engine struct {
	plain, native runtime.Engine
	sizes         Sizes
	next          func(r *run, from int) (until int, native bool)
	// leave decides before each round of a loop whether native code goes on
	// with it.
	leave func(r *run, x *rest, at runtime.Round) bool
	late  bool // the native engine may not be open yet
	// able returns why there can be no native code, nil if there can.
	able func() error
	// beside are the goroutines that make code beside runs, which they outlive.
	beside  sync.WaitGroup
	history history
}

// Sizes are thresholds; tests shrink them to reach every path.
type Sizes struct {
	// Commands is the number of commands of a plan from which it is divided.
	Commands int
	// Rows is the number of rows that each command of a piece has to see so
	// that the piece is worth native code.
	Rows int64
	// Segment is the number of rows that a segment of native code has to see.
	// The tuples that it needs and gives are copied.
	Segment int64
	// Loop is the number of tuples that a loop of the go engine may derive. A
	// larger one starts again as native code.
	Loop int64
	// Look is how long a loop of an adaptive run takes before code is looked
	// for that was made for it earlier.
	Look time.Duration
	// Command is how long making the code of a command is expected to take.
	Command time.Duration
	// Linear and Other are how many times as long as making its code a loop
	// takes before its code is made: a loop over the delta of one relation, and
	// any other.
	Linear, Other int
	// Rate is the number of tuples that a loop derives in a second at most for
	// its code to be made; 0 stands for any. Native code derives no more.
	Rate int64
	// Round is how long a round takes at least in a loop that is worth native
	// code.
	Round time.Duration
	// Scanned is the number of rows for each command of a plan without loops
	// from which its code is made at once.
	Scanned int64
}

// DefaultSizes are those that users have. The go engine handles some ten
// million rows a second, LLVM takes some 50 ms for a function, and binding one
// that is cached takes about a millisecond. The code of a command has a
// function, and mostly an index. A linear loop is decomposable as a rule, and
// then native code is five times as fast, unless the tuples are so dense that
// the go engine has them in bitmaps; other loops gain little.
var DefaultSizes = Sizes{Commands: 256, Rows: 1 << 18, Segment: 1 << 18, Loop: 1 << 22,
	Look: 20 * time.Millisecond, Command: 60 * time.Millisecond, Linear: 2, Other: 16,
	Round: 2 * time.Millisecond, Rate: 20_000_000, Scanned: 1 << 23}

// New returns an engine that runs plans as native code. Multijoins outside of
// loops, loops that fold, and the parts of large plans that are not worth
// native code, run on the plain engine.
func New(plain, native runtime.Engine, s Sizes) *Engine {
	return NewLazy(plain, native, func() error { return nil }, s)
}

// NewLazy is New for an engine of native code that may turn out to be of no
// use. The function able says why, and is called before native code is needed.
// If it returns an error, all runs on the plain engine.
func NewLazy(plain, native runtime.Engine, able func() error, s Sizes) *Engine {
	return &Engine{plain: plain, native: native, able: able, sizes: s, next: (*run).next,
		leave: (*run).worth}
}

// Name returns the name of the engine that a run without tiers takes.
func (e *Engine) Name() string {
	if e.late {
		return e.plain.Name()
	}
	return e.native.Name()
}

// Prepare makes the code of a request whose runs use no tiers.
func (e *Engine) Prepare(ctx context.Context, req *runtime.Request) error {
	if p, ok := e.native.(runtime.Preparer); ok && !e.late {
		return p.Prepare(ctx, req)
	}
	return nil
}

// Close frees the code of both engines. It waits for code that is being made.
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
	commands := 0
	for range req.Plan.Commands() {
		commands++
	}
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
