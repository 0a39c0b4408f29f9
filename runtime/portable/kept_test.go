package portable

import (
	"context"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

const keptPlan = `var edge(x: int, y: int, z: int) input "edge"
var next(x: int, y: int) input "next"
var out(x: int, y: int, w: int) derived output
var none(x: int, y: int) derived output
block b0:
  insert out
    join y
      scan next(x, y)
      scan edge(y, _, w)
  merge out
  insert none
    anti join x, y
      scan next(x, y)
      scan edge(x, y, _)
  merge none
  halt
`

// TestKeptIndexes runs a plan several times over the same facts, alone and
// beside others, and over facts that differ in one column.
func TestKeptIndexes(t *testing.T) {
	plan := parse(t, keptPlan)
	r := rand.New(rand.NewPCG(3, 9))
	facts := map[string]planref.Rows{}
	for range 4000 {
		facts["edge"] = append(facts["edge"], ints([]int64{r.Int64N(300), r.Int64N(300),
			r.Int64N(1 << 40)})...)
		facts["next"] = append(facts["next"], ints([]int64{r.Int64N(400), r.Int64N(300)})...)
	}
	e := New().(*engine)
	run := func(req runtime.Request) []string {
		ans, err := e.Run(context.Background(), &req)
		if err != nil {
			t.Error(err)
			return nil
		}
		return append(tuples(ans.Outputs["out"]), tuples(ans.Outputs["none"])...)
	}
	db := database(plan, facts)
	want := run(runtime.Request{Plan: plan, Facts: db, Memory: 1 << 30})
	if n := e.kept.Len(); n != 0 {
		t.Errorf("%d indexes of a run with a bound are kept", n)
	}
	for i, kept := range []int{0, 2, 2} {
		if got := run(runtime.Request{Plan: plan, Facts: db}); !slices.Equal(got, want) {
			t.Fatalf("run %d has another answer", i)
		}
		if n := e.kept.Len(); n != kept {
			t.Errorf("after run %d, %d indexes are kept, not %d", i, n, kept)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if !slices.Equal(run(runtime.Request{Plan: queryplan.Clone(plan), Facts: db}), want) {
				t.Error("a run beside others has another answer")
			}
		})
	}
	wg.Wait()
	for i := range facts["edge"] {
		facts["edge"][i][2] = facts["edge"][0][2]
	}
	other := database(plan, facts)
	want = run(runtime.Request{Plan: plan, Facts: other, Memory: 1 << 30})
	for range 3 {
		if got := run(runtime.Request{Plan: plan, Facts: other}); !slices.Equal(got, want) {
			t.Fatal("other facts have another answer")
		}
	}
	goruntime.KeepAlive(db)
}
