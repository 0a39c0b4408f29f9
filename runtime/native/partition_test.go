package native

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/oracle"
	"github.com/redfoxdb/redfox/internal/randprog"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
)

// newPartitioned makes an engine whose kernels call no function of the host: kernels of
// the host's own have them, as for a GPU.
func newPartitioned(t testing.TB, items int, off bool) *engine {
	t.Helper()
	e := newEngine(t, items, off)
	e.opts.Lower = func(plan *queryplan.Plan) (*harmony.Program, error) {
		p, err := lower.Lower(plan)
		if err == nil {
			p, err = partition.Partition(p)
		}
		if err == nil {
			p, _, err = fuse.Fuse(p, fuse.Options{Budget: fuse.SM90, Off: off})
		}
		return p, err
	}
	return e
}

// TestPartitioned runs the whole programs and the random ones that have something for
// the host.
func TestPartitioned(t *testing.T) {
	fused, small := newPartitioned(t, 1024, false), newPartitioned(t, 32, true)
	ran := 0
	check := func(t *testing.T, text, facts string) {
		prog, plan := planOf(t, text)
		whole, err := lower.Lower(plan)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := partition.Partition(whole); err == nil && p.String() == whole.String() {
			return // the other tests run it
		}
		given, err := oracle.ReadFacts(facts, prog)
		if err != nil {
			t.Fatal(err)
		}
		db, err := database(prog, given)
		if err != nil {
			return // no engine gets them
		}
		compare(t, "fused", fused, runtime.Request{Plan: plan, Facts: db, Threads: 2, Profile: true})
		compare(t, "apart, small tiles", small, runtime.Request{Plan: plan, Facts: db, Threads: 3})
		ran++
	}
	dirs, err := filepath.Glob("../../testdata/programs/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no programs", err)
	}
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			t.Fatal(err)
		}
		check(t, string(text), filepath.Join(dir, "facts"))
	}
	for seed := *firstSeed; seed < *firstSeed+*seedCount; seed++ {
		random := randprog.New(seed)
		dir := t.TempDir()
		if err := random.Write(dir); err != nil {
			t.Fatal(err)
		}
		check(t, random.Text(), filepath.Join(dir, "facts"))
	}
	if ran == 0 {
		t.Error("no program has something for the host")
	}
	t.Logf("%d programs have something for the host", ran)
}
