package pool

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/tiers"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// patient is the go engine that repeats its third round's question until the
// loop is left.
type patient struct {
	runtime.Engine
	t *testing.T
}

func (p patient) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	whole := *req
	if asks := req.Round; asks != nil {
		whole.Round = func(at runtime.Round) bool {
			if at.Number == 3 {
				await.Until(p.t, "native code", func() bool { return asks(at) })
				return true
			}
			return asks(at)
		}
	}
	return p.Engine.Run(ctx, &whole)
}

// TestChangeToNativeCode changes to code that LLVM makes beside a loop, and to
// the same code in a second run, which does not wait for it.
func TestChangeToNativeCode(t *testing.T) {
	t.Setenv("REDFOX_CACHE", t.TempDir())
	p := New(machine.Host())
	if info := p.Machine.Engine(machine.CPU); !info.Available {
		t.Skip(info.Detail)
	}
	p.Machine.Tools.Quick = true
	for _, text := range []string{enginetest.Closure, `
edge(x, y) -> int(x), int(y).
far[x] = y -> int(x), int(y).
path(x, y) <- edge(x, y).
path(x, z) <- path(x, y), path(y, z).
far[x] = y <- agg<<y = max(z)>> path(x, z).
n[] = v <- agg<<v = count()>> path(_, _).
path(x, y) -> x < y.
edge(x, _) -> far[x] = 20.
`} {
		native, err := p.openNative(assemble.Fusing{})
		if err != nil {
			t.Fatal(err)
		}
		e := tiers.New(patient{portable.New(), t}, native,
			tiers.Sizes{Commands: 1 << 20, Scanned: 1 << 40})
		plan, db := enginetest.Stored(t, text, enginetest.Line(20))
		req := runtime.Request{Plan: plan, Facts: db, Adaptive: true}
		want := enginetest.WantOf(req)
		for run := range 2 {
			want.Compare(t, text, e, req)
			answer, err := e.Run(context.Background(), &req)
			if err != nil {
				t.Fatal(err)
			}
			if s := answer.Segments; len(s) != 2 || !s[0].Left || s[1].Engine != machine.CPU ||
				s[1].Compile > 0 {
				t.Errorf("run %d has segments %+v", run, s)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFindOpensNothing looks for code with an engine that opens libLLVM only
// where code of the plan was made.
func TestFindOpensNothing(t *testing.T) {
	t.Setenv("REDFOX_CACHE", t.TempDir())
	host := machine.Host()
	if info := host.Engine(machine.CPU); !info.Available {
		t.Skip(info.Detail)
	}
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(20))
	req := &runtime.Request{Plan: plan, Facts: db}
	for _, made := range []bool{false, true} {
		opened := 0
		tools := *host.Tools
		tools.Quick = true
		tools.Find = func() (*llvm.Library, error) {
			opened++
			return host.Tools.Find()
		}
		native, err := New(&machine.Machine{Tools: &tools, Driver: host.Driver}).native(
			assemble.Fusing{})
		if err != nil {
			t.Fatal(err)
		}
		compiler := native.(runtime.Compiler)
		found, err := compiler.Find(context.Background(), req)
		if err != nil || found != made || opened > 0 != made {
			t.Errorf("made %v: found %v, opened %d times (%v)", made, found, opened, err)
		}
		if err := compiler.Compile(context.Background(), req, 1); err != nil {
			t.Fatal(err)
		}
	}
}
