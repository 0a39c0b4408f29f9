package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestPositions numbers the tuples of sets of every form. The second run of a
// plan repeats the first.
func TestPositions(t *testing.T) {
	for _, c := range cards {
		t.Run(c.name, func(t *testing.T) {
			e, d := c.open(t)
			enginetest.Positions(t, func(plan *queryplan.Plan, db *store.Database) {
				req := runtime.Request{Plan: plan, Facts: db}
				for _, run := range []string{"first run", "second run"} {
					enginetest.Compare(t, c.name+", "+run, e, req)
					if err := d.Check(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// TestRandomPositions runs random programs that find their derived tuples by
// positions.
func TestRandomPositions(t *testing.T) {
	e, _ := cards[len(cards)-1].open(t)
	enginetest.RandomPrograms(t, *firstSeed, *seedCount/3,
		func(t *testing.T, _ uint64, text string, plan *queryplan.Plan, db *store.Database) {
			enginetest.Compare(t, text, e,
				runtime.Request{Plan: planref.ThroughPositions(plan), Facts: db})
		})
}
