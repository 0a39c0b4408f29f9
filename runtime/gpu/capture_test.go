package gpu

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// nodes runs a plan several times, compares, and returns the nodes of the graph
// that the last run was, 0 if it went through its commands.
func nodes(t *testing.T, e *Engine, plan *queryplan.Plan, db *store.Database, times int) int64 {
	t.Helper()
	for range times - 1 {
		check(t, "beside the go engine", e, plan, db)
	}
	answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Device.Nodes > 0 && answer.Device.Waits != 1 {
		t.Errorf("a graph with %d waits", answer.Device.Waits)
	}
	for _, v := range plan.Vars {
		if rel := answer.Outputs[v.Name]; rel != nil && rel.InOrder {
			inOrder(t, v, rel)
		}
	}
	check(t, "at last", e, plan, db)
	return answer.Device.Nodes
}

// inOrder compares tuples as they stand with how they are presented.
func inOrder(t *testing.T, v *queryplan.Var, rel *store.Relation) {
	t.Helper()
	out := write.Of(rel)
	for _, k := range v.OrderBy {
		at := slices.IndexFunc(v.Cols, func(c queryplan.Column) bool { return c.Name == k.Col })
		out.Order = append(out.Order, store.Order{Col: at, Desc: k.Desc})
	}
	rows := func() (all [][]int64) {
		err := out.Each(func(block [][]int64, n int) error {
			for i := range n {
				var row []int64
				for _, c := range block {
					row = append(row, c[i])
				}
				all = append(all, row)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := rows()
	out.InOrder = true
	for i, row := range rows() {
		if !slices.Equal(row, want[i]) {
			t.Errorf("%s: row %d is %v, want %v", v.Name, i, row, want[i])
			return
		}
	}
}

// TestCapture has runs that follow two others over the same facts be graphs,
// loops and sorts among them.
func TestCapture(t *testing.T) {
	for _, c := range repeated() {
		for _, small := range []bool{false, true} {
			plan, db := enginetest.Stored(t, c.text, c.facts)
			e, d := card{small: small, Options: emulated.Options{Seed: 4}}.open(t)
			e.sizes.order, e.sizes.ranked = 2, 16
			if n := nodes(t, e, plan, db, 4); n == 0 {
				t.Errorf("%s: the sixth run is no graph", c.name)
			}
			if use := settled(t, e); use.Held != use.Resident || len(e.captures.all) != 1 {
				t.Errorf("%s: the engine holds %+v, and %d captures", c.name, use,
					len(e.captures.all))
			}
			e.Forget(db)
			if use := settled(t, e); use.Held != 0 || len(e.captures.all) != 0 {
				t.Errorf("%s: facts are forgotten, and the engine holds %+v, and %d captures",
					c.name, use, len(e.captures.all))
			}
			if n := nodes(t, e, plan, db, 4); n == 0 {
				t.Errorf("%s: no graph of facts that are there again", c.name)
			}
			if err := d.Check(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestTrim has a driver get back what runs and their graph leave, and facts
// stay.
func TestTrim(t *testing.T) {
	c := repeated()[0]
	plan, db := enginetest.Stored(t, c.text, c.facts)
	e, _ := card{}.open(t)
	if nodes(t, e, plan, db, 4) == 0 {
		t.Fatal("no graph")
	}
	before, _, err := e.gpu.MemoryInfo()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Trim(); err != nil {
		t.Fatal(err)
	}
	after, _, err := e.gpu.MemoryInfo()
	if err != nil {
		t.Fatal(err)
	}
	if use := settled(t, e); after <= before || len(e.captures.all) != 0 ||
		columnsIn(e) == 0 || use.Held != use.Resident {
		t.Errorf("%d bytes were free and %d are, %d graphs and %d columns are there, and the engine holds %+v",
			before, after, len(e.captures.all), columnsIn(e), use)
	}
	check(t, "after it", e, plan, db)
}

// TestTrimWaits has the memory of results given back of which no stream has
// been told to come to it.
func TestTrimWaits(t *testing.T) {
	const grain = 64 << 10
	c := repeated()[0]
	plan, db := enginetest.Stored(t, c.text, c.facts)
	for seed := range uint64(4) { // which say what streams do at once
		e, _ := card{Options: emulated.Options{Seed: seed}}.open(t)
		e.sizes.rows = 2 * grain
		answer, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db, Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range answer.Pending {
			p.Release()
		}
		err = e.Trim()
		use, failed := e.mem.Pool.Use()
		if err = errors.Join(err, failed); err != nil || use.Reserved > use.Used+grain {
			t.Errorf("seed %d: the pool has %+v: %v", seed, use, err)
		}
	}
}

// TestCaptureStays has runs whose results stay on the device be graphs, which
// later launches leave as they are, beside graphs of runs whose results arrive.
func TestCaptureStays(t *testing.T) {
	ctx := context.Background()
	for _, c := range repeated() {
		plan, db := enginetest.Stored(t, c.text, c.facts)
		e, d := card{small: true, Options: emulated.Options{Seed: 5}}.open(t)
		want, err := portable.New().Run(ctx, &runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		run := func() *runtime.Answer {
			t.Helper()
			answer, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db, Resident: true})
			if err != nil {
				t.Fatal(err)
			}
			return answer
		}
		var answers []*runtime.Answer
		for i := range 7 {
			if i == 5 {
				if n := nodes(t, e, plan, db, 4); n == 0 {
					t.Errorf("%s: results that arrive come of no graph", c.name)
				}
			}
			answers = append(answers, run())
		}
		if last := answers[6]; last.Device.Nodes == 0 || len(last.Pending) == 0 ||
			len(e.captures.all) != 2 {
			t.Errorf("%s: %d nodes, %d results stay, %d graphs", c.name, last.Device.Nodes,
				len(last.Pending), len(e.captures.all))
		}
		for i, answer := range answers {
			for name, k := range answer.Pending {
				if i == 3 {
					k.Release()
					continue
				}
				got, err := k.Fetch(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if got.Rows() != want.Outputs[name].Rows() ||
					!slices.Equal(tuplesOfRelation(got), tuplesOfRelation(want.Outputs[name])) {
					t.Errorf("%s: run %d has other tuples of %s", c.name, i, name)
				}
			}
		}
		if use := settled(t, e); use.Held != use.Resident || len(e.keeps) != 0 {
			t.Errorf("%s: the engine holds %+v and %d results", c.name, use, len(e.keeps))
		}
		// There is no memory for a result, so the graph is dropped, and its
		// memory serves.
		left := run()
		d.Inject(emulated.Fault{Calls: []string{"cuMemAllocFromPoolAsync", "cuMemAlloc"}, Times: 1,
			Code: emulated.InvalidValue})
		if _, err := e.Run(ctx,
			&runtime.Request{Plan: plan, Facts: db, Resident: true}); err == nil && d.Heal() {
			t.Errorf("%s: no memory for the result, and no error", c.name)
		}
		d.Heal()
		for _, k := range left.Pending {
			k.Release()
		}
		check(t, "after it", e, plan, db)
	}
}

// tuplesOfRelation returns the tuples, sorted.
func tuplesOfRelation(rel *store.Relation) (all []string) {
	for row := range rel.Rows() {
		var b strings.Builder
		for _, c := range rel.Columns() {
			fmt.Fprint(&b, c.Value(row), "\t")
		}
		all = append(all, b.String())
	}
	slices.Sort(all)
	return all
}

// TestCaptureInOrder has results come in the order in which they are presented,
// by columns of every type, as one kernel writes them or as they are copied.
func TestCaptureInOrder(t *testing.T) {
	for _, many := range []int{60, 3000} {
		for _, by := range []string{"u, d desc", "f desc, s", "s desc, b, t", "b desc, i desc",
			""} {
			text := orderedFacts + "all(i, u, f, d, s, b, t) <- r(i, u, f, d, s, b, t).\n"
			if by != "" {
				text += "lang:output:orderBy[`all] = \"" + by + "\".\n"
			}
			plan, db := enginetest.Stored(t, text, tuplesOf(many))
			e, _ := card{Options: emulated.Options{Seed: 7}}.open(t)
			e.sizes.ordered = 2
			if nodes(t, e, plan, db, 4) == 0 {
				t.Fatal("no graph")
			}
			answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			if err != nil {
				t.Fatal(err)
			}
			if rel := answer.Outputs["all"]; rel == nil || !rel.InOrder || rel.Rows() < many/2 {
				t.Errorf("%d tuples by %q are in no order", many, by)
			}
		}
	}
}

// TestNoCapture has programs that need the host in between, and drivers without
// graphs, go through their commands, and does not try for ever.
func TestNoCapture(t *testing.T) {
	names := oracle.Facts{"name": {{scalar.OfString("a")}, {scalar.OfString("b")}}}
	for _, c := range []struct {
		name string
		card
	}{
		{"a kernel of the host", card{small: true}},
		{"a bare driver", card{small: true, Options: emulated.Options{Bare: true}}},
	} {
		plan, db := enginetest.Stored(t,
			"name(x) -> string(x).\nlonger(z) <- name(x), name(y), z = x + y.\n", names)
		e, _ := c.open(t)
		if n := nodes(t, e, plan, db, 8); n != 0 {
			t.Errorf("%s: a graph of %d nodes", c.name, n)
		}
		for _, b := range allBound(e) {
			if m := &b.graphs.arriving; m.attempts > mostAttempts || m.made != nil {
				t.Errorf("%s: %d attempts", c.name, m.attempts)
			}
		}
	}
}

// TestCaptureOfOtherNumbers has graphs whose numbers are not what is expected.
// The answer is right, and there is no graph any more.
func TestCaptureOfOtherNumbers(t *testing.T) {
	for at := range 4 {
		plan, db := enginetest.Stored(t, spread, apart(12))
		e, d := card{small: true}.open(t)
		if nodes(t, e, plan, db, 4) == 0 {
			t.Fatal("no graph")
		}
		b := allBound(e)[0]
		all := b.record.Numbers() // the graph compares with the same
		numbers := all[at*(len(all)-1)/3]
		numbers[len(numbers)-1-at]++
		check(t, "with other numbers", e, plan, db)
		if !b.record.Differs() || b.graphs.arriving.made != nil || len(e.captures.all) != 0 {
			t.Errorf("numbers of point %d: the graph is still there", at)
		}
		if n := nodes(t, e, plan, db, 5); n != 0 {
			t.Errorf("numbers of point %d: another graph of %d nodes", at, n)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestCapturesAtATime has several runs of one program, and of another, be there
// at a time: one of each is a graph.
func TestCapturesAtATime(t *testing.T) {
	first, db := enginetest.Stored(t, joined, joinedFacts(200))
	second, _ := enginetest.Stored(t, joined+"f(x, v) <- dense(x, y), value[y] = v.\n",
		oracle.Facts{})
	e, _ := card{Options: emulated.Options{Seed: 3}}.open(t)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for range 6 {
				check(t, "at a time", e, []*queryplan.Plan{first, second}[i%2], db)
			}
		})
	}
	wg.Wait()
	if nodes(t, e, first, db, 1) == 0 || nodes(t, e, second, db, 1) == 0 {
		t.Error("no graphs")
	}
	e.Forget(db)
	if use := settled(t, e); use.Held != 0 {
		t.Errorf("the engine holds %+v", use)
	}
}

// TestCapturesLeave has graphs leave when the memory is wanted, before facts
// do.
func TestCapturesLeave(t *testing.T) {
	plan, db := enginetest.Stored(t, joined, joinedFacts(2000))
	e, _ := card{small: true, limit: 64 << 20}.open(t)
	if nodes(t, e, plan, db, 4) == 0 {
		t.Fatal("no graph")
	}
	had := columnsIn(e)
	if b, err := e.mem.Alloc(e.resident.Stream, "much", e.mem.Unheld()+1); err != nil ||
		e.mem.Free(e.resident.Stream, b) != nil {
		t.Fatal(err)
	}
	if len(e.captures.all) != 0 || columnsIn(e) != had {
		t.Errorf("%d graphs and %d of %d columns stay", len(e.captures.all), columnsIn(e),
			had)
	}
	if nodes(t, e, plan, db, 4) == 0 {
		t.Error("no graph comes back")
	}
	// Without plenty of memory a run is not captured.
	e.captures.evict(1 << 40)
	b, err := e.mem.Alloc(e.resident.Stream, "much", e.mem.Unheld()*7/8)
	if err != nil {
		t.Fatal(err)
	}
	if e.captureOf(context.Background(), &runtime.Request{Plan: plan, Facts: db}, nil,
		&boundFacts{record: &replay.Record{},
			graphs: graphs{arriving: mode{replays: 9, needed: e.mem.Unheld()}}}) != nil ||
		columnsIn(e) != had {
		t.Errorf("a graph where there is no room, and %d of %d columns", columnsIn(e), had)
	}
	if err := e.mem.Free(e.resident.Stream, b); err != nil {
		t.Fatal(err)
	}
}

// TestCaptureOfGarbage has a graph leave once its facts are garbage.
func TestCaptureOfGarbage(t *testing.T) {
	plan, db := enginetest.Stored(t, joined, joinedFacts(200))
	e, _ := card{}.open(t)
	if nodes(t, e, plan, db, 4) == 0 {
		t.Fatal("no graph")
	}
	goruntime.KeepAlive(db)
	db = nil
	await.Until(t, "the end of a graph over facts that are garbage", func() bool {
		goruntime.GC()
		e.captures.mu.Lock()
		defer e.captures.mu.Unlock()
		return len(e.captures.all) == 0
	})
}
