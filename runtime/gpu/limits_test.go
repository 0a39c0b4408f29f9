package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// fork is a closure whose sets are hashed, beside groups, an index and strings.
const fork = `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
ends[x] = n <- agg<<n = count()>> tc(x, _).
sum[] = s <- agg<<s = total(f)>> tc(x, y), f = int:float:convert[x + y].
named(x, s) <- tc(x, 3), s = int:string:convert[x].
back(x, y) <- edge(x, y), !tc(y, x), tc(x, y), ends[x] = _.
`

// apart spreads the nodes of a line, so that keys do not fit bit sets.
func apart(n int64) oracle.Facts {
	var edges []oracle.Tuple
	for i := range n {
		edges = append(edges,
			oracle.Tuple{scalar.OfInt(scalar.IntType, i<<34),
				scalar.OfInt(scalar.IntType, (i+1)<<34)})
	}
	return oracle.Facts{"edge": edges}
}

// check runs a plan and compares.
func check(t *testing.T, what string, e *Engine, plan *queryplan.Plan, db *store.Database) {
	t.Helper()
	enginetest.Compare(t, what, e, runtime.Request{Plan: plan, Facts: db})
}

// TestMemoryBound has runs that do not fit what the engine may take, and then
// one that does.
func TestMemoryBound(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(2000))
	few, some := enginetest.Stored(t, enginetest.Closure, enginetest.Line(100))
	for _, c := range []card{
		{items: 1024, limit: 6 << 20},
		{items: 32, small: true, limit: 6 << 20},
		// of which the engine takes an eighth
		{items: 1024, Options: emulated.Options{Memory: 40 << 20}},
	} {
		e, _ := c.open(t)
		for range 2 {
			_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			var out *runtime.MemoryError
			if !errors.As(err, &out) || out.What != "tc" || !out.Device || out.Held > out.Bound {
				t.Errorf("got %v", err)
			}
			check(t, "after it", e, few, some)
		}
	}
}

// TestSharedMemory has kernels whose blocks ask for as much shared memory as
// the device has, and for more.
func TestSharedMemory(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(5))
	for _, bare := range []bool{false, true} {
		c := card{Options: emulated.Options{Bare: bare}}
		e, _ := c.open(t)
		most := e.info.Attributes.SharedPerBlockOptin
		c.dynamic = most
		e, d := c.open(t)
		check(t, "all shared memory", e, plan, db)
		if asked := d.Calls()["cuFuncSetAttribute"] > 0; asked == bare {
			t.Errorf("of a device whose blocks have %d bytes the engine asks for more: %t", most,
				asked)
		}
		c.dynamic = most + 16
		e, _ = c.open(t)
		var refused *runtime.DeviceError
		if _, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db}); !errors.As(err, &refused) ||
			refused.Needed == "" {
			t.Errorf("blocks of more than the device has: %v", err)
		}
	}
}

// TestLittleMemory has devices of all sizes, up to one that a run fits on.
func TestLittleMemory(t *testing.T) {
	plan, db := enginetest.Stored(t, fork, apart(40))
	for _, bare := range []bool{false, true} {
		failed := 0
		for size := uint64(1 << 18); ; size += size / 4 {
			e, _ := card{small: true,
				Options: emulated.Options{Memory: size, Seed: size, Bare: bare}}.open(t)
			_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			if err == nil {
				check(t, fmt.Sprintf("%d bytes", size), e, plan, db)
				break
			}
			var out *runtime.MemoryError
			if !errors.As(err, &out) || !out.Device || out.Bound > int64(size) {
				t.Fatalf("%d bytes: %v", size, err)
			}
			failed++
		}
		if failed < 3 {
			t.Errorf("%d sizes are too small", failed)
		}
	}
}

// TestOutOfMemory has every allocation fail, one by one, once and for good. The
// run says so, nothing leaks, and the next run works.
func TestOutOfMemory(t *testing.T) {
	plan, db := enginetest.Stored(t, fork, apart(30))
	for _, times := range []int{1, 0} {
		for n := 1; ; n++ {
			e, d := card{small: true, Options: emulated.Options{Seed: uint64(n)}}.open(t)
			d.Inject(emulated.Fault{Calls: emulated.Allocations, Nth: n, Times: times,
				Code: emulated.OutOfMemory})
			_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			reached := d.Heal()
			if !reached {
				if err != nil {
					t.Fatal(err)
				}
				if n < 20 {
					t.Errorf("only %d allocations", n)
				}
				break
			}
			var memory *runtime.MemoryError
			var device *runtime.DeviceError
			switch {
			case err == nil && times == 0:
				t.Errorf("allocation %d: a run without memory works", n)
			case err != nil && !(errors.As(err, &memory) && memory.Device) &&
				!(errors.As(err, &device) && errors.Is(err, cuda.ErrOutOfMemory)):
				t.Errorf("allocation %d: %v", n, err)
			}
			check(t, fmt.Sprintf("after allocation %d failed", n), e, plan, db)
		}
	}
}

