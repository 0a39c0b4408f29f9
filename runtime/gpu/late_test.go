package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// TestLateLoop has the host lead the rounds of a loop whose code is not there
// yet, and the device from the run on in which it is.
func TestLateLoop(t *testing.T) {
	plan, db := stratum(t, 3, 1, 60)
	e, d := card{}.open(t)
	rounds := func() int64 {
		t.Helper()
		check(t, "a stratum", e, plan, db)
		answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Device.Rounds
	}
	if rounds() == 0 {
		t.Fatal("the device runs no rounds")
	}
	var loop *function
	e.programs.Each(func(p *program) {
		c, err := p.codes.Use(p.bounds[0].bound, func(woven.Knowledge) (*code, error) {
			return nil, errors.New("the code is not kept")
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.codes.Release(c)
		for _, f := range c.Made.functions {
			if f.entry.Role == abi.Loop {
				loop = f
				f.late = &loading{done: make(chan struct{}), module: c.Made.modules[0]}
			}
		}
	})
	if n := rounds(); n != 0 {
		t.Errorf("the device runs %d rounds without code", n)
	}
	close(loop.late.done)
	if rounds() == 0 {
		t.Error("the device runs no rounds, and has the code")
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// TestEqualKernels gives kernels that differ in nothing but their names one
// module.
func TestEqualKernels(t *testing.T) {
	const head = ".version 7.8\n.target sm_90\n.address_size 64\n"
	kernel := func(name, body string) string {
		return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0\n)\n{\n\t" +
			body + "\n}\n"
	}
	ptx := head + kernel("k0", "ret;") + kernel("k10", "exit;") + kernel("k2", "ret;")
	l := &loader{jobs: map[string]*loading{}}
	for _, part := range SplitKernels(ptx) {
		x := &loading{done: make(chan struct{}), compiles: make(chan struct{})}
		close(x.done)
		l.jobs[part] = x
	}
	var c code
	if err := l.finish(&c, ptx, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range []string{"k0", "k10", "k2"} {
		got = append(got, c.places[name].symbol)
	}
	if text := strings.Join(got, " "); text != "k0 k10 k0" || len(c.modules) != 2 {
		t.Errorf("the places are %s, in %d modules", text, len(c.modules))
	}
}

// TestSettleWaitsForRuns waits for the loops of code that a run uses, until the
// context ends, and not for others.
func TestSettleWaitsForRuns(t *testing.T) {
	e, d := card{}.open(t)
	loop := &loading{done: make(chan struct{})}
	c := &code{late: map[string]*loading{"b1": loop}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := e.Settle(ctx); err != nil {
		t.Errorf("without a run: %v", err)
	}
	e.awaits(c)
	e.awaits(c)
	if len(e.late) != 1 {
		t.Errorf("one loop is awaited %d times", len(e.late))
	}
	if err := e.Settle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("behind a run: %v", err)
	}
	close(loop.done)
	e.awaits(c)
	if err := e.Settle(ctx); err != nil {
		t.Errorf("once the code is there: %v", err)
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}
