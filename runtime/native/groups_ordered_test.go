package native

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestOrderedGroups compares aggregates by keys that come in order, of groups
// that lie within a tile and across what workers take.
func TestOrderedGroups(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.OrderedGroups, enginetest.OrderedFacts(7))
	cold := newEngine(t, 32, false)
	cold.sizes.hot = math.MaxInt // general code reads the groups, too
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, false), cold} {
		for _, threads := range []int{1, 2, 5} {
			enginetest.Compare(t, "ordered", e,
				runtime.Request{Plan: plan, Facts: db, Threads: threads})
		}
		e.sizes.policy.Groups = 1
		for g, k := range layoutsOf(t, e, plan, db).Groups {
			if k.Form != abi.Ordered {
				t.Errorf("groups %s are %s", g.Name, k.Form)
			}
		}
	}
}

// layoutsOf returns the layouts of a run.
func layoutsOf(t *testing.T, e *engine, plan *queryplan.Plan, db *store.Database) *layout.Layouts {
	t.Helper()
	prog, _, err := e.programs.Find(plan, e.opts.Lower)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{mem: account.New(0), threads: 1, sizes: e.sizes}
	r.walk.Request = &runtime.Request{Plan: plan, Facts: db}
	if err := r.prepare(t.Context(), prog); err != nil {
		t.Fatal(err)
	}
	return r.Layouts
}

// TestFolds runs an iteration whose groups are lists, as the run sorts what
// fills them.
func TestFolds(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Folds, enginetest.FoldFacts())
	for want, e := range map[int]*engine{
		enginetest.FoldedGroups + 2: newEngine(t, 32, false), // the others are fused as well
		1:                           newEngine(t, 32, true),  // joined rows are in no order
	} {
		for _, threads := range []int{1, 2, 5} {
			enginetest.Compare(t, "folds", e,
				runtime.Request{Plan: plan, Facts: db, Threads: threads})
		}
		lists := 0
		for _, k := range layoutsOf(t, e, plan, db).Groups {
			if k.Form == abi.Ordered {
				lists++
			}
		}
		if lists != want {
			t.Errorf("%d groups are lists", lists)
		}
	}
}

// TestOrderedOverflow names the first group whose sum does not fit.
func TestOrderedOverflow(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.OrderedGroups, enginetest.Pairs(math.MaxInt64))
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)} {
		_, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db, Threads: 3})
		var over *runtime.OverflowError
		if !errors.As(err, &over) || over.Group[0].Int() != 4000*1000 {
			t.Errorf("got %v", err)
		}
	}
}

// TestSettle brings lists together of which some have groups in common.
func TestSettle(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		decl := &harmony.Groups{Name: "g",
			Keys: []queryplan.Column{{Name: "k", Type: scalar.IntType}}, Accs: []harmony.Acc{
				{Out: queryplan.Column{Name: "c", Type: scalar.IntType}, Fn: queryplan.Count},
				{Out: queryplan.Column{Name: "s", Type: scalar.IntType}, Fn: queryplan.Total,
					In: scalar.IntType},
			}}
		g := newGroups(account.New(0), decl, &layout.Key{Form: abi.Ordered}, "groups",
			1+rng.IntN(4))
		want := map[uint64]uint64{}
		for _, w := range g.workers {
			key := uint64(rng.IntN(3))
			for range rng.IntN(60) {
				if err := w.makeRoom(1); err != nil {
					t.Fatal(err)
				}
				at := int(w.gauge.cursor)
				w.gauge.cursor++
				account.Words(&w.keys.Region)[at] = key
				account.Words(&w.data[0])[at] = 1
				account.Words(&w.data[1])[2*at] = key
				want[key]++
				key += 1 + uint64(rng.IntN(1+rng.IntN(30)))
			}
		}
		g.settle()
		got := map[uint64]uint64{}
		for _, w := range g.tables() {
			for at := range w.numbers() {
				key := account.Words(&w.keys.Region)[at]
				if got[key] != 0 {
					t.Fatalf("seed %d: two lists have %d", seed, key)
				}
				got[key] = account.Words(&w.data[0])[at]
				if sum := account.Words(&w.data[1])[2*at]; sum != key*got[key] {
					t.Fatalf("seed %d: the sum of %d is %d", seed, key, sum)
				}
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d groups, want %d", seed, len(got), len(want))
		}
		for key, n := range want {
			if got[key] != n {
				t.Fatalf("seed %d: %d rows of %d, want %d", seed, got[key], key, n)
			}
		}
		if err := g.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
