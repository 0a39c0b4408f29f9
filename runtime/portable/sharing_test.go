package portable_test

import (
	"flag"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
)

var (
	sharingSeed = flag.Uint64("sharing.seed", 5_500_000, "first seed of TestSharedNodes")
	sharingMost = flag.Uint64("sharing.programs", 150, "number of its random programs")
)

// TestSharedNodes runs plans in which what is equal is one operator or one
// expression, and the same plans with nothing at two places.
func TestSharedNodes(t *testing.T) {
	e := portable.New()
	compare := func(t *testing.T, text string, plan *queryplan.Plan, db *store.Database) {
		plan = enginetest.Together(plan)
		for _, threads := range []int{1, 3} {
			enginetest.Compare(t, text, e, runtime.Request{Plan: plan, Facts: db, Threads: threads})
		}
	}
	enginetest.Programs(t, "../../testdata/programs",
		func(t *testing.T, plan *queryplan.Plan, db *store.Database) {
			compare(t, "whole program", plan, db)
		})
	enginetest.RandomPrograms(t, *sharingSeed, *sharingMost, func(t *testing.T, _ uint64,
		text string, plan *queryplan.Plan, db *store.Database) {
		compare(t, text, plan, db)
	})
}
