package portable_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestReorderRandom chooses orders again in random programs, whenever a
// relation has twice as many tuples, and before every round.
func TestReorderRandom(t *testing.T) {
	changed := map[float64]int{}
	enginetest.RandomPrograms(t, 1, 300,
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
	if changed[2] == 0 || changed[0] == 0 {
		t.Errorf("orders changed %v times", changed)
	}
	t.Logf("orders changed %v times", changed)
}

// growing has a relation, comes, of which one tuple is known before the
// recursion begins.
const growing = `
start(b, c) -> int(b), int(c).
next(c, d) -> int(c), int(d).
exit(c, d) -> int(c), int(d).
again(d) -> int(d).
at(b, c) <- start(b, c).
at(b, d) <- at(b, c), next(c, d).
comes(0, 0).
comes(a, b) <- comes(a0, b), a = a0 + 1, a < 40.
comes(a, b) <- comes(a, b0), b = b0 + 1, b < 40, a = 0.
comes(a, d) <- found(a, _, d), again(d).
at(a, d) <- found(a, _, d), again(d).
found(a, c, d) <- comes(a, b), at(b, c), exit(c, d).
_(a, c, d) <- found(a, c, d).
`

// TestReorderGrowing wants another order for a rule once a relation has become
// large, in the same round in every run, whatever the number of threads.
func TestReorderGrowing(t *testing.T) {
	num := func(n int) scalar.Value { return scalar.OfInt(scalar.IntType, int64(n)) }
	facts := oracle.Facts{"again": {{num(-1)}}}
	for i := range 40 {
		facts["start"] = append(facts["start"], oracle.Tuple{num(i), num(i % 7)})
	}
	for i := range 300 {
		facts["next"] = append(facts["next"], oracle.Tuple{num(i), num(i + 1)})
		if i%50 == 49 {
			facts["exit"] = append(facts["exit"], oracle.Tuple{num(i), num(i / 50)})
		}
	}
	plan, db := enginetest.StoredFor(t, growing, facts)
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
