package native

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/oracle"
	"github.com/redfoxdb/redfox/internal/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/fuse"
)

// generator makes code as the root package does.
type generator struct{ target emit.Target }

func (g generator) Generate(p *harmony.Program, k woven.Knowledge) (*Code, error) {
	code, err := emit.Program(p, emit.Options{Target: g.target, Fix: k.Fix, Range: k.Range, Domains: k.Domains})
	if err != nil {
		return nil, err
	}
	return &Code{Module: code.Module, IR: code.IR}, nil
}

// lowerer lowers plans, and fuses their kernels or not.
func lowerer(off bool) func(*queryplan.Plan) (*harmony.Program, error) {
	return func(plan *queryplan.Plan) (*harmony.Program, error) {
		p, err := lower.Lower(plan)
		if err != nil {
			return nil, err
		}
		p, _, err = fuse.Fuse(p, fuse.Options{Off: off})
		return p, err
	}
}

var library = sync.OnceValues(llvm.Open)

// newEngine makes an engine for tiles of so many rows. One for small tiles grows
// its tables from the smallest sizes.
func newEngine(t testing.TB, items int, apart bool) *engine {
	t.Helper()
	lib, err := library()
	if err != nil {
		t.Skip(err)
	}
	target := emit.CPU()
	target.Items = items
	e := New(Options{Library: lib, Cache: kernelcache.Open(), Lower: lowerer(apart), Generator: generator{target}}).(*engine)
	if items < 1024 {
		e.sizes = sizes{policy: layout.Policy{Groups: 4, Bitmap: 16, Parts: true}, rows: 8, tiles: 1, convert: 0, output: 8,
			values: 1, partTuples: 8, partBytes: 16}
	}
	return e
}

// planOf compiles a program to an optimised plan.
func planOf(t testing.TB, text string) (*core.Program, *queryplan.Plan) {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)}, frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	plan, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	if plan, _, err = rewrite.Run(plan, nil, rewrite.Options{}); err != nil {
		t.Fatal(err)
	}
	return prog, plan
}

// database stores facts. The error says that they are refused.
func database(prog *core.Program, facts oracle.Facts) (*store.Database, error) {
	db := store.NewDatabase()
	for _, p := range prog.Preds {
		tuples, ok := facts[p.Name]
		if !ok {
			continue
		}
		s := store.Schema{Name: p.Name, Keys: p.Keys}
		slices := make([]any, len(p.Args))
		for i, arg := range p.Args {
			s.Args = append(s.Args, store.Field{Name: arg.Name, Type: arg.Type})
			column := make([]scalar.Value, len(tuples))
			for k, tuple := range tuples {
				column[k] = tuple[i]
			}
			slices[i] = column
		}
		rel, err := store.FromSlices(s, slices...)
		if err != nil {
			return nil, err
		}
		db.Put(rel)
	}
	return db, nil
}

// contents returns the tuples of a relation, sorted.
func contents(rel *store.Relation) []oracle.Tuple {
	out := make([]oracle.Tuple, rel.Rows())
	for i := range out {
		for _, c := range rel.Columns() {
			out[i] = append(out[i], c.Value(i))
		}
	}
	slices.SortFunc(out, oracle.Compare)
	return out
}

// difference says where two answers differ, "" if they are equal.
func difference(got, want *runtime.Answer) string {
	for name, rel := range want.Outputs {
		if got.Outputs[name] == nil {
			return "no output " + name
		}
		a, b := contents(got.Outputs[name]), contents(rel)
		if !slices.EqualFunc(a, b, func(x, y oracle.Tuple) bool { return oracle.Compare(x, y) == 0 }) {
			return fmt.Sprintf("%s has %d tuples, not %d:\n%.2000v\nwant\n%.2000v", name, len(a), len(b), a, b)
		}
	}
	if len(got.Outputs) != len(want.Outputs) {
		return fmt.Sprintf("%d outputs, not %d", len(got.Outputs), len(want.Outputs))
	}
	if got.Dropped != want.Dropped {
		return fmt.Sprintf("%d decimals are dropped, not %d", got.Dropped, want.Dropped)
	}
	return violationDifference(got.Violations, want.Violations)
}

func violationDifference(got, want []runtime.Violation) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d constraints are violated, not %d", len(got), len(want))
	}
	for i, v := range want {
		w := got[i]
		if v.Check != w.Check || v.Count != w.Count || fmt.Sprint(v.Cols, v.Tuples) != fmt.Sprint(w.Cols, w.Tuples) {
			return fmt.Sprintf("violation %v, not %v", w, v)
		}
	}
	return ""
}

// errorText is what two engines have to agree on of an error.
func errorText(err error) string {
	var key *runtime.KeyError
	var overflow *runtime.OverflowError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &key):
		return fmt.Sprint(key, key.Span.Start, key.Var.Name)
	case errors.As(err, &overflow):
		return fmt.Sprint(overflow, overflow.Span.Start, overflow.Span.End)
	}
	return "other: " + err.Error()
}

// compare runs a plan on both engines.
func compare(t *testing.T, name string, e runtime.Engine, req runtime.Request) {
	t.Helper()
	req.MaxViolations = 10
	want, wantErr := portable.New().Run(context.Background(), &req)
	got, err := e.Run(context.Background(), &req)
	if a, b := errorText(err), errorText(wantErr); a != b {
		t.Fatalf("%s: error %q, not %q", name, a, b)
	}
	if err == nil {
		if d := difference(got, want); d != "" {
			t.Fatalf("%s: %s", name, d)
		}
	}
}

// TestPrograms runs every whole program on this engine and on the go engine.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/programs/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no programs", err)
	}
	engines := []struct {
		name    string
		engine  *engine
		threads int
	}{
		{"fused", newEngine(t, 1024, false), 2},
		{"apart, small tiles", newEngine(t, 32, true), 3},
	}
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			prog, plan := planOf(t, string(text))
			facts, err := oracle.ReadFacts(filepath.Join(dir, "facts"), prog)
			if err != nil {
				t.Fatal(err)
			}
			db, err := database(prog, facts)
			if err != nil {
				return // no engine gets them
			}
			for _, e := range engines {
				compare(t, e.name, e.engine, runtime.Request{Plan: plan, Facts: db, Threads: e.threads})
			}
		})
	}
}

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 24, "number of random programs")
)

// TestRandomPrograms runs random programs on both engines.
func TestRandomPrograms(t *testing.T) {
	whole, small := newEngine(t, 1024, false), newEngine(t, 32, true)
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := randprog.New(seed)
			dir := t.TempDir()
			if err := random.Write(dir); err != nil {
				t.Fatal(err)
			}
			prog, plan := planOf(t, random.Text())
			facts, err := oracle.ReadFacts(filepath.Join(dir, "facts"), prog)
			if err != nil {
				t.Fatal(err)
			}
			db, err := database(prog, facts)
			if err != nil {
				return // no engine gets them
			}
			if seed%4 == 0 {
				compare(t, random.Text(), whole, runtime.Request{Plan: plan, Facts: db, Threads: 1})
				return
			}
			compare(t, random.Text(), small, runtime.Request{Plan: plan, Facts: db, Threads: 3})
		})
	}
}
