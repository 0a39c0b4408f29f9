package tiers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// hasty is patient with nothing: every loop is worth code, and waits for it.
var hasty = Sizes{Commands: 1 << 20, Scanned: 1 << 40, Waits: true}

// compiler is the go engine as one that makes code.
type compiler struct {
	named
	found, made atomic.Int64 // calls
	has         bool         // code of everything
	fails       error        // of making code
	run         func(context.Context, *runtime.Request) error
	t           testing.TB
}

func (c *compiler) Find(_ context.Context, req *runtime.Request) (bool, error) {
	c.found.Add(1)
	return c.has, nil
}

func (c *compiler) Compile(_ context.Context, req *runtime.Request, cores int) error {
	c.made.Add(1)
	if cores != 1 {
		c.t.Errorf("code is made on %d cores beside a run", cores)
	}
	return c.fails
}

func (c *compiler) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if c.run != nil {
		if err := c.run(ctx, req); err != nil {
			return nil, err
		}
	}
	return c.named.Run(ctx, req)
}

func newCompiler(t testing.TB) *compiler { return &compiler{named: named{portable.New()}, t: t} }

// waiting is a hasty engine.
func waiting(c *compiler) *Engine { return New(portable.New(), c, hasty) }

func closure(t testing.TB, n int64) (*queryplan.Plan, *store.Database) {
	return enginetest.Stored(t, enginetest.Closure, enginetest.Line(n))
}

// TestCodeIsMade wants a loop to be left once its code is there, and to go on
// where it is if there is none.
func TestCodeIsMade(t *testing.T) {
	plan, db := closure(t, 20)
	for _, c := range []struct {
		name    string
		has     bool
		fails   error
		engines []string
		rounds  int64
		made    int64
	}{
		{"the code is made beside the loop", false, nil, []string{runtime.Go, runtime.CPU}, 2, 1},
		{"the code cannot be made", false, errors.New("no"), []string{runtime.Go}, 0, 1},
		{"there is code for the whole plan", true, nil, nil, 0, 0},
	} {
		native := newCompiler(t)
		native.has, native.fails = c.has, c.fails
		e := waiting(native)
		req := runtime.Request{Plan: plan, Facts: db, Adaptive: true}
		enginetest.Compare(t, c.name, e, req)
		answer, err := e.Run(context.Background(), &req)
		if err != nil {
			t.Fatal(err)
		}
		var engines []string
		rounds := int64(0)
		for _, s := range answer.Segments {
			engines = append(engines, s.Engine)
			if s.Left {
				rounds = s.Rounds
			}
		}
		if len(engines) != len(c.engines) || rounds != c.rounds || native.made.Load() != 2*c.made {
			t.Errorf("%s: engines %v, left after %d rounds, code made %d times", c.name, engines,
				rounds, native.made.Load())
		}
		for i, name := range c.engines {
			if engines[i] != name {
				t.Errorf("%s: engines %v", c.name, engines)
			}
		}
	}
}

// TestFastLoopsStay wants no code for a loop that derives many tuples a second.
func TestFastLoopsStay(t *testing.T) {
	plan, db := closure(t, 20)
	native := newCompiler(t)
	e := waiting(native)
	e.sizes.Rate = 1
	answer, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Adaptive: true})
	if err != nil || len(answer.Segments) != 1 || native.made.Load() > 0 {
		t.Errorf("%d segments, code made %d times, %v", len(answer.Segments), native.made.Load(),
			err)
	}
}

// TestNoTiersIsNative wants the whole plan to be native code.
func TestNoTiersIsNative(t *testing.T) {
	plan, db := closure(t, 20)
	native := newCompiler(t)
	req := runtime.Request{Plan: plan, Facts: db, Adaptive: true, NoTiers: true}
	answer, err := waiting(native).Run(context.Background(), &req)
	if err != nil || len(answer.Segments) > 0 || native.found.Load() > 0 {
		t.Errorf("%d segments, code looked for %d times, %v", len(answer.Segments),
			native.found.Load(), err)
	}
}

// TestCodeForMuchWork wants code at once for a plan that scans many rows.
func TestCodeForMuchWork(t *testing.T) {
	const text = `
edge(x, y) -> int(x), int(y).
n[] = v <- agg<<v = count()>> edge(_, _).
`
	plan, db := enginetest.Stored(t, text, enginetest.Line(1000))
	for rows, native := range map[int64]bool{100: true, 10_000: false} {
		e := waiting(newCompiler(t))
		e.sizes.Scanned = rows
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Adaptive: true})
		if err != nil || (len(answer.Segments) == 0) != native {
			t.Errorf("%d rows a command: %d segments, %v", rows, len(answer.Segments), err)
		}
	}
}

