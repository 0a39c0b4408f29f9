package tiers

import (
	"context"
	"fmt"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// adaptive runs plans as tiers do whose runs may change engines.
type adaptive struct{ *Engine }

func (a adaptive) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	return a.Engine.adaptive(ctx, req, noCode{}, small.Commands)
}

// noCode has no code, and makes none.
type noCode struct{ runtime.Compiler }

// leaving leaves every loop before a round, and copies its bounds before. In
// odd rounds a decomposable loop begins again.
func leaving(t *testing.T, round int64, runs, left *int) adaptive {
	e := New(checked{portable.New(), t, runs}, checked{named{portable.New()}, t, runs}, small)
	e.leave = func(r *run, x *rest, at runtime.Round) bool {
		if round%2 == 1 {
			r.keepSeeds(x, at)
		}
		parts := x.changing()
		rels := at.Copy(runtime.Bounds, parts)
		for _, rel := range rels {
			if rel.Rows() != 0 {
				t.Errorf("the bounds of %s have %d rows", rel.Name, rel.Rows())
			}
		}
		if at.Number < round || len(rels) != len(parts) {
			return false
		}
		*left++
		return true
	}
	return adaptive{e}
}

// TestResumeReordered leaves the loops of programs whose joins have got other
// orders by then.
func TestResumeReordered(t *testing.T) {
	plan, db := enginetest.Growing(t)
	if reordered(t, "growing", plan, db) == 0 {
		t.Error("no loop was left with another order")
	}
	followed := 0
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			followed += reordered(t, text, plan, db)
		})
	t.Logf("loops of random programs were left with another order %d times", followed)
}

// reordered runs a plan that leaves its loops as soon as their orders have
// changed, from one of the first rounds on, and returns how often they had.
func reordered(t *testing.T, name string, plan *queryplan.Plan, db *store.Database) int {
	t.Helper()
	followed := 0
	want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db, Threads: 1})
	for round := int64(1); round < 4; round++ {
		e := New(portable.NewReordering(0), named{portable.New()}, small)
		e.leave = func(r *run, x *rest, at runtime.Round) bool {
			if at.Number < round || r.reordered[x.loop] == nil {
				return false
			}
			followed++
			if err := queryplan.Verify(x.seg.Plan); err != nil {
				t.Fatalf("%v, in\n%s", err, x.seg.Plan)
			}
			return true
		}
		want.Compare(t, fmt.Sprintf("left before round %d: %s", round, name), adaptive{e},
			runtime.Request{Plan: plan, Facts: db, Threads: 2, Orders: enginetest.Orders(db)})
	}
	return followed
}

// resumed runs a plan that leaves its loops before each of the first rounds.
func resumed(t *testing.T, name string, plan *queryplan.Plan, db *store.Database,
	left *int) {
	t.Helper()
	want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db, Threads: 1})
	for round := range int64(4) {
		runs, before := 0, *left
		want.Compare(t, fmt.Sprintf("left before round %d: %s", round, name),
			leaving(t, round, &runs, left),
			runtime.Request{Plan: plan, Facts: db, Threads: 2})
		if *left == before {
			return
		}
	}
}

// TestResumePrograms leaves the loops of every whole program.
func TestResumePrograms(t *testing.T) {
	left := 0
	enginetest.Programs(t, "../../testdata/programs",
		func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
			resumed(t, "whole program", plan, db, &left)
		})
	least := 20
	if testing.Short() {
		least = 8
	}
	if left < least {
		t.Errorf("loops were left %d times", left)
	}
}

// TestResumeRandom leaves the loops of random programs.
func TestResumeRandom(t *testing.T) {
	left := 0
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			resumed(t, text, plan, db, &left)
		})
	if left == 0 {
		t.Error("no loop was left")
	}
	t.Logf("loops were left %d times", left)
}
