package emit

import (
	"cmp"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/weaver/target"
)

// machine is what a driver's code runs on.
type machine interface {
	// target returns the target of a variant.
	target(v variant) target.Target
	// memory is where the code's data lie; nil for Go's heap.
	memory() *arena
	// load compiles code, once.
	load(t testing.TB, c *Code, v variant)
	// workers is how many work on an entry's tiles.
	workers() int
	// pass has each worker go on from its state until a gauge stops it, or it
	// is through.
	pass(t testing.TB, e *abi.Entry, params, states []int64)
}

// processor is this machine's: two workers take turns.
type processor struct{ jit *llvm.JIT }

func (*processor) target(v variant) target.Target {
	return target.Target{Name: "cpu", Threads: 1, Items: v.items}
}

func (*processor) memory() *arena { return nil }

func (*processor) workers() int { return 2 }

func (p *processor) load(t testing.TB, c *Code, v variant) {
	t.Helper()
	p.jit = newJIT(t, c)
	if err := p.jit.AddObject("kernels",
		objectOf(t, c, cmp.Or(v.pipeline, quick(library(t))))); err != nil {
		t.Fatal(err)
	}
}

func (p *processor) pass(t testing.TB, e *abi.Entry, params, states []int64) {
	t.Helper()
	function, err := p.jit.Lookup(e.Symbol)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(states) > 0; states = states[e.StateWords():] {
		stopped := llvm.Call(function, uintptr(address(params)), uintptr(address(states))) != 0
		if left := states[0] < states[1]; left != stopped {
			t.Fatalf("%s is at tile %d of %d; that a gauge stopped it is %v", e.Symbol, states[0],
				states[1], stopped)
		}
	}
}
