package gpu

import (
	"context"
	"errors"
	"flag"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/sortpairs"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
	"github.com/redfoxdb/redfox/weaver/target"
)

var library = sync.OnceValues(llvm.Open)

// card is a way to set up an engine on an emulated GPU.
type card struct {
	emulated.Options
	limit int64
	items int  // of a tile
	apart bool // kernels are not fused
	small bool // tables grow from the smallest sizes
	// stored leaves all columns as they are on the host; else those that can be
	// are packed, however few rows they have.
	stored bool
	// dynamic are bytes of shared memory that blocks have beyond what they
	// declare.
	dynamic int
	// left is what processes leave to each other, or nil.
	left ObjectCache
}

// lower makes kernels for GPUs of a plan.
func (c card) lower(plan *queryplan.Plan) (*harmony.Program, error) {
	plan, _ = sortpairs.Apply(plan)
	p, err := lower.Lower(plan)
	if err != nil {
		return nil, err
	}
	if p, err = partition.Partition(p); err != nil {
		return nil, err
	}
	p, _, err = fuse.Fuse(p,
		fuse.Options{Off: c.apart, Budget: target.GPU(90).Budget, Distinct: harmony.Distinct(plan)})
	return p, err
}

// compile makes code for an emulated GPU.
func (c card) compile(p *harmony.Program, k woven.Knowledge, _ func(string)) (*Code, error) {
	code, err := emit.Program(p,
		enginetest.Emulated(emit.Options{Target: target.GPU(90), Fix: k.Fix, Range: k.Range,
			Domains: k.Domains, Donate: true, Loops: true, Share: c.small}, c.items))
	if err != nil {
		return nil, err
	}
	for _, e := range code.Module.Entries {
		e.Scratch, e.Dynamic = c.dynamic, c.dynamic
	}
	return &Code{Module: code.Module, PTX: emulated.Image(code.Module, code.IR)}, nil
}

// settled returns what an engine holds while no run is at work: the collector
// may be giving back what facts have left on the device.
func settled(t testing.TB, e *Engine) (use device.Use) {
	t.Helper()
	await.Until(t, "an engine at rest to hold columns only", func() bool {
		use = e.Use()
		return use.Held == use.Resident
	})
	return use
}

// columnsIn returns the number of columns of facts on the device.
func columnsIn(e *Engine) int {
	n, _ := e.resident.Len()
	return n
}

// indexesIn returns the number of indexes over facts on the device.
func indexesIn(e *Engine) int {
	_, n := e.resident.Len()
	return n
}

// open makes an engine that is closed at the end of the test, when nothing may
// have leaked and no rule of the driver may have been broken.
func (c card) open(t testing.TB) (*Engine, *emulated.Driver) {
	t.Helper()
	if name, _, _ := strings.Cut(t.Name(), "/"); name != "TestPrograms" && name != "TestCapture" {
		short.Skip(t, "an emulated GPU only runs a few programs")
	}
	lib, err := library()
	if err != nil {
		t.Skip(err)
	}
	c.Library, c.Options.Cache, c.Quick = lib, kernelcache.Open(), true
	if c.items == 0 {
		c.items = 32
	}
	d := emulated.New(c.Options)
	e, err := New(Options{Device: d.Devices()[0], Version: d.Version(), Limit: c.limit,
		Cache: c.left, Lower: c.lower, Compile: c.compile})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.waitServices(); err != nil { // so that what it calls is not what tests have fail
		t.Fatal(err)
	}
	// Fresh memory costs more here than on a card; a float's total has half a
	// kilobyte a group.
	e.sizes.policy.Groups, e.sizes.expect = 1<<12, 1<<14
	if c.small {
		e.sizes = sizes{policy: layout.Policy{Groups: 4, Ordered: true, Bitmap: 16, FixedSets: true,
			Shared: true}, rows: 1, expect: 1, output: 8, order: 2, ranked: 16}
		if c.limit == 0 && c.Memory == 0 { // a region has 2 MiB at least
			e.mem.RegionBytes = 4 << 10
		}
	}
	e.sizes.policy.Pack, e.sizes.policy.PackTenths, e.sizes.packed = 1, 10, 0
	if c.stored {
		e.sizes.policy.Pack = 0
	}
	t.Cleanup(func() {
		if use := settled(t, e); use.Held != use.Resident {
			t.Errorf("no run is at work, and the engine holds %+v", use)
		}
		if err := e.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	})
	return e, d
}

