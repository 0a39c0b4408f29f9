package native

import (
	"flag"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/sortpairs"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/shape"
	"github.com/redfoxdb/redfox/weaver/target"
)

// generator makes code as internal/driver does, or with less effort of LLVM's.
type generator struct {
	target  target.Target
	options hostcode.Options
	cold    bool // every fourth kernel and index is cold, and others share code
}

func (g generator) Generate(p *harmony.Program, k woven.Knowledge, _ int) (*Code, error) {
	place := map[string]int{}
	for _, c := range p.Commands() {
		switch c := c.(type) {
		case *harmony.Run:
			place[c.Kernel.Name] = len(place)
		case *harmony.Build:
			place[c.Index.Name] = len(place)
		}
	}
	isCold := func(of string) bool { return g.cold && place[of]%4 == 0 }
	code, err := emit.Program(p, emit.Options{Target: g.target, Fix: k.Fix, Range: k.Range,
		General: isCold, Share: g.cold, Domains: k.Domains})
	if err != nil {
		return nil, err
	}
	if !g.options.Quick {
		return &Code{Module: code.Module, IR: code.IR}, nil
	}
	out := &Code{Module: code.Module, Calls: hostcode.Calls(code.IR)}
	for _, e := range code.Module.Entries {
		if isCold(e.Of) {
			out.Cold = append(out.Cold, e.Symbol)
		}
	}
	out.Objects, err = hostcode.Objects(g.options, code.IR, code.Module.Symbols())
	return out, err
}

// Find returns nothing: the generator keeps no code.
func (g generator) Find(*harmony.Program, woven.Knowledge) (*Code, error) { return nil, nil }

// Improve compiles a function alone.
func (g generator) Improve(p *harmony.Program, k woven.Knowledge, symbol string) (*Code, error) {
	shapes, err := shape.ChooseOne(p,
		emit.Options{Target: g.target, Fix: k.Fix, Range: k.Range, Domains: k.Domains}, symbol)
	if err != nil {
		return nil, err
	}
	code, err := emit.Shaped(shapes)
	if err != nil {
		return nil, err
	}
	objects, err := hostcode.Objects(g.options, code.IR, code.Module.Symbols())
	return &Code{Module: code.Module, Objects: objects, Calls: hostcode.Calls(code.IR)}, err
}

// lowerer lowers plans, and fuses their kernels or not.
func lowerer(off bool) func(*queryplan.Plan) (*harmony.Program, error) {
	return func(plan *queryplan.Plan) (*harmony.Program, error) {
		plan, _ = sortpairs.Apply(plan)
		p, err := lower.Lower(plan)
		if err != nil {
			return nil, err
		}
		p, _, err = fuse.Fuse(p, fuse.Options{Off: off, Distinct: harmony.Distinct(plan)})
		return p, err
	}
}

var library = sync.OnceValues(llvm.Open)

// newEngine makes an engine for tiles of the given number of rows. An engine
// for small tiles grows its tables from the smallest sizes. LLVM spends little
// effort on its code.
func newEngine(t testing.TB, items int, apart bool) *engine {
	t.Helper()
	return newEngineWith(t, items, apart, true)
}

// newEngineWith makes an engine whose code is made quickly, or as users have
// it.
func newEngineWith(t testing.TB, items int, apart, quick bool) *engine {
	t.Helper()
	lib, err := library()
	if err != nil {
		t.Skip(err)
	}
	target := target.CPU()
	target.Items = items
	cache := kernelcache.Open()
	e := New(Options{
		Library: func() (*llvm.Library, error) { return lib, nil },
		Cache:   cache, Lower: lowerer(apart),
		Generator: generator{target, hostcode.Options{Library: lib, Cache: cache, Quick: quick},
			items < 1024},
	}).(*engine)
	if items < 1024 {
		e.sizes = sizes{policy: layout.Policy{Groups: 4, RowsPerGroup: 16, Ordered: true,
			Bitmap: 16, Parts: true}, rows: 8, tiles: 1, convert: 0, output: 8,
			values: 1, partTuples: 8, partBytes: 16, hot: 24}
	}
	return e
}

// TestPrograms runs every whole program on this engine and on the go engine.
func TestPrograms(t *testing.T) {
	fused, small := newEngine(t, 1024, false), newEngine(t, 32, true)
	enginetest.Programs(t, "../../testdata/programs",
		func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
			enginetest.Compare(t, "fused", fused,
				runtime.Request{Plan: plan, Facts: db, Threads: 2})
			enginetest.Compare(t, "apart, small tiles", small,
				runtime.Request{Plan: plan, Facts: db, Threads: 3})
		})
}

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 24, "number of random programs")
)

// TestRandomPrograms runs random programs on both engines.
func TestRandomPrograms(t *testing.T) {
	whole, small := newEngineWith(t, 1024, false, false), newEngine(t, 32, true)
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, seed uint64, text string, plan *queryplan.Plan, db *store.Database) {
			if seed%12 == 0 || seed%4 == 0 && short.Every() {
				enginetest.Compare(t, text, whole,
					runtime.Request{Plan: plan, Facts: db, Threads: 1})
				return
			}
			enginetest.Compare(t, text, small, runtime.Request{Plan: plan, Facts: db, Threads: 3})
		})
}