// TestTwoEngines have a device to themselves, each for all it knows.
func TestTwoEngines(t *testing.T) {
	plan, db := enginetest.Stored(t, fork, apart(10))
	e, d := card{small: true}.open(t)
	other, err := New(Options{Device: d.Devices()[0], Version: d.Version(), Lower: e.opts.Lower,
		Compile: e.opts.Compile})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, e := range []*Engine{e, other} {
		wg.Go(func() {
			if err := enginetest.Same(e, runtime.Request{Plan: plan, Facts: db}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	check(t, "after the other one", e, plan, db)
}

// TestCancel stops a kernel that would run for hours.
func TestCancel(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Product, enginetest.Line(20_000))
	few, some := enginetest.Stored(t, enginetest.Closure, enginetest.Line(10))
	why := errors.New("enough")
	for seed := range uint64(4) {
		e, _ := card{items: 1024, Options: emulated.Options{Seed: seed}}.open(t)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(why)
		if _, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db}); err != why {
			t.Errorf("a run that was cancelled before it began returns %v", err)
		}
		if err := e.Prepare(context.Background(),
			&runtime.Request{Plan: plan, Facts: db}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel = context.WithCancelCause(context.Background())
		time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
		if _, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db}); err != why {
			t.Fatalf("got %v", err)
		}
		check(t, "after it", e, few, some)
	}
}

// TestCancelAnywhere has the context end at every call of the driver that a run
// makes. The run says why, nothing leaks, and the next run works.
func TestCancelAnywhere(t *testing.T) {
	plan, db := enginetest.Stored(t, fork, apart(4))
	why := errors.New("enough")
	for n := int64(1); ; n += 3 {
		var left atomic.Int64
		ctx, cancel := context.WithCancelCause(context.Background())
		e, _ := card{small: true, Options: emulated.Options{Seed: uint64(n), OnCall: func(string) {
			if left.Add(-1) == 0 {
				cancel(why)
			}
		}}}.open(t)
		left.Store(n)
		_, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db})
		switch {
		case err != nil && err != why:
			t.Errorf("cancelled at call %d: %v", n, err)
		case err == nil && left.Load() > 0:
			cancel(nil)
			return // it makes fewer calls
		}
		if n%4 == 0 {
			check(t, fmt.Sprintf("after call %d", n), e, plan, db)
		}
	}
}

// TestConcurrentRuns shares an engine between runs at the same time, over facts
// of different layouts and over the same facts.
func TestConcurrentRuns(t *testing.T) {
	for seed := range uint64(3) {
		e, _ := card{small: true, Options: emulated.Options{Seed: seed}}.open(t)
		prog, plan := enginetest.PlanOf(t, enginetest.Closure)
		var dbs []*store.Database
		for i := range 4 {
			db, err := enginetest.Database(prog, enginetest.Line(int64(5)<<(2*i)))
			if err != nil {
				t.Fatal(err)
			}
			dbs = append(dbs, db)
		}
		var wg sync.WaitGroup
		for i := range 12 {
			n := int64(5) << (2 * (i % 4))
			wg.Go(func() {
				answer, err := e.Run(context.Background(),
					&runtime.Request{Plan: plan, Facts: dbs[i%4]})
				if err != nil || int64(answer.Outputs["tc"].Rows()) != n*(n+1)/2 {
					t.Errorf("%d edges: %v", n, err)
				}
			})
		}
		wg.Wait()
	}
}

// TestCloseWhileRunning refuses to take the device away from runs.
func TestCloseWhileRunning(t *testing.T) {
	e, _ := card{}.open(t)
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(3))
	if err := e.enter(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err == nil {
		t.Error("an engine that runs is closed")
	}
	e.leave()
	check(t, "after it", e, plan, db)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db}); err == nil {
		t.Error("an engine that is closed runs")
	}
}

