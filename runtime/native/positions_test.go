package native

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestPositions numbers the tuples of sets of every form, with small and large
// tiles, with kernels fused and apart.
func TestPositions(t *testing.T) {
	engines := []*engine{newEngine(t, 1024, false), newEngine(t, 32, false), newEngine(t, 32, true)}
	enginetest.Positions(t, func(plan *queryplan.Plan, db *store.Database) {
		for _, e := range engines {
			enginetest.Compare(t, "cpu", e, runtime.Request{Plan: plan, Facts: db, Threads: 3})
		}
	})
}

// TestRandomPositions runs random programs that find their derived tuples by
// positions.
func TestRandomPositions(t *testing.T) {
	small := newEngine(t, 32, false)
	enginetest.RandomPrograms(t, *firstSeed, *seedCount/3,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			enginetest.Compare(t, text, small,
				runtime.Request{Plan: planref.ThroughPositions(plan), Facts: db, Threads: 3})
		})
}
