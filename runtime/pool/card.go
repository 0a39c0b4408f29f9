package pool

import (
	"context"
	"sync/atomic"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/tiers"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// card is the pool's engine of a GPU, for loops that change over to it. Only
// its use opens the GPU.
type card struct {
	pool   *Pool
	choose func() (machine.Choice, error)
	fusing assemble.Fusing
	opened atomic.Bool
}

// withCard lets loops of an engine change over to a GPU, if the choice has one.
func (p *Pool) withCard(e *tiers.Engine, c machine.Choice, how assemble.Fusing) *tiers.Engine {
	if c.Later != nil {
		e.SetCard(&card{pool: p, choose: c.Later, fusing: how})
	}
	return e
}

// use calls f with the engine. The error is a *tiers.CardError if the engine
// cannot be opened or its GPU is lost.
func (c *card) use(f func(*gpu.Engine) error) error {
	choice, err := c.choose()
	if err != nil {
		return &tiers.CardError{Err: err}
	}
	ran, lost := false, false
	err = c.pool.With(choice, c.fusing, func(e runtime.Engine) error {
		ran = true
		g := e.(*gpu.Engine)
		err := f(g)
		switch {
		case err == nil:
			c.opened.Store(true)
		case g.Lost():
			lost = true
		}
		return err
	})
	if err != nil && (lost || !ran) {
		return &tiers.CardError{Err: err}
	}
	return err
}

// IsOpen reports whether the GPU was used before.
func (c *card) IsOpen() bool { return c.opened.Load() }

// Name returns runtime.GPU.
func (c *card) Name() string { return runtime.GPU }

// Run evaluates the plan.
func (c *card) Run(ctx context.Context, req *runtime.Request) (a *runtime.Answer, err error) {
	err = c.use(func(g *gpu.Engine) error {
		a, err = g.Run(ctx, req)
		return err
	})
	return a, err
}

// Find loads the code of a request if that needs no LLVM, and reports whether
// it did.
func (c *card) Find(ctx context.Context, req *runtime.Request) (found bool, err error) {
	err = c.use(func(g *gpu.Engine) error {
		found, err = g.Find(ctx, req)
		return err
	})
	return found, err
}

// Compile compiles the code of a request.
func (c *card) Compile(ctx context.Context, req *runtime.Request, cores int) error {
	return c.use(func(g *gpu.Engine) error { return g.Compile(ctx, req, cores) })
}

// Room returns the memory of the GPU that runs and facts may take, in bytes.
func (c *card) Room() (room int64, err error) {
	err = c.use(func(g *gpu.Engine) error {
		room, err = g.Room()
		return err
	})
	return room, err
}