// TestResidents keeps columns on the device until they are forgotten, or until
// their memory is wanted.
func TestResidents(t *testing.T) {
	e, _ := card{small: true, limit: 4 << 20}.open(t)
	prog, plan := enginetest.PlanOf(t,
		"r(x, y) -> int(x), int(y).\nn[] = v <- agg<<v = count()>> r(x, y), x < y.\n")
	var rows []oracle.Tuple
	for i := range int64(60_000) {
		rows = append(rows,
			oracle.Tuple{scalar.OfInt(scalar.IntType, i<<20), scalar.OfInt(scalar.IntType, i<<21)})
	}
	var dbs []*store.Database
	for range 6 {
		db, err := enginetest.Database(prog, oracle.Facts{"r": rows})
		if err != nil {
			t.Fatal(err)
		}
		dbs = append(dbs, db)
	}
	run := func(db *store.Database) *runtime.DeviceProfile {
		answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Device
	}
	first, second := run(dbs[0]), run(dbs[0])
	if first.ToDevice.Bytes+first.Ahead < 60_000*8 || second.Resident < 60_000*8 ||
		second.ToDevice.Bytes > 1<<12 {
		t.Errorf("%+v, and then %+v", first, second)
	}
	for _, db := range dbs {
		run(db)
	}
	if use := e.Use(); use.Resident < 1<<20 || use.Held > use.Limit || use.Peak > use.Limit {
		t.Errorf("the engine holds %+v", use)
	}
	for _, db := range dbs {
		e.Forget(db)
	}
	if use := settled(t, e); use.Resident != 0 || use.Held != 0 {
		t.Errorf("facts are forgotten, and the engine holds %+v", use)
	}
}

// TestStaging copies columns that are too large for the driver's own buffer
// through the engine's, also those of several runs at a time.
func TestStaging(t *testing.T) {
	plan, _ := enginetest.Stored(t,
		"r(x, y) -> int(x), int(y).\nn[] = v <- agg<<v = total(z)>> r(x, y), z = x - y.\n",
		oracle.Facts{})
	var xs, ys []int64
	for i := range int64(700_000) { // more than one buffer of 4 MiB
		xs, ys = append(xs, i<<33+5), append(ys, i<<33)
	}
	rel, err := read.FromSlices(store.Schema{Name: "r", Keys: 2,
		Args: []store.Field{{Name: "x", Type: scalar.IntType}, {Name: "y", Type: scalar.IntType}}},
		xs, ys)
	if err != nil {
		t.Fatal(err)
	}
	db := store.NewDatabase()
	db.Put(rel)
	for _, bare := range []bool{false, true} {
		e, _ := card{items: 1024, Options: emulated.Options{Bare: bare}}.open(t)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
				if err != nil {
					t.Error(err)
				} else if got := enginetest.Contents(answer.Outputs["n"]); len(got) != 1 ||
					got[0][0].Int() != 5*700_000 {
					t.Errorf("got %v", got)
				}
			})
		}
		wg.Wait()
	}
}

