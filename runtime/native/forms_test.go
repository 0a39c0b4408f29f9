package native

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestForms has tables of every form, small and grown.
func TestForms(t *testing.T) {
	short.Skip(t, "tables of every form on the cpu engine")
	engines := []*engine{newEngine(t, 1024, false), newEngine(t, 32, true)}
	enginetest.Forms(t, func(_ int64, _ int, plan *queryplan.Plan, db *store.Database) {
		for i, e := range engines {
			enginetest.Compare(t, "spread and rows", e,
				runtime.Request{Plan: plan, Facts: db, Threads: 1 + 2*i})
		}
	})
}