// TestLimitsHoldBehindTheChange wants the bounds of a request to hold for both
// engines together, and native code to be stopped.
func TestLimitsHoldBehindTheChange(t *testing.T) {
	const counting = `
start(x) -> int(x).
n(x) <- start(x).
n(x + 1) <- n(x).
`
	plan, db := enginetest.Stored(t, counting, oracle.Facts{
		"start": {{scalar.OfInt(scalar.IntType, 1)}}})
	_, err := waiting(newCompiler(t)).Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Adaptive: true, MaxRounds: 50})
	var rounds *runtime.RoundsError
	if !errors.As(err, &rounds) || rounds.Rounds != 50 || rounds.Tuples != 51 {
		t.Errorf("got %v after %+v", err, rounds)
	}

	plan, db = closure(t, 3000)
	native := newCompiler(t)
	native.run = func(_ context.Context, req *runtime.Request) error {
		if req.Memory >= 1<<20 {
			t.Errorf("native code may take %d bytes", req.Memory)
		}
		return nil
	}
	_, err = waiting(native).Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Adaptive: true, Memory: 1 << 20})
	var memory *runtime.MemoryError
	if !errors.As(err, &memory) || memory.Bound != 1<<20 {
		t.Errorf("got %v", err)
	}

	stopped := errors.New("stopped")
	for _, inNative := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(context.Background())
		native := newCompiler(t)
		native.run = func(context.Context, *runtime.Request) error {
			cancel(stopped)
			return nil
		}
		e := waiting(native)
		if !inNative {
			e.leave = func(*run, *rest, runtime.Round) bool {
				cancel(stopped)
				return false
			}
		}
		_, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db, Adaptive: true})
		if !errors.Is(err, stopped) {
			t.Errorf("in native code: %t: got %v", inNative, err)
		}
	}
}

// TestLateEngine opens the engine of native code for a loop that goes on, and
// not for others.
func TestLateEngine(t *testing.T) {
	const plain = `
edge(x, y) -> int(x), int(y).
n[] = v <- agg<<v = count()>> edge(_, _).
`
	broken := errors.New("there is no LLVM")
	for _, c := range []struct {
		name, text string
		fails      error
		off        bool
		opened     int
		segments   int
	}{
		{"a loop", enginetest.Closure, nil, false, 1, 2},
		{"a loop without tiers", enginetest.Closure, nil, true, 0, 0},
		{"no loop", plain, nil, false, 0, 0},
		{"no engine", enginetest.Closure, broken, false, 1, 0},
	} {
		plan, db := enginetest.Stored(t, c.text, enginetest.Line(20))
		opened := 0
		e := NewLate(portable.New(), func() (runtime.Engine, error) {
			opened++
			if c.fails != nil {
				return nil, c.fails
			}
			return newCompiler(t), nil
		}, hasty)
		req := runtime.Request{Plan: plan, Facts: db, Adaptive: true, NoTiers: c.off}
		enginetest.Compare(t, c.name, e, req)
		answer, err := e.Run(context.Background(), &req)
		if err != nil || opened != c.opened || len(answer.Segments) != c.segments {
			t.Errorf("%s: opened %d times, %d segments, %v", c.name, opened, len(answer.Segments),
				err)
		}
		if err := e.Close(); err != nil || e.Name() != runtime.Go {
			t.Errorf("%s: %s is closed with %v", c.name, e.Name(), err)
		}
	}
}

// TestRunsAgain wants the code of a plan without loops to be made beside its
// second run, and the third one to have it.
func TestRunsAgain(t *testing.T) {
	const text = `
edge(x, y) -> int(x), int(y).
n[] = v <- agg<<v = count()>> edge(_, _).
`
	plan, db := enginetest.Stored(t, text, enginetest.Line(20))
	native := newCompiler(t)
	e := waiting(native)
	for i, want := range []int{1, 1, 0} { // segments
		answer, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Adaptive: true})
		if err != nil || len(answer.Segments) != want {
			t.Errorf("run %d: %d segments, %v", i, len(answer.Segments), err)
		}
		e.beside.Wait()
		native.has = native.made.Load() > 0
	}
	if n := native.made.Load(); n != 1 {
		t.Errorf("code was made %d times", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoNativeCode runs all on the plain engine where there can be no native
// code.
func TestNoNativeCode(t *testing.T) {
	plan, db := closure(t, 20)
	for _, req := range []runtime.Request{
		{Adaptive: true}, {Adaptive: true, NoTiers: true}, {Adaptive: true, Often: true}, {},
	} {
		native := newCompiler(t)
		native.fails = errors.New("none")
		native.run = func(context.Context, *runtime.Request) error { return errors.New("native") }
		e := NewLazy(portable.New(), native, func() error { return errors.New("none") }, hasty)
		req.Plan, req.Facts = plan, db
		enginetest.Compare(t, "without native code", e, req)
	}
}
