package tiers

import (
	"context"
	"flag"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

// small divides every plan, with a segment for almost every piece.
var small = Sizes{Commands: 1, Rows: 3, Segment: 3, Loop: 1}

// named is the go engine by another name.
type named struct{ runtime.Engine }

func (named) Name() string { return runtime.CPU }

// checked runs plans that are verified first, and counts them.
type checked struct {
	runtime.Engine
	t    *testing.T
	runs *int
}

func (c checked) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	*c.runs++
	if err := queryplan.Verify(req.Plan); err != nil {
		c.t.Errorf("%v in\n%s", err, req.Plan)
	}
	return c.Engine.Run(ctx, req)
}

// eager reports the progress of every loop before it runs.
type eager struct{ runtime.Engine }

func (e eager) Run(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if req.Progress != nil {
		for _, b := range req.Plan.Blocks {
			req.Progress(runtime.Progress{Block: b.Name, Total: small.Loop})
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return e.Engine.Run(ctx, req)
}

// TestHotLoops starts every loop again as native code.
func TestHotLoops(t *testing.T) {
	stopped := 0
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			e := New(eager{portable.New()}, named{portable.New()},
				Sizes{Commands: 1, Rows: 1 << 20, Segment: 1 << 20, Loop: small.Loop})
			req := runtime.Request{Plan: plan, Facts: db, Threads: 1}
			enginetest.Compare(t, text, e, req)
			answer, err := e.Run(context.Background(), &req)
			if err != nil {
				return
			}
			again := false
			for _, s := range answer.Segments {
				if again = again || s.Dropped; s.Dropped {
					stopped++
				}
			}
			if again && answer.Segments[len(answer.Segments)-1].Dropped {
				t.Error("nothing runs behind a segment that was stopped")
			}
		})
	if stopped == 0 {
		t.Error("no loop was stopped")
	}
}

// compare runs a plan in segments and whole.
func compare(t *testing.T, name string, plan *queryplan.Plan, db *store.Database) (runs int) {
	t.Helper()
	plain := checked{portable.New(), t, &runs}
	native := checked{named{portable.New()}, t, &runs}
	enginetest.Compare(t, name, New(plain, native, small),
		runtime.Request{Plan: plan, Facts: db, Threads: 2, MaxViolations: 5})
	return runs
}

// TestPrograms runs every whole program in segments of a few pieces.
func TestPrograms(t *testing.T) {
	programs, divided := 0, 0
	enginetest.Programs(t, "../../testdata/programs",
		func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
			programs++
			if compare(t, "in segments", plan, db) > 1 {
				divided++
			}
		})
	if divided < programs/4 {
		t.Errorf("only %d of %d programs have several segments", divided, programs)
	}
}

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 100, "number of random programs")
)

// TestRandomPrograms runs random programs in segments.
func TestRandomPrograms(t *testing.T) {
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			compare(t, text, plan, db)
		})
}

// TestPieces runs each piece of random programs alone.
func TestPieces(t *testing.T) {
	enginetest.RandomPrograms(t, *firstSeed, *seedCount,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			pieces := len(segments.Cut(plan).Pieces)
			runs := 0
			e := New(checked{portable.New(), t, &runs}, checked{named{portable.New()}, t, &runs},
				small)
			e.next = func(_ *run, from int) (until int, native bool) { return from + 1, true }
			enginetest.Compare(t, text, e, runtime.Request{Plan: plan, Facts: db, Threads: 1})
			if runs > pieces {
				t.Errorf("%d pieces take %d runs", pieces, runs)
			}
		})
}
