package gpu

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// columnsOf returns the columns of facts.
func columnsOf(db *store.Database) (out []*store.Column) {
	for _, rel := range db.Relations() {
		out = append(out, rel.Columns()...)
	}
	return out
}

// TestPrefetch has columns on the device before a run that then copies none.
func TestPrefetch(t *testing.T) {
	ctx := context.Background()
	plan, db := enginetest.Stored(t, enginetest.Closure, enginetest.Line(300))
	for seed := range uint64(5) {
		e, _ := card{small: true, Options: emulated.Options{Seed: seed}}.open(t)
		var spans atomic.Int64
		for range 2 { // the second time there is nothing to do
			for _, c := range columnsOf(db) {
				if err := e.Prefetch(ctx, "edge", c, false, func(runtime.Span) {
					spans.Add(1)
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := int64(len(columnsOf(db))); spans.Load() != n {
			t.Errorf("%d copies of %d columns", spans.Load(), n)
		}
		held := e.Use()
		answer, err := e.Run(ctx, &runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		if p := answer.Device; p.Resident == 0 || e.Use().Resident < held.Resident ||
			held.Resident == 0 {
			t.Errorf("of %+v a run finds %d bytes", held, p.Resident)
		}
		check(t, "after it", e, plan, db)
		for _, c := range columnsOf(db) {
			e.Drop(c)
		}
		if use := e.Use(); use.Resident != 0 || use.Held != 0 {
			t.Errorf("nothing is wanted, and the engine holds %+v", use)
		}
	}
}

// TestPrefetchRoom has a column that there is no room for but in the place of
// another.
func TestPrefetchRoom(t *testing.T) {
	ctx := context.Background()
	_, db := enginetest.Stored(t, enginetest.Closure, apart(3000))
	cols := columnsOf(db)
	e, _ := card{limit: cols[0].Bytes() + 1<<10}.open(t)
	for _, c := range cols[:2] {
		if err := e.Prefetch(ctx, "edge", c, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	first, second := e.resident.Has(cols[0]), e.resident.Has(cols[1])
	if !first || second || e.Use().Held != e.Use().Resident {
		t.Errorf("the columns are there: %t and %t; %+v", first, second, e.Use())
	}
	// A driver without so much memory is another reason.
	e, d := card{}.open(t)
	d.Inject(emulated.Fault{Calls: []string{"cuMemAllocFromPoolAsync", "cuMemAlloc"}, Times: 1,
		Code: emulated.OutOfMemory})
	if err := e.Prefetch(ctx, "edge", cols[0], false, nil); err != nil || !d.Heal() || e.Use().Held != 0 {
		t.Errorf("%v, %+v", err, e.Use())
	}
}

// TestPrefetchFails has it cancelled, and its calls fail. Nothing stays behind,
// and what comes next works.
func TestPrefetchFails(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(500))
	col := columnsOf(db)[0]
	for _, call := range []string{"cuEventCreate", "cuMemcpyHtoDAsync", "cuEventRecord"} {
		e, d := card{small: true}.open(t)
		d.Inject(emulated.Fault{Calls: []string{call}, Times: 1, Code: emulated.InvalidValue})
		if err := e.Prefetch(context.Background(), "edge", col, false, nil); err == nil || !d.Heal() ||
			e.Use().Held != 0 {
			t.Errorf("%s: %v, %+v", call, err, e.Use())
		}
		check(t, "after it", e, plan, db)

		e, d = card{small: true}.open(t)
		d.Inject(emulated.Fault{Calls: []string{call}, Times: 1, Code: emulated.LaunchFailed})
		err := e.Prefetch(context.Background(), "edge", col, false, nil)
		d.Heal()
		if !errors.Is(err, cuda.ErrLost) || !e.Lost() {
			t.Errorf("a lost device, %s: %v", call, err)
		}
	}
	e, _ := card{small: true}.open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = e.Prefetch(ctx, "edge", col, false, nil) // small columns are sent at once
	check(t, "after it", e, plan, db)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Prefetch(context.Background(), "edge", col, false, nil); !errors.Is(err, errClosed) {
		t.Errorf("a closed engine: %v", err)
	}
}

// TestCopiesBesideCompiling has code that is not made before the facts are on
// the device.
func TestCopiesBesideCompiling(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(500))
	e, _ := card{small: true}.open(t)
	compile := e.opts.Compile
	e.opts.Compile = func(p *harmony.Program, k woven.Knowledge, early func(string)) (*Code,
		error) {
		await.Until(t, "a column on the device", func() bool { return e.Use().Resident > 0 })
		return compile(p, k, early)
	}
	answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
	if err != nil {
		t.Fatal(err)
	}
	if p := answer.Device; p.Ahead < columnsOf(db)[0].Bytes() || p.Resident != 0 {
		t.Errorf("%d bytes were sent ahead, and %d were there", p.Ahead, p.Resident)
	}
}
