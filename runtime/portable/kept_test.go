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
	for range 2 {
		if !slices.Equal(run(runtime.Request{Plan: plan, Facts: db, NoKeptIndexes: true}), want) {
			t.Fatal("a run that makes its own indexes has another answer")
		}
	}
	if n := e.kept.Len(); n != 0 {
		t.Errorf("%d indexes of runs with a bound, or of their own, are kept", n)
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

const keptFold = `var edge(x: int, y: int) input "edge"
var sum(y: int; s: int) temp unique
var now(x: int; value: int) temp unique
var rounds(n: int) derived
var out(x: int, value: int) derived output
block b0:
  assign now
    project x, value
      map value = 1
        aggregate [x] n: int = count()
          scan edge(x, _)
  insert rounds
    values (n: int)
      (0)
  merge rounds
  jump b1
block b1:
  assign sum
    aggregate [y] s: int = total(value)
      join x
        scan now(x, value)
        scan edge(x, y)
  assign now
    project y as x, s as value
      filter lt(s, 1000000000)
        scan sum(y, s)
  insert rounds
    project n
      filter lt(n, 4)
        map n = add(before, 1)
          scan delta rounds(before)
  merge rounds
  branch delta rounds -> b1 else b2
block b2:
  insert out
    scan now(x, value)
  merge out
  halt
`

// TestKeptPairs runs an iteration, whose pairs are facts, several times.
func TestKeptPairs(t *testing.T) {
	plan := parse(t, keptFold)
	r := rand.New(rand.NewPCG(4, 9))
	facts := map[string]planref.Rows{}
	for range 5000 {
		facts["edge"] = append(facts["edge"], ints([]int64{r.Int64N(900), r.Int64N(900)})...)
	}
	e, db := New().(*engine), database(plan, facts)
	var want []string
	for i := range 4 {
		bound := int64(1-min(i, 1)) << 30 // on the first run only
		ans, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db,
			Memory: bound})
		if err != nil {
			t.Fatal(err)
		}
		got := tuples(ans.Outputs["out"])
		if want == nil {
			want = got
		}
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Fatalf("run %d has %d tuples, and not the same %d", i, len(got), len(want))
		}
	}
	if n := e.kept.Len(); n != 1 {
		t.Errorf("%d folds are kept", n)
	}
}
