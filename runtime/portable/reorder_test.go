package portable_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestReorderRandom chooses orders again in random programs, whenever a
// relation has twice as many tuples, and before every round.
func TestReorderRandom(t *testing.T) {
	changed := map[float64]int{}
	enginetest.RandomPrograms(t, 1, 120,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db, Threads: 1})
			for _, factor := range []float64{2, 0} {
				req := runtime.Request{Plan: plan, Facts: db, Threads: 2,
					Orders: enginetest.Orders(db)}
				e := portable.NewReordering(factor)
				want.Compare(t, text, e, req)
				if got, err := e.Run(context.Background(), &req); err == nil {
					changed[factor] += len(got.Reordered)
				}
			}
		})
	if !testing.Short() && (changed[2] == 0 || changed[0] == 0) {
		t.Errorf("orders changed %v times", changed)
	}
	t.Logf("orders changed %v times", changed)
}

// TestReorderGrowing wants another order for a rule once a relation has become
// large, in the same round in every run, whatever the number of threads.
func TestReorderGrowing(t *testing.T) {
	plan, db := enginetest.Growing(t)
	req := runtime.Request{Plan: plan, Facts: db, Threads: 1, Orders: enginetest.Orders(db)}
	want := enginetest.WantOf(runtime.Request{Plan: plan, Facts: db, Threads: 1})
	var first []runtime.Reordering
	for _, threads := range []int{1, 2, 3} {
		req.Threads = threads
		e := portable.NewReordering(10)
		want.Compare(t, "growing", e, req)
		got, err := e.Run(context.Background(), &req)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got.Reordered
		}
		if !reflect.DeepEqual(first, got.Reordered) {
			t.Errorf("%d threads: reordered %v, not %v", threads, got.Reordered, first)
		}
	}
	for _, r := range first {
		if r.Rule == "found" && r.Round > 1 && r.Rows >= 10*r.Expected {
			return
		}
	}
	t.Errorf("no rule of found has another order: %v, in\n%s", first, plan)
}