// TestPending leaves outputs on the device.
func TestPending(t *testing.T) {
	plan, db := enginetest.Stored(t, fork, apart(20))
	e, _ := card{small: true}.open(t)
	want, err := portable.New().Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if err != nil {
		t.Fatal(err)
	}
	for _, fetched := range []bool{true, false} {
		got, err := e.Run(context.Background(),
			&runtime.Request{Plan: plan, Facts: db, Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Pending) == 0 {
			t.Error("no output stays on the device")
		}
		for name, p := range got.Pending {
			if n := want.Outputs[name].Rows(); p.Rows() != int64(n) {
				t.Errorf("%s has %d tuples, not %d", name, p.Rows(), n)
			}
			if !fetched {
				p.Release()
				continue
			}
			if got.Outputs[name], err = p.Fetch(context.Background()); err != nil {
				t.Fatal(err)
			}
			p.Release()
		}
		if d := enginetest.Difference(got, want); fetched && d != "" {
			t.Error(d)
		}
	}
	// Results that are not fetched are freed with the engine.
	if _, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Resident: true}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestProfile has the commands of the plan, whose rows do not depend on the
// engine.
func TestProfile(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(200))
	e, _ := card{small: true}.open(t)
	var spans atomic.Int64
	answer, err := e.Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Profile: true, Trace: func(runtime.Span) {
			spans.Add(1)
		}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := portable.New().Run(context.Background(),
		&runtime.Request{Plan: plan, Facts: db, Profile: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Profile) != len(want.Profile) {
		t.Fatalf("%d commands, not %d", len(answer.Profile), len(want.Profile))
	}
	for i, w := range want.Profile {
		g := answer.Profile[i]
		if g.Block != w.Block || g.Command != w.Command || g.Calls != w.Calls || g.Kept != w.Kept {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
	kept, device := int64(0), time.Duration(0)
	for _, k := range answer.Kernels {
		kept += k.Kept
		device += k.Device
	}
	if kept != 200*201/2 || device <= 0 || spans.Load() == 0 {
		t.Errorf("the kernels keep %d tuples in %v, in %d spans", kept, device, spans.Load())
	}
	if p := answer.Device; p == nil || p.Launches == 0 || p.Waits == 0 || p.Peak == 0 ||
		p.FromDevice.Bytes == 0 {
		t.Errorf("the device did %+v", p)
	}
}

// joined probes an index over facts of every kind, and form: keys that are
// dense, that are not, and of two columns.
const joined = `
dense(x, y) -> int(x), int(y).
sparse(x, y) -> int(x), int(y).
value[x] = v -> int(x), int(v).
a(x, z) <- dense(x, y), sparse(y, z).
b(x, z) <- sparse(x, y), dense(y, z).
c(x, v) <- sparse(_, x), value[x] = v.
d(x) <- dense(x, y), !sparse(x, y).
e(x) <- sparse(x, y), dense(y, x).
`

// joinedFacts are facts of joined, of about n tuples each.
func joinedFacts(n int64) oracle.Facts {
	facts := oracle.Facts{}
	pair := func(name string, x, y int64) {
		facts[name] = append(facts[name],
			oracle.Tuple{scalar.OfInt(scalar.IntType, x), scalar.OfInt(scalar.IntType, y)})
	}
	for i := range n {
		pair("dense", i%97, i)
		pair("sparse", i%97<<(i%2*40), i*7%n)
		pair("value", i<<(i%2*36), -i)
	}
	return facts
}

// TestIndexesStay has indexes over facts serve later runs, until their memory
// is wanted or the facts are forgotten.
func TestIndexesStay(t *testing.T) {
	plan, db := enginetest.Stored(t, joined, joinedFacts(300))
	other, _ := enginetest.Stored(t, joined+"f(x, v) <- dense(x, y), value[y] = v.\n",
		oracle.Facts{})
	for _, small := range []bool{false, true} {
		e, _ := card{small: small}.open(t)
		e.sizes.replays = math.MaxInt // a capture would hold them
		run := func(plan *queryplan.Plan) *runtime.DeviceProfile {
			answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			if err != nil {
				t.Fatal(err)
			}
			return answer.Device
		}
		check(t, "the first run", e, plan, db)
		had := indexesIn(e)
		if had < 3 {
			t.Fatalf("%d indexes stay", had)
		}
		before := run(plan)
		for e.resident.Evict(1) && indexesIn(e) > 0 {
		}
		if n := columnsIn(e); n == 0 || indexesIn(e) != 0 {
			t.Errorf("columns leave before indexes do: %d stay", n)
		}
		if after := run(plan); after.Launches <= before.Launches || indexesIn(e) != had {
			t.Errorf("%d launches, with %d without indexes that stay", before.Launches,
				after.Launches)
		}
		check(t, "another program", e, other, db)
		check(t, "again", e, plan, db)
		e.Forget(db)
		if use := settled(t, e); use.Resident != 0 || use.Held != 0 ||
			indexesIn(e) != 0 {
			t.Errorf("facts are forgotten, and the engine holds %+v", use)
		}
	}
}

// TestIndexesLeave has indexes over facts leave for want of memory, in the run
// that uses them, too, and several runs make them at a time.
func TestIndexesLeave(t *testing.T) {
	plan, db := enginetest.Stored(t, joined, joinedFacts(2000))
	fits := 0
	for limit := int64(1 << 18); limit < 4<<20; limit += limit / 8 {
		e, _ := card{small: true, limit: limit,
			Options: emulated.Options{Seed: uint64(limit)}}.open(t)
		_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		var out *runtime.MemoryError
		if err != nil && !errors.As(err, &out) {
			t.Errorf("%d bytes: %v", limit, err)
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 2 {
					err := enginetest.Same(e, runtime.Request{Plan: plan, Facts: db})
					var out *runtime.MemoryError
					if err != nil && !errors.As(err, &out) &&
						!strings.Contains(err.Error(), "memory") {
						t.Errorf("%d bytes: %v", limit, err)
					}
				}
			})
		}
		wg.Wait()
		if err := enginetest.Same(e, runtime.Request{Plan: plan, Facts: db}); err == nil {
			fits++
		}
	}
	if fits == 0 {
		t.Error("no size is large enough")
	}
}
