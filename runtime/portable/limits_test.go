package portable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// line is a path of n edges.
func line(n int64) planref.Rows {
	var edges [][]int64
	for i := range n {
		edges = append(edges, []int64{i, i + 1})
	}
	return ints(edges...)
}

func TestMemoryBound(t *testing.T) {
	p := parse(t, closure)
	db := database(p, map[string]planref.Rows{"edge": line(2000)})
	for _, threads := range []int{1, 2} {
		_, err := New().Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: threads, Memory: 4 << 20})
		var out *runtime.MemoryError
		if !errors.As(err, &out) || out.What != "tc" || out.Held > out.Bound {
			t.Errorf("with %d threads got %v", threads, err)
		}
		ans, err := New().Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: threads, Memory: 64 << 20})
		if err != nil || ans.Outputs["tc"].Rows() != 2000*2001/2 {
			t.Fatalf("with %d threads got %v", threads, err)
		}
		if ans.Peak > 64<<20 || ans.Peak < 8*2000*2001/2 {
			t.Errorf("peak %d", ans.Peak)
		}
	}
}

// Everything that a run allocates is given back when it ends, failed or not.
func TestMemoryIsReturned(t *testing.T) {
	p := parse(t, closure)
	db := database(p, map[string]planref.Rows{"edge": line(1500)})
	for _, bound := range []int64{0, 6 << 20} {
		r := newEvaluation(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: 2, Memory: bound}, work.DefaultSizes)
		_ = work.Guard(r.walk)
		r.Mem.Close()
		if r.Mem.Mapped() != 0 {
			t.Errorf("bound %d: %d arrays are still mapped", bound, r.Mem.Mapped())
		}
	}
}

const product = `
var edge(x: int, y: int) input "edge"
var p(n: int) derived output
block b0:
  insert p
    aggregate [] n: int = count()
      join
        scan edge(a, b)
        join
          scan edge(c, d)
          scan edge(e, f)
  merge p
  halt
`