// cards are those that all programs run on.
var cards = []struct {
	name string
	card
}{
	{"fused, large tiles", card{items: 1024}},
	{"apart, small tables",
		card{items: 32, apart: true, small: true, stored: true,
			Options: emulated.Options{Seed: 1}}},
	{"fused, small tables, many blocks", card{items: 32, small: true,
		Options: emulated.Options{Seed: 3, Multiprocessors: 64}}},
	{"a bare driver", card{items: 64, small: true, Options: emulated.Options{Seed: 2, Bare: true}}},
}

// TestPrograms runs every whole program on this engine and on the go engine.
func TestPrograms(t *testing.T) {
	for _, c := range cards {
		t.Run(c.name, func(t *testing.T) {
			e, d := c.open(t)
			enginetest.Programs(t, "../../testdata/programs",
				func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
					// The second run knows the sizes of the first, finds the
					// facts on the device, and need not wait for its numbers;
					// the third becomes a graph, which the fourth is.
					want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})
					for _, profile := range []bool{false, false, false, false, true} {
						want.Compare(t, c.name, e,
							runtime.Request{Plan: plan, Facts: db, Profile: profile})
					}
					if err := d.Check(); err != nil {
						t.Error(err)
					}
				})
		})
	}
}

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 24, "number of random programs")
)

// TestRandomPrograms runs random programs on both engines.
func TestRandomPrograms(t *testing.T) {
	var engines []*Engine
	var drivers []*emulated.Driver
	for _, c := range cards {
		e, d := c.open(t)
		engines, drivers = append(engines, e), append(drivers, d)
	}
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, seed uint64, text string, plan *queryplan.Plan, db *store.Database) {
			at := (seed/8 + seed) % uint64(len(engines)) // programs are of eight kinds
			want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})
			for range 5 { // each run knows more of the one before, and the last two are graphs
				want.Compare(t, text, engines[at], runtime.Request{Plan: plan, Facts: db})
			}
			if err := drivers[at].Check(); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
}

// TestConcurrentPrograms runs random programs beside each other, on one engine.
func TestConcurrentPrograms(t *testing.T) {
	type job struct {
		text string
		req  runtime.Request
		want enginetest.Want
	}
	var jobs []job
	enginetest.RandomPrograms(t, *firstSeed+10_000, *seedCount,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			jobs = append(jobs,
				job{text, runtime.Request{Plan: plan, Facts: db},
					enginetest.WantOf(runtime.Request{Plan: plan, Facts: db})})
		})
	e, _ := card{small: true, Options: emulated.Options{Seed: 3}}.open(t)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range jobs {
				j := jobs[(i+worker*len(jobs)/4)%len(jobs)]
				if err := j.want.Same(e, j.req); err != nil {
					t.Errorf("%v\n%s", err, j.text)
				}
			}
		})
	}
	wg.Wait()
}

// TestForms has tables of every form, small and grown.
func TestForms(t *testing.T) {
	for _, c := range cards {
		t.Run(c.name, func(t *testing.T) {
			e, d := c.open(t)
			enginetest.Forms(t,
				func(spread int64, rows int, plan *queryplan.Plan, db *store.Database) {
					enginetest.Compare(t, c.name, e, runtime.Request{Plan: plan, Facts: db})
					if err := d.Check(); err != nil {
						t.Errorf("%d rows, spread by %d bits: %v", rows, spread, err)
					}
				})
		})
	}
}

// TestClear empties variables of every kind and fills them again.
func TestClear(t *testing.T) {
	for _, c := range cards {
		t.Run(c.name, func(t *testing.T) {
			e, _ := c.open(t)
			enginetest.Clears(t,
				func(graph *harmony.Program, db *store.Database) (*runtime.Answer, error) {
					e.opts.Lower = func(*queryplan.Plan) (*harmony.Program, error) {
						return graph, nil
					}
					return e.Run(context.Background(),
						&runtime.Request{Plan: &queryplan.Plan{}, Facts: db})
				})
		})
	}
}

// TestOverflowNamesTheFirstGroup has groups of every form.
func TestOverflowNamesTheFirstGroup(t *testing.T) {
	plan, db := enginetest.Overflowing(t)
	for _, c := range cards {
		e, _ := c.open(t)
		_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		var overflow *runtime.OverflowError
		if !errors.As(err, &overflow) || err.Error() != `total for (b) does not fit int` {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
