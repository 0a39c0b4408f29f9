package gpu

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/store"
)

// spread is a closure whose sets are hashed, beside groups and an index.
const spread = `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
ends[x] = n <- agg<<n = count()>> tc(x, _).
back(x, y) <- edge(x, y), !tc(y, x), tc(x, y), ends[x] = _.
`

// waits runs a plan, compares, and returns how often the host has waited.
func waits(t *testing.T, e *Engine, plan *queryplan.Plan, db *store.Database) int64 {
	t.Helper()
	check(t, "beside the go engine", e, plan, db)
	answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Device.Waits
}

// allBound returns the facts that programs are bound to.
func allBound(e *Engine) (all []*boundFacts) {
	e.programs.Each(func(p *program) { all = append(all, p.bounds...) })
	return all
}

// repeated are programs whose runs replay earlier ones: loops and sorts are
// among them.
func repeated() []repeatedProgram {
	return []repeatedProgram{
		{"a closure", enginetest.Closure, enginetest.Line(40)},
		{"a closure of few that spread", spread, apart(20)},
		{"joins", joined, joinedFacts(300)},
		{"the first", orderedFacts + orders[0].text, tuplesOf(90)},
		{"numbers in groups", orderedFacts + orders[7].text, tuplesOf(90)},
		{"the first of groups", orderedFacts + orders[9].text, tuplesOf(90)},
		{"a key", orderedFacts + orders[10].text, tuplesOf(90)},
	}
}

type repeatedProgram struct {
	name, text string
	facts      oracle.Facts
}

