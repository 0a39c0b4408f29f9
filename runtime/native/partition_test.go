package native

import (
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/partition"
	"github.com/redfoxdb/redfox/weaver/target"
)

// newPartitioned makes an engine whose kernels call no function of the host:
// kernels of the host's own have them, as for a GPU.
func newPartitioned(t testing.TB, items int, off bool) *engine {
	t.Helper()
	e := newEngine(t, items, off)
	e.opts.Lower = func(plan *queryplan.Plan) (*harmony.Program, error) {
		p, err := lower.Lower(plan)
		if err == nil {
			p, err = partition.Partition(p)
		}
		if err == nil {
			p, _, err = fuse.Fuse(p,
				fuse.Options{Budget: target.GPU(90).Budget, Off: off,
					Distinct: harmony.Distinct(plan)})
		}
		return p, err
	}
	return e
}

// TestPartitioned runs the whole programs and the random ones that have
// something for the host.
func TestPartitioned(t *testing.T) {
	short.Skip(t, "divided programs on the cpu engine")
	fused, small := newPartitioned(t, 1024, false), newPartitioned(t, 32, true)
	ran := 0
	check := func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
		whole, err := lower.Lower(plan)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := partition.Partition(whole); err == nil && p.String() == whole.String() {
			return // the other tests run it
		}
		enginetest.Compare(t, "fused", fused,
			runtime.Request{Plan: plan, Facts: db, Threads: 2, Profile: true})
		enginetest.Compare(t, "apart, small tiles", small,
			runtime.Request{Plan: plan, Facts: db, Threads: 3})
		ran++
	}
	enginetest.Programs(t, "../../testdata/programs", check)
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, _ uint64, _ string, plan *queryplan.Plan, db *store.Database) {
			check(t, plan, db)
		})
	if ran == 0 {
		t.Error("no program has something for the host")
	}
	t.Logf("%d programs have something for the host", ran)
}
