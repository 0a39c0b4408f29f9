package native

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/woven"
)

func TestMemoryBound(t *testing.T) {
	short.Skip(t, "bounds of the cpu engine")
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(2000))
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)} {
		for _, threads := range []int{1, 2} {
			_, err := e.Run(context.Background(),
				&runtime.Request{Plan: plan, Facts: db, Threads: threads, Memory: 4 << 20})
			var out *runtime.MemoryError
			if !errors.As(err, &out) || out.What != "tc" || out.Held > out.Bound {
				t.Errorf("with %d threads got %v", threads, err)
			}
			answer, err := e.Run(context.Background(),
				&runtime.Request{Plan: plan, Facts: db, Threads: threads, Memory: 64 << 20})
			if err != nil || answer.Outputs["tc"].Rows() != 2000*2001/2 {
				t.Fatalf("with %d threads got %v", threads, err)
			}
			if answer.Peak > 64<<20 || answer.Peak < 4*2000*2001/2 {
				t.Errorf("peak %d", answer.Peak)
			}
		}
	}
}

// TestMemoryIsReturned looks for regions that are still accounted for when a
// run ends, failed or not.
func TestMemoryIsReturned(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(1500))
	e := newEngine(t, 1024, false)
	for _, bound := range []int64{0, 3 << 20} {
		r := &run{mem: account.New(bound), threads: 2, sizes: e.sizes}
		r.walk = woven.Walk{Request: &runtime.Request{Plan: plan, Facts: db}, Machine: r,
			Order: &order.Sorter{Memory: r.mem}}
		r.cancel.ctx = context.Background()
		prog, codes, err := e.programs.Find(plan, e.opts.Lower)
		if err == nil {
			err = r.prepare(context.Background(), prog)
		}
		if err != nil {
			t.Fatal(err)
		}
		code, err := codes.Use(r.Bound, func(k woven.Knowledge) (*compiled, error) {
			return e.compile(prog.Graph, k)
		})
		if err != nil {
			t.Fatal(err)
		}
		r.code = code.Made
		_, err = r.evaluate(context.Background())
		if (err != nil) != (bound > 0) {
			t.Fatalf("bound %d: %v", bound, err)
		}
		if held := r.mem.Held(); err == nil && held > account.MapBytes {
			t.Errorf("%d bytes are held after a run", held)
		}
		r.mem.Close()
		if r.mem.Mapped() != 0 {
			t.Errorf("bound %d: %d regions are still mapped", bound, r.mem.Mapped())
		}
		codes.Release(code)
	}
}

// TestCancel cancels runs that would take hours.
func TestCancel(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Product, enginetest.Line(40_000))
	e := newEngine(t, 1024, false)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db}); err != why {
		t.Errorf("a run that was cancelled before it began returns %v", err)
	}
	for _, threads := range []int{1, 2} {
		// The second run of a plan finds its code.
		ctx, cancel := context.WithTimeoutCause(context.Background(), 100*time.Millisecond, why)
		_, _ = e.Run(ctx, &runtime.Request{Plan: plan, Facts: db, Threads: threads})
		cancel()
		ctx2, cancel2 := context.WithCancelCause(context.Background())
		time.AfterFunc(50*time.Millisecond, func() { cancel2(why) })
		if _, err := e.Run(ctx2,
			&runtime.Request{Plan: plan, Facts: db, Threads: threads}); err != why {
			t.Fatalf("got %v", err)
		}
	}
}

// TestConcurrentRuns shares code between runs at the same time, over facts of
// different layouts.
func TestConcurrentRuns(t *testing.T) {
	e := newEngine(t, 1024, false)
	prog, plan := enginetest.PlanOf(t, enginetest.Closure)
	var wg sync.WaitGroup
	for i := range 12 {
		n := int64(10) << (2 * (i % 6))
		if n > 2000 {
			n = 2000
		}
		db, err := enginetest.Database(prog, enginetest.Line(n))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			answer, err := e.Run(context.Background(),
				&runtime.Request{Plan: plan, Facts: db, Threads: 2})
			if err != nil || int64(answer.Outputs["tc"].Rows()) != n*(n+1)/2 {
				t.Errorf("%d edges: %v", n, err)
			}
		})
	}
	wg.Wait()
	_, codes, err := e.programs.Find(plan, e.opts.Lower)
	if err != nil {
		t.Fatal(err)
	}
	if n := codes.Len(); n == 0 || n > 4 {
		t.Errorf("%d layouts have code", n)
	}
}

// TestOverflowNamesTheFirstGroup has groups of every form.
func TestOverflowNamesTheFirstGroup(t *testing.T) {
	plan, db := enginetest.Overflowing(t)
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, true)} {
		_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db, Threads: 2})
		if err == nil || err.Error() != `total for (b) does not fit int` {
			t.Errorf("got %v", err)
		}
	}
}

// TestGeneratorFails passes the generator's and LLVM's errors on.
func TestGeneratorFails(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(3))
	e := newEngineWith(t, 1024, false, false)
	e.opts.Cache = nil
	e.opts.Generator = brokenGenerator{e.opts.Generator}
	_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if err == nil {
		t.Error("code that LLVM refuses runs")
	}
}

type brokenGenerator struct{ Generator }

func (g brokenGenerator) Generate(p *harmony.Program, k woven.Knowledge,
	cores int) (*Code, error) {
	code, err := g.Generator.Generate(p, k, cores)
	if err == nil {
		code.IR += "define void @broken("
	}
	return code, err
}

// TestProfile has the commands of the plan, whose rows do not depend on the
// engine.
func TestProfile(t *testing.T) {
	for _, parts := range []bool{false, true} {
		testProfile(t, parts)
	}
}

// testProfile runs a loop whose rounds are the program's, or those of its
// parts.
func testProfile(t *testing.T, parts bool) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(200))
	e := newEngine(t, 1024, false)
	e.sizes.policy.Parts = parts
	answer, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Threads: 2, Profile: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := portable.New().Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Profile: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Profile) != len(want.Profile) {
		t.Fatalf("%d commands, not %d", len(answer.Profile), len(want.Profile))
	}
	for i, w := range want.Profile {
		g := answer.Profile[i]
		sameCalls := g.Calls == w.Calls || parts && w.Block == "b1" && g.Calls > 1
		if g.Block != w.Block || g.Command != w.Command || !sameCalls || g.Kept != w.Kept {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
	kept := int64(0)
	for _, k := range answer.Kernels {
		kept += k.Kept
	}
	if kept != 200*201/2 {
		t.Errorf("the kernels keep %d tuples", kept)
	}
}