// TestCancel cancels a run that would take hours.
func TestCancel(t *testing.T) {
	p := parse(t, product)
	db := database(p, map[string]planref.Rows{"edge": line(30000)})
	why := errors.New("enough")
	for _, threads := range []int{1, 2} {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(30*time.Millisecond, func() { cancel(why) })
		_, err := New().Run(ctx, &runtime.Request{Plan: p, Facts: db, Threads: threads})
		if err != why {
			t.Fatalf("got %v", err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := New().Run(ctx, &runtime.Request{Plan: p, Facts: db}); err != why {
		t.Errorf("a run that was cancelled before it began returns %v", err)
	}
}

func TestOverflowNamesTheFirstGroup(t *testing.T) {
	p := parse(t, `
var in(g: string, n: int, v: int) input "in"
var out(g: string; t: int) derived output
block b0:
  insert out
    aggregate [g] t: int = total(v)
      scan in(g, _, v)
  merge out
  halt
`)
	rows := planref.Rows{}
	for i, g := range []string{"d", "b", "c", "a", "b", "c", "d", "e"} {
		v := int64(1 << 62)
		if g == "a" || g == "e" {
			v = 1
		}
		rows = append(rows, []scalar.Value{scalar.OfString(g),
			scalar.OfInt(scalar.IntType, int64(i)), scalar.OfInt(scalar.IntType, v)})
	}
	db := database(p, map[string]planref.Rows{"in": rows})
	for _, c := range configurations {
		_, err := (&engine{opts: c.opts}).Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: c.threads})
		if err == nil || err.Error() != `total for (b) does not fit int` {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestKeyErrorNamesTheFirstKey(t *testing.T) {
	p := parse(t, `
var in(k: string, v: int) input "in"
var f(k: string; v: int) derived output
block b0:
  insert f
    scan in(k, v)
  merge f
  checkkey f
  halt
`)
	rows := planref.Rows{}
	for _, r := range []struct {
		k string
		v int64
	}{{"z", 1}, {"m", 9}, {"m", 4}, {"a", 1}, {"z", 2}, {"m", 5}} {
		rows = append(rows, []scalar.Value{scalar.OfString(r.k), scalar.OfInt(scalar.IntType, r.v)})
	}
	db := database(p, map[string]planref.Rows{"in": rows})
	for _, c := range configurations {
		_, err := (&engine{opts: c.opts}).Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: c.threads})
		if err == nil || !strings.HasSuffix(err.Error(),
			"two values for one key: (m, 4) and (m, 5)") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestViolationsAreSortedAndCounted(t *testing.T) {
	p := parse(t, `
var in(x: int, y: int) input "in"
block b0:
  check "in(x, _) -> x < 3."
    filter ge(x, 3)
      scan in(x, _)
  halt
`)
	var rows [][]int64
	for i := range int64(100) {
		rows = append(rows, []int64{(i * 37) % 50, i})
	}
	db := database(p, map[string]planref.Rows{"in": ints(rows...)})
	for _, c := range configurations {
		ans, err := (&engine{opts: c.opts}).Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: c.threads, MaxViolations: 3})
		if err != nil {
			t.Fatal(err)
		}
		v := ans.Violations[0]
		if got := fmt.Sprint(v.Count, v.Tuples[0][0].Int(), v.Tuples[1][0].Int(),
			v.Tuples[2][0].Int(), len(v.Tuples)); got != "47 3 4 5 3" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestDroppedDecimalsAreCounted(t *testing.T) {
	p := parse(t, `
var in(x: decimal[18,2], y: decimal[18,2]) input "in"
var out(z: decimal[18,4], w: decimal[18,4]) derived output
block b0:
  insert out
    project z, w
      map z = mul(x, y), w = sub(mul(x, y), mul(x, y))
        scan in(x, y)
  merge out
  halt
`)
	big := int64(1) << 40
	var rows planref.Rows
	for _, r := range [][2]int64{{big, big}, {2, 3}, {-big, big}, {1, big}} {
		rows = append(rows, []scalar.Value{scalar.OfDecimal(2, r[0]), scalar.OfDecimal(2, r[1])})
	}
	db := database(p, map[string]planref.Rows{"in": rows})
	for _, c := range configurations {
		ans, err := (&engine{opts: c.opts}).Run(context.Background(),
			&runtime.Request{Plan: p, Facts: db, Threads: c.threads})
		if err != nil || ans.Dropped != 2 || ans.Outputs["out"].Rows() != 2 {
			t.Errorf("%s: %v, dropped %d, kept %v", c.name, err, ans.Dropped,
				tuples(ans.Outputs["out"]))
		}
	}
}

// Runs over the same facts do not disturb each other, also where they add
// strings.
func TestConcurrentRuns(t *testing.T) {
	p := parse(t, `
var in(s: string) input "in"
var out(s: string) derived output
block b0:
  insert out
    scan in(s)
  merge out
  branch delta out -> b1 else b2
block b1:
  insert out
    project u as s
      map u = add(s, "x")
        filter lt(string:length(s), 6)
          scan delta out(s)
  merge out
  branch delta out -> b1 else b2
block b2:
  halt
`)
	facts := map[string]planref.Rows{"in": {{scalar.OfString("a")}, {scalar.OfString("bb")},
		{scalar.OfString("")}}}
	if err := agree(p, facts); err != nil {
		t.Fatal(err)
	}
	db := database(p, facts)
	dict := db.Relation("in").Column(0).Dict
	before := dict.Len()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			ans, err := New().Run(context.Background(),
				&runtime.Request{Plan: p, Facts: db, Threads: 2})
			if err != nil || ans.Outputs["out"].Rows() != 18 {
				t.Errorf("%v: %v", err, tuples(ans.Outputs["out"]))
			}
		})
	}
	wg.Wait()
	if dict.Len() != before {
		t.Error("a run added strings to the facts' dictionary")
	}
}

func TestProfileAndProgress(t *testing.T) {
	p := parse(t, closure)
	db := database(p, map[string]planref.Rows{"edge": line(2500)})
	calls := 0
	ans, err := New().Run(context.Background(),
		&runtime.Request{Plan: p, Facts: db, Profile: true, Progress: func(p runtime.Progress) {
			calls++
			if p.Block != "b1" || p.Iteration < 1 || len(p.Vars) != 1 || p.Vars[0] != "tc" ||
				p.New <= 0 || p.Total <= p.New {
				t.Errorf("progress %+v", p)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	var rows, kept int64
	for _, c := range ans.Profile {
		rows += c.Rows
		kept += c.Kept
	}
	if n := int64(2500 * 2501 / 2); kept != n || rows != n {
		t.Errorf("profile has %d rows, %d kept", rows, kept)
	}
}

func TestFactsOfAnotherTypeAreRefused(t *testing.T) {
	p := parse(t, closure)
	db := database(p, map[string]planref.Rows{"edge": {{scalar.OfString("a"),
		scalar.OfInt(scalar.IntType, 1)}}})
	_, err := New().Run(context.Background(), &runtime.Request{Plan: p, Facts: db})
	if err == nil ||
		err.Error() != "column x of edge is int in the program and string in the facts" {
		t.Error(err)
	}
}

// A bug in an operator is an error that names the command, not a crash.
func TestPanicsBecomeInternalErrors(t *testing.T) {
	p := parse(t, closure)
	db := database(p, map[string]planref.Rows{"edge": line(5)})
	db.Relation("edge").Table.Columns[1] = nil // what no loader makes
	for _, v := range p.Vars {
		if v.Kind == queryplan.Input {
			v.Cols = v.Cols[:2]
		}
	}
	_, err := New().Run(context.Background(), &runtime.Request{Plan: p, Facts: db})
	var bug *work.InternalError
	if !errors.As(err, &bug) || bug.Stack == "" {
		t.Errorf("got %v", err)
	}
}