// TestReplay has runs that follow others over the same facts wait once, for the
// results, whatever loops they have and however little memory tables begin
// with.
func TestReplay(t *testing.T) {
	for _, c := range repeated() {
		for _, small := range []bool{false, true} {
			plan, db := enginetest.Stored(t, c.text, c.facts)
			e, d := card{small: small, Options: emulated.Options{Seed: 4}}.open(t)
			e.sizes.order, e.sizes.ranked = 2, 16
			first, second, third := waits(t, e, plan, db), waits(t, e, plan, db), waits(t, e, plan,
				db)
			if second > 1 || third > 1 {
				t.Errorf("%s: %d waits, then %d, then %d", c.name, first, second, third)
			}
			if all := allBound(e); len(all) != 1 || all[0].record.Numbers() == nil ||
				all[0].record.Differs() {
				t.Errorf("%s: %d records", c.name, len(all))
			}
			if err := d.Check(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestReplayInParts has a log that holds few of the numbers that a replay
// takes: it waits for each part of them, and finds a wrong number in any part.
func TestReplayInParts(t *testing.T) {
	for wrong := range 4 {
		plan, db := enginetest.Stored(t, spread, apart(20))
		e, _ := card{small: true}.open(t)
		e.sizes.replays = math.MaxInt // no run becomes a graph
		waits(t, e, plan, db)
		record := allBound(e)[0].record
		all := record.Numbers()
		block := device.FirstGauge + (len(all[0])-3)*device.GaugeWords
		for _, part := range []int64{1, 3, 7, int64(len(all))} {
			record.LogWords = int(part) * block
			answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
			if err != nil {
				t.Fatal(err)
			}
			d := answer.Device
			if d.Replayed < 10 || d.Waits != 1+(d.Replayed-1)/part {
				t.Errorf("with %d at a time %d numbers are replayed, in %d waits", part,
					d.Replayed, d.Waits)
			}
		}
		record.LogWords = 5 * block
		all[wrong*(len(all)-1)/3][device.DroppedWord]++
		check(t, "with a wrong number", e, plan, db)
		if !record.Differs() {
			t.Errorf("number %d of %d is not compared", wrong*(len(all)-1)/3, len(all))
		}
	}
}

// TestReplayOfWrongRecord falsifies records. The answers are right, results
// that stay on the device among them, and no later run replays a record.
func TestReplayOfWrongRecord(t *testing.T) {
	for _, wrong := range []func(numbers []int64){
		func(n []int64) { n[device.DroppedWord]++ },
		func(n []int64) { n[device.FaultWord] = 1 },
		func(n []int64) {
			for i := range n[3:] {
				n[3+i] = max(n[3+i]-1, 0)
			}
		},
		func(n []int64) { clear(n) },
	} {
		for _, resident := range []bool{false, true} {
			plan, db := enginetest.Stored(t, spread, apart(12))
			e, d := card{small: true}.open(t)
			waits(t, e, plan, db)
			waits(t, e, plan, db)
			record := allBound(e)[0].record
			if len(record.Numbers()) < 10 {
				t.Fatal("nothing is recorded")
			}
			for _, n := range record.Numbers() {
				wrong(n)
			}
			if resident {
				answer, err := e.Run(context.Background(),
					&runtime.Request{Plan: plan, Facts: db, Resident: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range answer.Pending {
					k.Release()
				}
			} else {
				check(t, "with another record", e, plan, db)
			}
			if !record.Differs() || record.Numbers() != nil {
				t.Error("the record is still replayed")
			}
			waits(t, e, plan, db)
			if len(e.keeps) != 0 {
				t.Errorf("%d results that nobody has stay on the device", len(e.keeps))
			}
			if err := d.Check(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReplayOfOtherFacts has each of several facts have a record of its own.
func TestReplayOfOtherFacts(t *testing.T) {
	prog, plan := enginetest.PlanOf(t, spread)
	e, _ := card{small: true}.open(t)
	var dbs []*store.Database
	for _, n := range []int64{3, 30} {
		db, err := enginetest.Database(prog, apart(n))
		if err != nil {
			t.Fatal(err)
		}
		dbs = append(dbs, db)
	}
	last := int64(0)
	for range 3 {
		last = 0
		for _, db := range dbs {
			last += waits(t, e, plan, db)
		}
	}
	if last > 2 {
		t.Errorf("%d waits of the last runs", last)
	}
}

// TestReplayOfNow has a program whose tuples depend on the time leave nothing
// behind.
func TestReplayOfNow(t *testing.T) {
	plan, db := enginetest.Stored(t,
		"r(x) -> int(x).\nlate(x) <- r(x), datetime:now[] > #2000-01-01#.\n",
		oracle.Facts{"r": {{scalar.OfInt(scalar.IntType, 1)}}})
	e, _ := card{small: true}.open(t)
	for range 3 {
		waits(t, e, plan, db)
	}
	if all := allBound(e); len(all) != 1 || all[0].record.Numbers() != nil {
		t.Errorf("%d records: %+v", len(all), all)
	}
}

// TestReplayCancelled has the context of runs that do not wait end at some call
// of the driver, with much work still in the stream.
func TestReplayCancelled(t *testing.T) {
	plan, db := enginetest.Stored(t, spread, apart(40))
	why := errors.New("enough")
	var left atomic.Int64
	var stop atomic.Pointer[context.CancelCauseFunc]
	e, d := card{small: true, Options: emulated.Options{Seed: 11, OnCall: func(string) {
		if left.Add(-1) == 0 {
			(*stop.Load())(why)
		}
	}}}.open(t)
	waits(t, e, plan, db)
	if n := waits(t, e, plan, db); n > 1 {
		t.Fatalf("%d waits", n)
	}
	before := d.Calls()
	check(t, "counted", e, plan, db)
	calls := int64(0)
	for call, n := range d.Calls() {
		calls += int64(n - before[call])
	}
	for n := int64(2); n < calls; n += calls / 7 {
		ctx, cancel := context.WithCancelCause(context.Background())
		stop.Store(&cancel)
		left.Store(n)
		if _, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db}); err != nil && err != why {
			t.Errorf("cancelled at call %d of %d: %v", n, calls, err)
		}
		left.Store(0)
		check(t, "after it", e, plan, db)
	}
	if allBound(e)[0].record.Differs() {
		t.Error("a run that was cancelled is taken to have had other numbers")
	}
}
