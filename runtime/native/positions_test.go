package native

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
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
